r"""Formulas found by their nodes: Eq. 4 for each representation, then fused.

.. math::
    S = \sum_{i \in \{1, \ldots, |E_Q|\}} \max_{j \in \{1, \ldots, |E_C|\}}
        E_{Q_i} \cdot E_{C_j}^T \quad (4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.systems.base import Collection, Query, name_formulas
from mathamr_kedro.systems.formula_rgcn.config import (
    Config,
    Fusion,
    Kind,
)
from mathamr_kedro.systems.formula_rgcn.encoder import NodeEncoders
from mathamr_kedro.systems.formula_rgcn.explanation import NodeMatches
from mathamr_kedro.systems.formula_rgcn.fusion import fuse_scores
from mathamr_kedro.systems.formula_rgcn.node_index import NodeIndexes
from mathamr_kedro.vectors import EXACT, SearchMode, Vectors

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTrees

NAME = "formula_rgcn"


class NodeSearch:
    """Both indexes, and the networks that encode what is asked."""

    def __init__(
        self, sources: Collection, config: Config, model: Path, folder: Path
    ) -> None:
        self.config, self.kinds = config, config.model.kinds
        self._sources = sources
        self._encoders = NodeEncoders.load(config.model, model)
        self._indexes = NodeIndexes(config.search, folder)

    def list_rankers(self) -> dict[str, NodeRanker]:
        """Return the rankers by name; the system's own comes first."""
        if len(self.kinds) == 1:
            return {NAME: NodeRanker(self, self.kinds[0])}
        search = self.config.search
        return {NAME: NodeRanker(self, search.fusion)} | {
            f"{NAME}/{way}": NodeRanker(self, way) for way in search.parts
        }

    @property
    def formulas(self) -> dict[FormulaId, FormulaInstance]:
        """What can be found."""
        return self._indexes.formulas

    @property
    def _mode(self) -> SearchMode:
        search = self.config.search
        if search.engine == "exact":
            return EXACT
        return SearchMode(False, search.neighbours, walks="per_vector")

    def rank(self, kind: Kind, topics: Sequence[Query], depth: int) -> list[Hits]:
        """Return what one representation finds; scores are those of Eq. 4.

        Where ``normalise`` is set, they are divided by the number of query nodes.
        """
        return self._search(kind, self._encode(kind, topics), depth)

    def fuse(self, fusion: Fusion, topics: Sequence[Query], depth: int) -> list[Hits]:
        """Return what both representations find together."""
        search = self.config.search
        wide = max(depth, search.candidates)
        queries = {kind: self._encode(kind, topics) for kind in self.kinds}
        lists = [self._search(kind, queries[kind], wide) for kind in self.kinds]
        scores = [[dict(hits) for hits in found] for found in lists]
        if fusion != "rrf":
            united = [
                list(dict.fromkeys(name for hits in found for name in hits.ids))
                for found in zip(*lists, strict=True)
            ]
            for kind, known in zip(self.kinds, scores, strict=True):
                self._complete(kind, queries[kind], united, known)
        ranked = [[hits.ids for hits in found] for found in lists]
        return [
            fuse_scores(of_topic, ids, fusion, search.rrf_k).top(depth)
            for of_topic, ids in zip(
                zip(*scores, strict=True), zip(*ranked, strict=True), strict=True
            )
        ]

    def explain(self, topic: Query, formula_id: FormulaId) -> list[NodeMatches]:
        """Return which node of a query matched which node of a formula.

        Args:
            topic: asks for a formula.
            formula_id: of what was found; of a post, the formula of it that is found
                first is taken.

        Raises:
            MissingInputError: there is no such formula.
        """
        found = self.formulas.get(formula_id)
        formulas = [f for f in self.formulas.values() if f.post_id == formula_id]
        if found is None and not formulas:
            raise MissingInputError(
                f"Expected {formula_id!r} to be a formula, or a post with formulas, in "
                f"the index of {NAME}; one instance of each visual id stands there: "
                "take an id from its results"
            )
        query = topic.trees
        compared = [self._compare(query, f) for f in ([found] if found else formulas)]
        return max(compared, key=lambda every: sum(m.mean for m in every))

    def _compare(
        self, query: FormulaTrees | None, formula: FormulaInstance
    ) -> list[NodeMatches]:
        other = self._sources.trees_of(formula)
        found = []
        for kind in self.kinds:
            encoder = self._encoders[kind]
            mine, theirs = encoder.pick(query), encoder.pick(other)
            if mine is not None and theirs is not None:
                vectors = encoder.encode([mine, theirs])
                found.append(NodeMatches.align(kind, (mine, theirs), vectors))
        return found

    def _encode(self, kind: Kind, topics: Sequence[Query]) -> list[Vectors | None]:
        """Return the vectors of queries; ``None``: there is no such tree."""
        encoder = self._encoders[kind]
        trees = [encoder.pick(topic.trees) for topic in topics]
        vectors = iter(encoder.encode([tree for tree in trees if tree is not None]))
        return [None if tree is None else next(vectors) for tree in trees]

    def _search(
        self, kind: Kind, queries: Sequence[Vectors | None], depth: int
    ) -> list[Hits]:
        asked = [query for query in queries if query is not None]
        index = self._indexes.open(kind)[1]
        found = iter(index.search_maxsim(asked, depth, self._mode) if asked else [])
        return [
            Hits([], np.zeros(0)) if query is None else self._scale(next(found), query)
            for query in queries
        ]

    def _complete(
        self,
        kind: Kind,
        queries: Sequence[Vectors | None],
        united: Sequence[Sequence[FormulaId]],
        known: Sequence[dict[FormulaId, float]],
    ) -> None:
        """Add the scores of what the other representation alone has found."""
        store, index = self._indexes.open(kind)
        for query, names, scores in zip(queries, united, known, strict=True):
            missing = [n for n in names if n not in scores and n in store.places]
            if query is not None and missing:
                (hits,) = index.rerank([query], [missing])
                scores.update(self._scale(hits, query))

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

    def __call__(self, topics: Sequence[Query], depth: int) -> list[FormulaHits]:
        """Return the best formulas for each topic."""
        if self.way in ("slg", "opg"):
            hits = self.search.rank(self.way, topics, depth)
        else:
            hits = self.search.fuse(self.way, topics, depth)  # type: ignore[arg-type]
        return [name_formulas(h, self.search.formulas) for h in hits]

    def explain(self, topic: Query, formula_id: FormulaId) -> list[NodeMatches]:
        """Return which nodes matched, by representation."""
        found = self.search.explain(topic, formula_id)
        alone = self.way in ("slg", "opg")
        return [matches for matches in found if not alone or matches.kind == self.way]
