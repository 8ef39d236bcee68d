"""Graphs go to PyG data and come back."""

from __future__ import annotations

import pytest
import torch

from benchmarks.random_graphs import RandomGraphs, Representative
from mathamr_kedro.graph.arrays import GraphSchema
from mathamr_kedro.integrations import from_pyg, to_pyg
from tests.graph.small_graphs import lay_out_graph

SCHEMA = GraphSchema(
    num_node_types=50, num_forward=7, mask_type=1, virtual_relations=(3, 4, 5)
)


def draw():
    # 0 -> 1 -> 2, 1 -> 3; 4 formula (2 3), 5 sentence (0 1), 6 document (4 5 0)
    return lay_out_graph(
        node_types=[17, 9, 42, 42],
        edges=[(0, 1, 0), (1, 2, 1), (1, 3, 2), (4, 5, 6)],
        virtual_nodes=[(0, [2, 3]), (1, [0, 1]), (2, [4, 5, 0])],
        representatives=[Representative(4, 0, label=7), Representative(6, 2)],
        schema=SCHEMA,
    )


def test_pyg_data_holds_types_edges_and_virtual_marks():
    data = to_pyg(draw(), SCHEMA)
    assert data.x.tolist() == [17, 9, 42, 42, 50, 51, 52]
    assert data.virtual.tolist() == [False] * 4 + [True] * 3
    assert data.edge_index.shape == (2, 22)
    assert data.validate()


@pytest.mark.parametrize("structure", ["hierarchy", "none", "global_maxsim"])
def test_graphs_come_back_from_pyg(structure):
    for graph in [RandomGraphs(structure=structure, seed=s).draw() for s in range(5)]:
        schema = RandomGraphs().schema
        assert from_pyg(to_pyg(graph, schema), schema) == graph


def test_graph_comes_back_from_pyg_after_reordering_virtual_edges():
    graph = draw()
    data = to_pyg(graph, SCHEMA)
    order = torch.cat([torch.arange(8), torch.tensor([15, 16, 17, 18, 19, 20, 21])])
    rest = torch.arange(8, 15)
    order = torch.cat([order[:8], rest[[4, 5, 6, 0, 1, 2, 3]], order[8:]])
    data.edge_index, data.edge_type = data.edge_index[:, order], data.edge_type[order]
    back = from_pyg(data, SCHEMA)
    assert back.member_count.tolist() == [2, 2, 3]
    assert sorted(back.member[:2].tolist()) == [2, 3]
