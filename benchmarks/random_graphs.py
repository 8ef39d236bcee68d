"""Random graphs shaped like MathAMR+ graphs, for benchmarks and tests.

Sizes follow Table 4.2 of the thesis: 156 nodes in the mean and 101 in the median,
160 edges, about 16 virtual nodes. Relations and node types are Zipf distributed. The
graphs say nothing about quality: only about speed, and about equality of two ways to
compute one thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.graph import (
    DOCUMENT,
    FORMULA,
    SENTENCE,
    GraphArrays,
    GraphSchema,
    ShardWriter,
)
from mathamr_kedro.graph.virtual_nodes import Structure

THESIS_SCHEMA = GraphSchema(
    num_node_types=20_000,
    num_forward=266,
    mask_type=1,
    virtual_relations=(262, 263, 264),
)
"""Vocabulary sizes of the thesis: 20,000 node types, 532 relations with inverses."""


class Representative(NamedTuple):
    """A node whose final state becomes a vector of the post (thesis 4.3.2)."""

    node: int
    kind: int
    number: int = 0
    """``n`` of ``FORMULA_n``, or the number of the sentence."""
    label: int = 0
    """Formulas that look the same share a label; 0 for none."""


def choose_representatives(
    structure: Structure,
    formulas: Sequence[int],
    sentences: Sequence[int],
    document: int | None,
    labels: Sequence[int],
) -> list[Representative]:
    """List the nodes of a graph that become vectors, the document last (4.3.2)."""
    parts: list[Representative] = []
    if structure != "global_single":
        parts += [
            Representative(node, FORMULA, n, label)
            for n, (node, label) in enumerate(zip(formulas, labels, strict=True))
        ]
        parts += [Representative(node, SENTENCE, n) for n, node in enumerate(sentences)]
    if structure != "none" and document is not None:
        parts.append(Representative(document, DOCUMENT))
    return parts


@dataclass(frozen=True)
class GraphShape:
    """How large random graphs are."""

    median_nodes: float = 101
    spread: float = 0.932
    """Standard deviation of the logarithm of the number of nodes."""
    formulas_per_node: float = 6.35 / 156
    sentences_per_node: float = 7.7 / 156
    max_nodes: int = 2_500


class RandomGraphs:
    """A seeded source of random graphs."""

    def __init__(
        self,
        schema: GraphSchema = THESIS_SCHEMA,
        shape: GraphShape | None = None,
        structure: Structure = "hierarchy",
        seed: int = 0,
    ) -> None:
        self.schema, self.shape, self.structure = (
            schema,
            shape or GraphShape(),
            structure,
        )
        self._rng = np.random.default_rng(seed)
        free = np.setdiff1d(np.arange(schema.num_forward), schema.virtual_relations)
        self._relations = free
        self._relation_law = _zipf(len(free), 1.1)
        self._type_law = _zipf(schema.num_node_types - 2, 1.05)

    def draw(self) -> GraphArrays:
        """Draw one graph."""
        rng, shape = self._rng, self.shape
        n = int(np.exp(rng.normal(np.log(shape.median_nodes), shape.spread)))
        n = min(max(n, 4), shape.max_nodes)
        # UNK and MASK are the first two types.
        types = 2 + np.searchsorted(self._type_law, rng.random(n))
        # A tree in depth-first order, and a few re-entrancies.
        child = np.arange(1, n)
        back = np.where(rng.random(n - 1) < 0.5, 1, rng.integers(1, 12, n - 1))
        again = rng.integers(0, n, (2, rng.poisson(0.033 * n)))
        source = np.concatenate([np.maximum(child - back, 0), again[0]])
        target = np.concatenate([child, again[1]])
        drawn = np.searchsorted(self._relation_law, rng.random(len(source)))
        relation = self._relations[drawn]
        formulas = int(rng.poisson(n * shape.formulas_per_node))
        sentences = 1 + int(rng.poisson(n * shape.sentences_per_node))
        formulas = min(formulas, n - 2)
        sentences = min(sentences, n - formulas)
        edges = (source, target, relation)
        if self.structure == "hierarchy":
            return self._hierarchy(types, edges, formulas, sentences)
        return self._flat(types, edges, formulas, sentences)

    def _hierarchy(
        self,
        types: NDArray[np.int64],
        edges: tuple[NDArray[np.int64], ...],
        formulas: int,
        sentences: int,
    ) -> GraphArrays:
        n, parts = len(types), formulas + sentences
        bounds = np.arange(parts + 1) * n // parts
        members = [np.arange(a, b) for a, b in pairwise(bounds.tolist())]
        if sentences > 1:  # a formula mentioned in two sentences
            members[-1] = np.union1d(members[-1], members[-2][-1:])
        virtual = np.arange(n, n + parts)
        members.append(np.concatenate([virtual, [0]]))
        kinds = [FORMULA] * formulas + [SENTENCE] * sentences + [DOCUMENT]
        return self._lay_out(
            types, edges, kinds, members, virtual[:formulas], virtual[formulas:]
        )

    def _flat(
        self,
        types: NDArray[np.int64],
        edges: tuple[NDArray[np.int64], ...],
        formulas: int,
        sentences: int,
    ) -> GraphArrays:
        nodes = self._rng.permutation(len(types))
        kinds = [] if self.structure == "none" else [DOCUMENT]
        members = [np.arange(len(types))] * len(kinds)
        chosen = nodes[: formulas + sentences]
        return self._lay_out(
            types, edges, kinds, members, chosen[:formulas], chosen[formulas:]
        )

    def _lay_out(
        self,
        types: NDArray[np.int64],
        edges: tuple[NDArray[np.int64], ...],
        kinds: list[int],
        members: list[NDArray[np.int64]],
        formulas: NDArray[np.int64],
        sentences: NDArray[np.int64],
    ) -> GraphArrays:
        labels = self._rng.integers(1, 500, len(formulas)).tolist()
        document = len(types) + len(kinds) - 1 if kinds else None
        found = formulas.tolist(), sentences.tolist(), document, labels
        chosen = choose_representatives(self.structure, *found)
        columns = np.array(chosen, dtype=np.uint32).T
        virtual = self.schema.num_node_types + np.array(kinds, dtype=np.int64)
        return GraphArrays(
            node_type=np.concatenate([types, virtual]).astype(np.uint32),
            source=edges[0].astype(np.uint32),
            target=edges[1].astype(np.uint32),
            relation=edges[2].astype(np.uint32),
            member_count=np.array([len(m) for m in members], dtype=np.uint32),
            member=np.concatenate([*members, types[:0]]).astype(np.uint32),
            representative=columns[0],
            representative_kind=columns[1],
            representative_number=columns[2],
            representative_label=columns[3],
        )

    def __iter__(self) -> Iterator[GraphArrays]:
        while True:
            yield self.draw()


def _zipf(size: int, exponent: float) -> NDArray[np.float64]:
    weight = 1.0 / np.arange(1, size + 1) ** exponent
    law = np.cumsum(weight / weight.sum())
    law[-1] = 1.0
    return law


def write_random_shards(folder: Path, count: int, graphs: RandomGraphs) -> None:
    """Write ``count`` random graphs with the keys ``"0"``, ``"1"``, ..."""
    with ShardWriter(folder, graphs.schema) as writer:
        for i in range(count):
            writer.add(str(i), graphs.draw())
