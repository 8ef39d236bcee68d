"""Retrieval measures as ARQMath and NTCIR-12 use them, and diagnostics of runs.

```
trec ──► Run, Qrels, VisualIds
              │
          evaluation ──► Evaluation (scores, floor, ceiling, findings)
              ├─ protocols     rules of a task: grades, measures, depth
              ├─ rankings      ties, repeats, depth, visual ids
              ├─ measures      nDCG', MAP', P'@k, Bpref, ...
              └─ diagnostics   ties, unknown ids, wrong id space, ...
```

>>> from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
>>> from mathamr_kedro.trec import Qrels, Run
>>> qrels = Qrels({"A.1": {"17": 3, "4": 0}, "A.2": {"9": 2}})
>>> run = Run.from_scores("mine", {"A.1": {"4": 0.9, "17": 0.8, "5": 0.7}})
>>> round(evaluate_run(run, qrels, protocol_of("1")).mean("nDCG'"), 4)  # A.2 counts 0
0.3155
"""

from mathamr_kedro.evaluation.metrics.evaluation import (
    Evaluation,
    Group,
    Summary,
    evaluate_run,
)
from mathamr_kedro.evaluation.metrics.measures import Measure
from mathamr_kedro.evaluation.metrics.protocols import Averaging, Protocol, protocol_of
from mathamr_kedro.evaluation.metrics.rankings import count_ties, sort_as_trec_eval

__all__ = [
    "Averaging",
    "Evaluation",
    "Group",
    "Measure",
    "Protocol",
    "Summary",
    "count_ties",
    "evaluate_run",
    "protocol_of",
    "sort_as_trec_eval",
]
