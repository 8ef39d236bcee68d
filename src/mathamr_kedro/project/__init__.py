"""The project around its stages: what knows Kedro beside pipelines and datasets.

::

    loader   stacked environments of conf/
    catalog  the catalog of an environment, from outside a session; the last run
    checks   the parameters of all stages
    hooks    what happens around the nodes of a run
    run_times  seconds of streaming nodes, for Kedro-Viz
    hints    errors as one line, with commands that can be typed
    summary  what a run made, and what to do next
    search   the search of an environment, opened once for many queries
    sync     an index and its folder
    cells    evaluations as Kedro runs, one for each cell of an experiment
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.project.catalog import (
        LastRun,
        list_versions,
        open_catalog,
        read_report,
    )
    from mathamr_kedro.project.search import open_search, open_updatable_index

__all__ = [
    "LastRun",
    "list_versions",
    "open_catalog",
    "open_search",
    "open_updatable_index",
    "read_report",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
