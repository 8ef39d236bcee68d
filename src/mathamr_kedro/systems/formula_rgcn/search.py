r"""Formulas found by their nodes: Eq. 4 for each representation, then fused.

.. math::
    S = \sum_{i \in \{1, \ldots, |E_Q|\}} \max_{j \in \{1, \ldots, |E_C|\}}
        E_{Q_i} \cdot E_{C_j}^T \quad (4)

With :math:`a` and :math:`b` the scores of a formula by both representations, and
:math:`r_a, r_b` its ranks (section 4 of the paper):

=======  ===========================================================
``max``  :math:`\max(a, b)`
``avg``  :math:`(a + b) / 2`
``f1``   :math:`2 a b / (a + b)`; 0 unless both are above 0
``rrf``  :math:`1 / (k + r_a) + 1 / (k + r_b)` (Cormack et al. 2009)
=======  ===========================================================

::

    index/
      formulas.arrays   one instance of each visual id
      slg.f16 ...       vectors of the nodes of each, empty without a tree
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors, scale_to_length_one
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.formula import FormulaTree, draw_svg, draw_text
from mathamr_kedro.formula.node import list_links
from mathamr_kedro.systems.base import Collection, Rankings, choose_instances
from mathamr_kedro.systems.formula_rgcn.config import FormulaRgcnConfig, Fusion
from mathamr_kedro.systems.formula_rgcn.forest import KINDS, Kind
from mathamr_kedro.systems.formula_rgcn.network import NodeEncoder, load_encoders
from mathamr_kedro.systems.formula_table import FormulaTable, choose_tree
from mathamr_kedro.systems.query import Query
from mathamr_kedro.systems.vector_rows import VectorRows, VectorWriter, take_batches

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTrees

NAME = "formula_rgcn"
_FORMULAS = "formulas.arrays"
_CANDIDATES = 1000
"""Formulas of each representation whose scores are fused."""
_RRF_K = 60
_AT_ONCE = 4096
"""Formulas that are encoded at once."""

_Vectors: TypeAlias = NDArray[Any]

_TREES: Mapping[Kind, Literal["slt", "opt"]] = {"slg": "slt", "opg": "opt"}
_NAMES = {"slg": "Symbol Layout Tree", "opg": "Operator Tree"}


def build_index(
    config: FormulaRgcnConfig, sources: Collection, model: Path, folder: Path
) -> dict[str, Any]:
    """Encode one instance of each visual id; return counts and ``bytes``."""
    encoders = load_encoders(config.model, model)
    formulas = list(choose_instances(sources.formulas()).values())
    size = FormulaTable.write(folder / _FORMULAS, formulas)
    kinds = config.model.kinds
    counts = {"formulas": len(formulas), **{f"{kind}_nodes": 0 for kind in kinds}}
    writers = {kind: VectorWriter(folder / kind) for kind in kinds}
    title = f"formulas indexed by {NAME}"
    stream = report_progress(formulas, title, total=len(formulas))
    for some in take_batches(stream, _AT_ONCE):
        trees = [sources.trees_of(formula) for formula in some]
        for kind in kinds:
            found = _encode(encoders[kind], kind, trees)
            rows = [scale_to_length_one(vectors, np.float16) for vectors in found]
            counts[f"{kind}_nodes"] += sum(map(len, rows))
            writers[kind].add(RaggedVectors.of(rows))
    size += sum(writer.close() for writer in writers.values())
    return counts | {"bytes": size}


def _encode(
    encoder: NodeEncoder, kind: Kind, trees: Sequence[FormulaTrees | None]
) -> list[_Vectors]:
    """Return the vectors of the nodes of trees; none if there is no such tree."""
    chosen = [choose_tree(both, _TREES[kind]) for both in trees]
    vectors = iter(encoder.encode([tree for tree in chosen if tree is not None]))
    none = np.zeros((0, encoder.label_vectors.shape[1]), dtype=np.float32)
    return [none if tree is None else next(vectors) for tree in chosen]


class NodeSearch(Rankings):
    """Both indexes, and the networks that encode what is asked.

    Its rankings are the fusion of both representations, and other fusions and the
    single representations beside it; one if only one was trained.
    """

    def __init__(
        self, config: FormulaRgcnConfig, sources: Collection, model: Path, folder: Path
    ) -> None:
        self.config, self.kinds = config, config.model.kinds
        self._sources = sources
        self._encoders = load_encoders(config.model, model)
        self._table = FormulaTable(folder / _FORMULAS)
        self._spaces = {kind: VectorRows(folder / kind) for kind in self.kinds}
        self._ways: dict[str, Kind | Fusion] = {NAME: self.kinds[0]}
        if len(self.kinds) > 1:
            self._ways = {NAME: config.search.fusion}
            self._ways |= {f"{NAME}/{way}": way for way in config.search.parts}
        ways = self._ways.items()
        super().__init__({"formulas": {n: partial(self._search, w) for n, w in ways}})

    def _search(
        self, way: Kind | Fusion, topics: Sequence[Query], depth: int
    ) -> list[FormulaHits]:
        """Return what one representation finds, or both together."""
        kinds: Sequence[Kind] = (way,) if way in KINDS else self.kinds
        wide = depth if way in KINDS else max(depth, _CANDIDATES)
        trees = [topic.trees for topic in topics]
        queries, lists = [], []
        for kind in kinds:
            found = _encode(self._encoders[kind], kind, trees)
            # Rounded as the index is: a formula is nearest to itself.
            asked = [v.astype(np.float16).astype(np.float32) for v in found]
            queries.append(asked)
            lists.append(self._spaces[kind].find(asked, wide, self._table.ids))
        hits = []
        for of_topic, found_by in zip(
            zip(*queries, strict=True), zip(*lists, strict=True), strict=True
        ):
            if way in KINDS:
                ((rows, means),) = found_by
                scores = means * self._scale(of_topic[0])
            else:
                rows, scores = self._fuse(way, of_topic, [r for r, _ in found_by])
            hits.append(self._table.rank(rows, scores, depth))
        return hits

    def _fuse(
        self,
        fusion: Fusion | Kind,
        queries: Sequence[_Vectors],
        lists: Sequence[NDArray[np.int64]],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Fuse the lists of a topic; both representations score what either found."""
        rows = np.unique(np.concatenate(lists))
        if fusion == "rrf":
            total = np.zeros(len(rows))
            for found in lists:
                ranks = _RRF_K + np.arange(1, len(found) + 1)
                total[np.searchsorted(rows, found)] += 1.0 / ranks
            return rows, total
        table = np.stack(
            [
                self._spaces[kind].score(query, rows) * self._scale(query)
                for kind, query in zip(self.kinds, queries, strict=True)
            ]
        )
        if fusion == "max":
            return rows, table.max(0)
        if fusion == "avg":
            return rows, table.mean(0)
        inverse = 1.0 / np.where(table > 0, table, 1.0)
        harmonic = len(table) / inverse.sum(0)
        return rows, np.where((table > 0).all(0), harmonic, 0.0)

    def _scale(self, query: _Vectors) -> int:
        """Return what makes of a mean over the query's nodes the score."""
        return 1 if self.config.search.normalise else len(query)

    def explain_nodes(
        self, topic: Query, formula_id: FormulaId, ranking: str | None = None
    ) -> list[NodeMatches]:
        """Return which node of a query matched which node of a formula.

        Args:
            topic: asks for a formula.
            formula_id: of what was found; of a post, the formula of it that is found
                first is taken.
            ranking: a single representation; else those that were trained.
        """
        formulas = self._table.find(formula_id)
        if not formulas:
            raise MissingInputError(
                f"Expected {formula_id!r} to be a formula, or a post with formulas, in "
                f"the index of {NAME}; it has one instance of each visual id: take an "
                "id from its results"
            )
        compared = [self._compare(topic.trees, formula) for formula in formulas]
        best = max(compared, key=lambda every: sum(m.mean for m in every))
        way = self._ways[ranking or NAME]
        return [m for m in best if way not in KINDS or m.kind == way]

    def _compare(
        self, query: FormulaTrees | None, formula: FormulaInstance
    ) -> list[NodeMatches]:
        other = self._sources.trees_of(formula)
        found = []
        for kind in self.kinds:
            mine, theirs = (choose_tree(t, _TREES[kind]) for t in (query, other))
            if mine is not None and theirs is not None:
                vectors = self._encoders[kind].encode([mine, theirs])
                found.append(NodeMatches.align(kind, (mine, theirs), vectors))
        return found


open_index = NodeSearch


@dataclass(frozen=True)
class NodeMatches:
    """Which node of a query matched which node of a formula, drawn on both trees.

    ::

        query       U!plus ·1 0.97       found   U!minus ·1,4
                    ├─0─ V!x ·2 1.00             ├─0─ V!x ·2
                    ...                          ...

    Nodes of the query are numbered and show how near their partner is; a node of the
    found formula shows whose partner it is: the greedy alignment of Eq. 4.
    """

    kind: Kind
    query: FormulaTree
    found: FormulaTree
    partners: tuple[int, ...]
    """Of each query node: its best partner, a node of the found formula."""
    similarities: tuple[float, ...]
    """Their cosines, whose sum is the score."""

    @classmethod
    def align(
        cls,
        kind: Kind,
        trees: tuple[FormulaTree, FormulaTree],
        vectors: Sequence[NDArray[Any]],
    ) -> NodeMatches:
        """Match the nodes of a query and of a found formula by their vectors."""
        mine, theirs = vectors
        products = mine @ theirs.T
        partners, best = products.argmax(1), products.max(1)
        return cls(kind, *trees, tuple(partners.tolist()), tuple(best.tolist()))

    @property
    def score(self) -> float:
        """Eq. 4."""
        return sum(self.similarities)

    @property
    def mean(self) -> float:
        """Eq. 4 over the number of query nodes."""
        return self.score / len(self.partners)

    @property
    def title(self) -> str:
        """Name of the trees, and their score."""
        return (
            f"{_NAMES[self.kind]}: {self.mean:.4f}, the mean over "
            f"{len(self.partners)} query nodes"
        )

    def describe(self) -> str:
        """Return both trees with their matches as lines of text."""
        pairs = zip(self.partners, self.similarities, strict=True)
        mine, theirs = self.query.nodes, self.found.nodes
        lines = [
            f"{similarity:8.4f}  ·{place + 1} {mine[place]}  ~  {theirs[partner]}"
            for place, (partner, similarity) in enumerate(pairs)
        ]
        drawn = [f"\n{name}:\n{draw_text(tree)}" for name, tree in self._label()]
        return "\n".join([self.title, *lines, *drawn])

    @staticmethod
    def draw(all_matches: Sequence[NodeMatches]) -> str:
        """Return all trees with their matches as one SVG picture."""
        return draw_svg(
            [
                (f"{matches.title}: {name}", tree)
                for matches in all_matches
                for name, tree in matches._label()
            ]
        )

    def _label(self) -> list[tuple[str, FormulaTree]]:
        asked = [f" ·{i + 1} {s:.2f}" for i, s in enumerate(self.similarities)]
        chosen: list[list[str]] = [[] for _ in self.found.nodes]
        for place, partner in enumerate(self.partners):
            chosen[partner].append(str(place + 1))
        notes = [f" ·{','.join(numbers)}" if numbers else "" for numbers in chosen]
        trees = {"query": (self.query, asked), "found": (self.found, notes)}
        return [(name, _add_notes(*noted)) for name, noted in trees.items()]


def _add_notes(tree: FormulaTree, notes: Sequence[str]) -> FormulaTree:
    """Return the tree with a note behind the label of each node."""
    copy = FormulaTree.from_string(tree.to_string(), tree.kind)
    stack = [copy.root]
    for note in notes:
        node = stack.pop()
        stack += [child for _, child in reversed(list_links(node, tree.kind))]
        node.label += note
    return copy
