"""The bytes that a benchmark tells are those that a training step sends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.communication import PHASES, Exchange
from benchmarks.random_graphs import GraphShape, RandomGraphs, write_random_shards
from mathamr_kedro.graph import GraphSchema, GraphShards
from mathamr_kedro.learning import processes
from mathamr_kedro.learning.augmentation import AugmentationConfig
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.processes import Processes
from mathamr_kedro.learning.steps import OptimizerConfig, TrainingStep
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus

SCHEMA = GraphSchema(
    num_node_types=40, num_forward=9, mask_type=1, virtual_relations=(5, 6, 7)
)


def test_bytes_of_a_step(tmp_path, monkeypatch):
    """One process that meets itself twice."""
    sent = {"gather": 0, "reduce": 0}

    def all_gather(parts, mine):
        sent["gather"] += mine.nbytes
        for part in parts:
            part.copy_(mine)

    def all_reduce(values):
        sent["reduce"] += values.nbytes

    fake = SimpleNamespace(all_gather=all_gather, all_reduce=all_reduce)
    monkeypatch.setattr(processes, "dist", fake)
    graphs = RandomGraphs(SCHEMA, GraphShape(median_nodes=12, spread=0.5), seed=4)
    write_random_shards(tmp_path / "shards", 12, graphs)
    model = MathAMRPlus(ModelConfig(16, 8, 2, num_bases=3), SCHEMA)
    loss = ContrastiveLoss(LossConfig(beta=0.5))
    step = TrainingStep(
        model, loss, OptimizerConfig(), AugmentationConfig(0, 0), Processes(0, 2)
    )
    posts = 4 * 2
    batch = GraphShards(tmp_path / "shards").assemble(np.arange(posts))
    step.run(batch, 0, num_queries=4)
    told = Exchange(
        weights=sum(p.numel() for m in (model, loss) for p in m.parameters()),
        dimension=8,
        pairs=8,
        processes=2,
        vectors=len(batch.representative) / posts,
    )
    assert sent == {"gather": told.gathered_bytes, "reduce": told.gradient_bytes}
    assert told.sent_bytes == told.gradient_bytes + told.gathered_bytes


def test_one_process_sends_nothing_and_takes_its_time():
    alone = Exchange(weights=10, dimension=8, pairs=8, processes=1)
    assert alone.sent_bytes == 0
    assert alone.expect_milliseconds(1.0, PHASES) == pytest.approx(12.8)
