"""Small random graphs and a small model for training."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from benchmarks.random_graphs import (
    GraphShape,
    RandomGraphs,
    write_random_shards,
)
from mathamr_kedro.graph import GraphSchema, GraphShards
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.steps import OptimizerConfig, split_pairs
from mathamr_kedro.model.config import ComputeConfig, ModelConfig

SCHEMA = GraphSchema(
    num_node_types=40, num_forward=9, mask_type=1, virtual_relations=(5, 6, 7)
)


@pytest.fixture(scope="session")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs") / "shards"
    graphs = RandomGraphs(SCHEMA, GraphShape(median_nodes=12, spread=0.5), seed=4)
    write_random_shards(folder, 40, graphs)
    return GraphShards(folder)


@pytest.fixture(scope="session")
def model_config():
    return ModelConfig(hidden_dim=16, projection_dim=8, num_layers=2, num_bases=3)


@pytest.fixture
def config(model_config):
    """A short training on the CPU."""
    return TrainingConfig(
        model=model_config,
        optimizer=OptimizerConfig(learning_rate=3e-3, min_learning_rate=1e-4),
        compute=ComputeConfig(device="cpu"),
        batch_size=4,
        num_epochs=3,
        checkpoint_seconds=0,
        log_seconds=0,
    )


def make_posts(shards):
    """Random vectors of six queries and their documents."""
    torch.manual_seed(2)
    batch = shards.assemble(np.arange(12))
    vectors = F.normalize(torch.randn(len(batch.representative), 8), dim=1)
    return split_pairs(batch, vectors, 6)
