"""From the labels of the training graphs to the vocabularies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph.blocks import GraphBlock, LabelCounts
from mathamr_kedro.graph.numbering import (
    CONCEPT,
    VocabularyNumbering,
    normalise_atom,
)
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    AUXILIARY_ROLE,
    UNK,
    NodeVocabulary,
    RelationVocabulary,
    VocabularyConfig,
    VocabularyReport,
    classify_number,
)


class Vocabularies(NamedTuple):
    """Numbers of node types and relations, and how good they are."""

    types: NodeVocabulary
    relations: RelationVocabulary
    report: VocabularyReport

    @classmethod
    def build(
        cls,
        counts: LabelCounts,
        config: VocabularyConfig,
        variant: GraphVariant | None = None,
    ) -> Vocabularies:
        """Choose the types and relations that get an embedding.

        Args:
            counts: of the training graphs.
            config: how many, or whose.
            variant: of the graphs, the usual one if ``None``; an encoder knows one.

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
            types, relations = ReleasedEncoder(config.source).load_vocabularies(
                variant or GraphVariant()
            )
        unknown = types.find(UNK)
        nodes = normal.total()
        lost = sum(
            count for name, count in normal.items() if types.find(name) == unknown
        )
        known = set(types.names)
        report = VocabularyReport(
            graphs=counts.graphs,
            nodes=nodes,
            raw_types=len({read_label(atom) for _, atom in counts.labels}),
            normalised_types=len(normal),
            rare_numbers=sum(
                name not in known and classify_number(name) is not None
                for name in normal
            ),
            types=len(types),
            coverage=1 - lost / max(nodes, 1),
            raw_relations=len(roles),
            relations=2 * len(relations),
            coverage_by_size=_find_coverage(normal),
        )
        return cls(types, relations, report)

    def renumber(self, blocks: Iterable[GraphBlock]) -> Iterator[GraphBlock]:
        """Yield blocks with the numbers of these vocabularies."""
        numbering = VocabularyNumbering(self.types, self.relations)
        for block in blocks:
            types = [
                (numbering.concepts if kind == CONCEPT else numbering.symbols)[atom]
                for kind, atom in block.labels
            ]
            relations = [numbering.roles[role] for role in block.roles]
            yield block.renumber(
                np.array(types, dtype=np.uint32),
                np.array(relations, dtype=np.uint32),
                numbering.schema,
            )


def _find_coverage(counts: Counter[str]) -> tuple[tuple[int, float], ...]:
    """Return which share of the nodes the n most frequent types are."""
    ranked = np.sort(np.array(list(counts.values()), dtype=np.int64))[::-1]
    shares = np.cumsum(ranked) / max(int(ranked.sum()), 1)
    steps = [base * 10**power for power in range(2, 6) for base in (1, 2, 5)]
    sizes = [*(n for n in steps if n < len(ranked)), len(ranked)]
    return tuple((n, float(shares[n - 1])) for n in sizes if n)
