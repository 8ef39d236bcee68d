"""Files of test collections: one reader for each format, and their contents in memory.

```
files         plain or gzip, NFC names; lines of columns ─────────────┐
runs          run files, three formats ──► Run                        │ used by corpus,
qrels         ──► Judgment, Qrels                                     │ metrics and runs
tables        TSV with a header ──► VisualIds, notes about topics ────┘
```

>>> from mathamr_kedro.trec import Run
>>> Run.from_scores("mine", {"A.1": {"4": 0.9, "17": 0.8}}).documents("A.1").ids
['4', '17']
"""

from mathamr_kedro.trec.files import (
    BadLines,
    open_binary,
    open_to_replace,
    read_text,
    refuse_damaged_gzip,
)
from mathamr_kedro.trec.qrels import (
    ARQMATH,
    NTCIR12,
    TREC,
    GradeScale,
    Qrels,
    iter_judgments,
    read_qrels,
)
from mathamr_kedro.trec.runs import RUN_FORMS, Run, RunForm, read_run, write_run
from mathamr_kedro.trec.tables import (
    DIMENSIONS,
    TopicNotes,
    VisualIds,
    read_table,
    read_topic_notes,
)

__all__ = [
    "ARQMATH",
    "DIMENSIONS",
    "NTCIR12",
    "RUN_FORMS",
    "TREC",
    "BadLines",
    "GradeScale",
    "Qrels",
    "Run",
    "RunForm",
    "TopicNotes",
    "VisualIds",
    "iter_judgments",
    "open_binary",
    "open_to_replace",
    "read_qrels",
    "read_run",
    "read_table",
    "read_text",
    "read_topic_notes",
    "refuse_damaged_gzip",
    "write_run",
]
