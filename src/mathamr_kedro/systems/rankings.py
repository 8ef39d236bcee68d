"""Named rankings: what people ask, what evaluation runs, what fusions are made of.

::

    with_question            a strategy of MathAMR+
    bm25, minilm_title ...   systems with one ranking
    marf, marf/context       a system of a paper, and a part of it
    mathamr_plus+bm25        a fusion of such rankings
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mathamr_kedro.systems.base import Index, PostTypes
from mathamr_kedro.systems.found import Found
from mathamr_kedro.systems.query import Query, Target


@dataclass(frozen=True)
class Ranking:
    """One way to rank, by name."""

    name: str
    """In tables, run files and searches."""
    kind: str
    """What it is, for people: strategy, system, baseline, fusion."""
    finds: frozenset[Target]
    open: Callable[[], Index]
    """Gives the index, opened once for all its rankings."""
    depth: int = 1000
    """How many it returns at least: as many as evaluation asks for, so that a search
    gives the list that evaluation writes."""

    def find(
        self, query: Query, types: PostTypes = None, depth: int = 0, top: int = 0
    ) -> Found:
        """Return what it finds for one query.

        Args:
            query: what is asked.
            types: types of post; those of the system if empty.
            depth: results that scores are mixed from, if more than usual.
            top: results that are wanted, if more than usual.
        """
        index = self.open()
        mixed = index.find_depth(self.name)
        wanted = max(depth, mixed) if mixed else max(depth, self.depth, top)
        return index.find(query, wanted, self.name, types)
