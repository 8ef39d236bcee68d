"""Graphs written down by hand, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.random_graphs import Representative
from mathamr_kedro.graph.arrays import GraphArrays, GraphSchema, to_ids


def lay_out_graph(
    node_types: Sequence[int],
    edges: Sequence[tuple[int, int, int]],
    virtual_nodes: Sequence[tuple[int, Sequence[int]]],
    representatives: Sequence[Representative],
    schema: GraphSchema,
) -> GraphArrays:
    """Return a checked graph: edges as (source, target, relation), virtual nodes as
    (kind, members), the document last."""
    virtual = [schema.num_node_types + kind for kind, _ in virtual_nodes]
    source, target, relation = zip(*edges, strict=True) if edges else ((), (), ())
    nodes, kinds, numbers, labels = (
        zip(*representatives, strict=True) if representatives else ((),) * 4
    )
    graph = GraphArrays(
        node_type=to_ids([*node_types, *virtual]),
        source=to_ids(source),
        target=to_ids(target),
        relation=to_ids(relation),
        member_count=to_ids(len(members) for _, members in virtual_nodes),
        member=to_ids(m for _, members in virtual_nodes for m in members),
        representative=to_ids(nodes),
        representative_kind=to_ids(kinds),
        representative_number=to_ids(numbers),
        representative_label=to_ids(labels),
    )
    graph.check(schema)
    return graph
