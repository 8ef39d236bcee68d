"""Retrieval measures as ARQMath and NTCIR-12 use them, and what is odd about a run.

```
qrels_files ──► Qrels ─┐
run_files ────► Run ───┼─► evaluation ──► Evaluation (scores, floor, ceiling, findings)
visual_ids ─► VisualIds┘       │
                               ├─ rankings      ties, repeats, depth, visual ids
                               ├─ measures      nDCG', MAP', P'@k, Bpref, ...
                               └─ diagnostics   ties, unknown ids, wrong id space, ...
```

>>> from mathamr_kedro.metrics import Qrels, evaluate_run, make_run, protocol_of
>>> qrels = Qrels({"A.1": {"17": 3, "4": 0}, "A.2": {"9": 2}})
>>> run = make_run("mine", {"A.1": {"4": 0.9, "17": 0.8, "5": 0.7}})
>>> round(evaluate_run(run, qrels, protocol_of("1")).mean("nDCG'"), 4)  # A.2 counts 0
0.3155
"""

from mathamr_kedro.metrics.evaluation import Evaluation, evaluate_run
from mathamr_kedro.metrics.measures import Measure, parse_measure
from mathamr_kedro.metrics.protocols import Protocol, protocol_of
from mathamr_kedro.metrics.qrels_files import read_qrels, write_qrels
from mathamr_kedro.metrics.run_files import read_run, write_run
from mathamr_kedro.metrics.runs import Qrels, Run, make_run
from mathamr_kedro.metrics.visual_ids import read_visual_ids

__all__ = [
    "Evaluation",
    "Measure",
    "Protocol",
    "Qrels",
    "Run",
    "evaluate_run",
    "make_run",
    "parse_measure",
    "protocol_of",
    "read_qrels",
    "read_run",
    "read_visual_ids",
    "write_qrels",
    "write_run",
]
