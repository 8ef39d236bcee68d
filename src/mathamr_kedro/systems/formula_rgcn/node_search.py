r"""Formulas found by their nodes: Eq. 4 for each representation, then fused.

.. math::
    S = \sum_{i \in \{1, \ldots, |E_Q|\}} \max_{j \in \{1, \ldots, |E_C|\}}
        E_{Q_i} \cdot E_{C_j}^T \quad (4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.records import FormulaInstance, Topic
from mathamr_kedro.search import EXACT, SearchMode, VectorIndex, VectorStore
from mathamr_kedro.systems.formula_rgcn.config import (
    Config,
    Fusion,
    Kind,
)
from mathamr_kedro.systems.formula_rgcn.explanation import NodeMatches
from mathamr_kedro.systems.formula_rgcn.fusion import fuse_scores
from mathamr_kedro.systems.formula_rgcn.node_index import (
    encode_trees,
    open_nodes,
    pick_tree,
    read_formulas,
)
from mathamr_kedro.systems.formula_rgcn.trainer import load_encoders
from mathamr_kedro.systems.protocol import SystemSources
from mathamr_kedro.systems.queries import find_query_formula, name_formulas
from mathamr_kedro.types import FormulaId

if TYPE_CHECKING:
    from mathamr_kedro.search.post_vectors import Vectors

NAME = "formula_rgcn"


class NodeSearch:
    """Both indexes, and the networks that encode what is asked."""

    def __init__(
        self, sources: SystemSources, config: Config, model: Path, folder: Path
    ) -> None:
        self.config, self.kinds = config, config.model.kinds
        self._sources, self._folder = sources, folder
        self._encoders = load_encoders(config.model, model)

    @cached_property
    def formulas(self) -> dict[FormulaId, FormulaInstance]:
        """What can be found."""
        return read_formulas(self._folder)

    @cached_property
    def _opened(self) -> dict[Kind, tuple[VectorStore, VectorIndex]]:
        search = self.config.search
        return {kind: open_nodes(search, self._folder, kind) for kind in self.kinds}

    @property
    def _mode(self) -> SearchMode:
        search = self.config.search
        if search.engine == "exact":
            return EXACT
        return SearchMode(False, search.neighbours, walks="per_vector")

    def rank(self, kind: Kind, topics: Sequence[Topic], depth: int) -> list[Hits]:
        """Return what one representation finds; scores are those of Eq. 4.

        Where ``normalise`` is set, they are divided by the number of query nodes.
        """
        queries = [self._encode(kind, topic) for topic in topics]
        asked = [q for q in queries if q is not None]
        index = self._opened[kind][1]
        found = iter(index.search_maxsim(asked, depth, self._mode) if asked else [])
        return [
            Hits([], np.zeros(0)) if q is None else self._scale(next(found), q)
            for q in queries
        ]

    def fuse(self, fusion: Fusion, topics: Sequence[Topic], depth: int) -> list[Hits]:
        """Return what both representations find together."""
        search = self.config.search
        wide = max(depth, search.candidates)
        lists = [self.rank(kind, topics, wide) for kind in self.kinds]
        found = []
        for topic, *hits in zip(topics, *lists, strict=True):
            scores = [dict(h) for h in hits]
            if fusion != "rrf":
                names = list(dict.fromkeys(name for h in hits for name in h.ids))
                for kind, known in zip(self.kinds, scores, strict=True):
                    known |= self._complete(kind, topic, names, known)
            ranked = [h.ids for h in hits]
            found.append(fuse_scores(scores, ranked, fusion, search.rrf_k).top(depth))
        return found

    def explain(self, topic: Topic, formula_id: FormulaId) -> list[NodeMatches]:
        """Return which node of a query matched which node of a formula.

        Raises:
            MissingInputError: there is no such formula.
        """
        formula = self.formulas.get(formula_id)
        if formula is None:
            raise MissingInputError(
                f"Expected formula {formula_id!r} in the index of {NAME}; one instance "
                "of each visual id stands there: take an id from its results"
            )
        query = self._sources.trees_of(find_query_formula(topic))
        other = self._sources.trees_of(formula)
        found = []
        for kind in self.kinds:
            mine, theirs = pick_tree(query, kind), pick_tree(other, kind)
            if mine is not None and theirs is not None:
                vectors = encode_trees(self._encoders[kind], [mine, theirs])
                found.append(NodeMatches.align(kind, mine, theirs, *vectors))
        return found

    def _encode(self, kind: Kind, topic: Topic) -> Vectors | None:
        tree = pick_tree(self._sources.trees_of(find_query_formula(topic)), kind)
        return None if tree is None else encode_trees(self._encoders[kind], [tree])[0]

    def _complete(
        self,
        kind: Kind,
        topic: Topic,
        names: Sequence[FormulaId],
        known: Mapping[FormulaId, float],
    ) -> dict[FormulaId, float]:
        """Return the scores of what the other representation alone has found."""
        store, index = self._opened[kind]
        missing = [n for n in names if n not in known and n in store.places]
        query = self._encode(kind, topic) if missing else None
        if query is None:
            return {}
        (hits,) = index.rerank([query], [missing])
        return dict(self._scale(hits, query))

    def _scale(self, hits: Hits, query: Vectors) -> Hits:
        """Return scores as sums; engines return means over the query's vectors."""
        if self.config.search.normalise:
            return hits
        return Hits(hits.ids, hits.scores * len(query))


@dataclass(frozen=True)
class NodeRanker:
    """Ranks formulas in one way; a ranker of :class:`PaperSystem`."""

    search: NodeSearch
    way: Kind | Fusion

    def __call__(self, topics: Sequence[Topic], depth: int) -> list[FormulaHits]:
        """Return the best formulas for each topic."""
        if self.way in ("slg", "opg"):
            hits = self.search.rank(self.way, topics, depth)  # type: ignore[arg-type]
        else:
            hits = self.search.fuse(self.way, topics, depth)  # type: ignore[arg-type]
        return [name_formulas(h, self.search.formulas) for h in hits]

    def explain(self, topic: Topic, formula_id: FormulaId) -> list[NodeMatches]:
        """Return which nodes matched, by representation."""
        found = self.search.explain(topic, formula_id)
        return [
            m for m in found if self.way not in ("slg", "opg") or m.kind == self.way
        ]


def open_rankers(
    sources: SystemSources, config: Config, model: Path, folder: Path
) -> dict[str, NodeRanker]:
    """Return the rankers by name; the system's own comes first."""
    search = NodeSearch(sources, config, model, folder)
    if len(search.kinds) == 1:
        return {NAME: NodeRanker(search, search.kinds[0])}
    first, others = config.search.fusion, config.search.fusions
    ways: list[Kind | Fusion] = [*search.kinds, *dict.fromkeys((first, *others))]
    return {NAME: NodeRanker(search, first)} | {
        f"{NAME}/{way}": NodeRanker(search, way) for way in ways if way != first
    }
