"""The layer computed by hand in docs/concepts/encoders.md."""

from __future__ import annotations

import pytest
import torch

from benchmarks.random_graphs import Representative
from mathamr_kedro.graph import SENTENCE, GraphSchema, GraphShards, ShardWriter
from mathamr_kedro.model.backends import choose_backend
from tests.graph.small_graphs import lay_out_graph

ARG0, CONTAINS = 0, 2
SCHEMA = GraphSchema(
    num_node_types=5, num_forward=4, mask_type=1, virtual_relations=(1, CONTAINS, 3)
)


@pytest.mark.parametrize("name", ["reference", "torch"])
def test_layer_by_hand(tmp_path, name):
    graph = lay_out_graph(
        node_types=[2, 3, 4],
        edges=[(0, 1, ARG0)],
        virtual_nodes=[(SENTENCE, [0, 1, 2])],
        representatives=[Representative(3, SENTENCE)],
        schema=SCHEMA,
    )
    with ShardWriter(tmp_path / "shards", SCHEMA) as writer:
        writer.add("sentence", graph)
    batch = GraphShards(tmp_path / "shards").assemble([0])
    weight = torch.zeros(SCHEMA.num_relations, 1, 1)
    inverse = SCHEMA.num_forward
    weight[ARG0], weight[ARG0 + inverse] = 10, -1
    weight[CONTAINS], weight[CONTAINS + inverse] = 0.5, 2
    backend = choose_backend(name, "fp32", torch.device("cpu"), 1)
    x = torch.tensor([[1.0], [2.0], [3.0], [0.0]])
    ones, zero = torch.ones(1, 1), torch.zeros(1)
    out = backend.convolve(x, weight, ones, zero, None, backend.prepare(batch))
    assert out.flatten().tolist() == pytest.approx([-1, 12, 3, 4])
