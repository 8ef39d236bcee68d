"""Small random graphs for the encoder."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from benchmarks.random_graphs import (
    GraphShape,
    RandomGraphs,
    write_random_shards,
)
from mathamr_kedro.graph import GraphSchema, GraphShards

SCHEMA = GraphSchema(
    num_node_types=40, num_forward=9, mask_type=1, virtual_relations=(5, 6, 7)
)


def open_shards(folder, structure="hierarchy", count=8, seed=3):
    graphs = RandomGraphs(SCHEMA, GraphShape(median_nodes=18), structure, seed)
    write_random_shards(folder, count, graphs)
    return GraphShards(folder)


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    return open_shards(tmp_path_factory.mktemp("graphs") / "shards")


@pytest.fixture(scope="session")
def batch(shards):
    """Five graphs with auxiliary edges between virtual nodes and a loop."""
    plain = shards.assemble([0, 1, 2, 3, 4])
    first, second = plain.virtual_node[:2].tolist()
    extra = [[first, second, 8], [second, first, 8], [2, 2, 0]]

    added = torch.tensor(extra, dtype=torch.int32)
    return replace(
        plain,
        source=torch.cat([plain.source, added[:, 0]]),
        target=torch.cat([plain.target, added[:, 1]]),
        relation=torch.cat([plain.relation, added[:, 2]]),
    )


@pytest.fixture(params=["none", "global_maxsim", "global_single"])
def flat_shards(request, tmp_path):
    return open_shards(tmp_path / "shards", request.param)
