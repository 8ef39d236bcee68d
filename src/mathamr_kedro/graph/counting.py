"""Counting vocabularies on arrays, and numbering arrays by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph.builder import normalise_atom
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.shards.folder import GraphFolder
from mathamr_kedro.graph.shards.layout import (
    FIRST_LABEL,
    Label,
    Renumbering,
    list_files,
)
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    AUXILIARY_ROLE,
    UNK,
    NodeVocabulary,
    RelationVocabulary,
    Vocabularies,
    VocabularyConfig,
    VocabularyReport,
    classify_number,
)

_AT_ONCE = 10_000
"""Graphs that are counted together."""


class LabelCounts(NamedTuple):
    """How often labels and roles occur in some graphs."""

    graphs: int
    labels: Counter[Label]
    roles: Counter[str]

    @classmethod
    def of_graphs(
        cls, graphs: GraphFolder, chosen: Collection[PostId] | None = None
    ) -> LabelCounts:
        """Count the graphs with the chosen keys (``None``: all)."""
        picked = np.ones(len(graphs), dtype=np.bool_)
        if chosen is not None:
            picked = np.fromiter((key in chosen for key in graphs.keys), np.bool_)
        types = _count(graphs, "node", picked, FIRST_LABEL + len(graphs.labels))
        relations = _count(graphs, "edge", picked, len(graphs.roles))
        labels = zip(graphs.labels, types[FIRST_LABEL:].tolist(), strict=True)
        roles = zip(graphs.roles, relations.tolist(), strict=True)
        return cls(
            int(picked.sum()),
            Counter({label: count for label, count in labels if count}),
            Counter({role: count for role, count in roles if count}),
        )


def _count(
    graphs: GraphFolder, group: str, picked: NDArray[np.bool_], kinds: int
) -> NDArray[np.int64]:
    """Count the numbers of nodes or edges in the picked graphs, some graphs at once."""
    counts = np.zeros(kinds, dtype=np.int64)
    offsets = graphs.offsets[group]
    for first in range(0, len(graphs), _AT_ONCE):
        last = min(first + _AT_ONCE, len(graphs))
        start, end = offsets[first], offsets[last]
        if group == "node":
            numbers = graphs.arrays["node_type"][start:end]
        else:
            numbers = graphs.arrays["edge"][start:end, 2]
        is_picked = np.repeat(picked[first:last], np.diff(offsets[first : last + 1]))
        counts += np.bincount(numbers[is_picked], minlength=kinds)
    return counts


def choose_vocabularies(
    counts: LabelCounts, config: VocabularyConfig, variant: GraphVariant
) -> tuple[Vocabularies, VocabularyReport]:
    """Choose the types and relations that get an embedding.

    Raises:
        GraphError: there is nothing to count.
    """
    if not counts.graphs:
        raise GraphError("Expected graphs to count a vocabulary on (got none)")
    normal: Counter[str] = Counter()
    for (kind, atom), count in counts.labels.items():
        normal[normalise_atom(kind, atom)] += count
    roles = Counter(counts.roles)
    del roles[AUXILIARY_ROLE]
    if config.source is None:
        types = NodeVocabulary.build(normal, config.size, config.rare_numbers_below)
        relations = RelationVocabulary.build(roles, config.rare_roles_below)
    else:
        released = ReleasedEncoder(config.source)
        types, relations = released.load_vocabularies(variant)
    unknown = types.find(UNK)
    nodes = normal.total()
    lost = sum(count for name, count in normal.items() if types.find(name) == unknown)
    known = set(types.names)
    report = VocabularyReport(
        graphs=counts.graphs,
        nodes=nodes,
        raw_types=len({read_label(atom) for _, atom in counts.labels}),
        normalised_types=len(normal),
        rare_numbers=sum(
            name not in known and classify_number(name) is not None for name in normal
        ),
        types=len(types),
        coverage=1 - lost / max(nodes, 1),
        raw_relations=len(roles),
        relations=2 * len(relations),
        coverage_by_size=_find_coverage(normal),
    )
    return Vocabularies(types, relations), report


def number_labels(graphs: GraphFolder, vocabularies: Vocabularies) -> Renumbering:
    """Return the vocabularies' numbers for the types and relations of a folder."""
    types, relations = vocabularies
    dtype = list_files(vocabularies.schema)["node_type"]
    virtual = range(len(types), len(types) + FIRST_LABEL)
    labels = (types.find(normalise_atom(*label)) for label in graphs.labels)
    roles = [relations.find(role) for role in graphs.roles]
    return Renumbering(
        np.array([*virtual, *labels], dtype=dtype), np.array(roles, dtype=np.uint16)
    )


def _find_coverage(counts: Counter[str]) -> tuple[tuple[int, float], ...]:
    """Return which share of the nodes the n most frequent types are."""
    ranked = np.sort(np.array(list(counts.values()), dtype=np.int64))[::-1]
    shares = np.cumsum(ranked) / max(int(ranked.sum()), 1)
    steps = [base * 10**power for power in range(2, 6) for base in (1, 2, 5)]
    sizes = [*(n for n in steps if n < len(ranked)), len(ranked)]
    return tuple((n, float(shares[n - 1])) for n in sizes if n)
