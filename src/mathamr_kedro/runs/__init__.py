"""Runs of systems: topics in, ranked lists out.

```
topic_runs     a system asked for all topics: batches, time  ──┐
given_runs     run files of others; names of NTCIR-12          ├─► Run (trec)
fusions        several runs fused into one, with given or      │     │
               cross-validated weights                       ──┘     │
topic_sets     topics with their judgments, edition by edition ──────┴─► metrics
benchmark_folder  all of it in the form of BEIR, for other people's tools
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.runs.benchmark_folder import BenchmarkFolder
    from mathamr_kedro.runs.fusions import add_fusions, fuse_by_folds
    from mathamr_kedro.runs.given_runs import name_judged_formulas, read_given_runs
    from mathamr_kedro.runs.topic_runs import (
        find_blank_queries,
        list_unsearched,
        read_queries,
        run_system,
    )
    from mathamr_kedro.runs.topic_sets import TASKS, TopicSet, list_topic_sets

__all__ = [
    "TASKS",
    "BenchmarkFolder",
    "TopicSet",
    "add_fusions",
    "find_blank_queries",
    "fuse_by_folds",
    "list_topic_sets",
    "list_unsearched",
    "name_judged_formulas",
    "read_given_runs",
    "read_queries",
    "run_system",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
