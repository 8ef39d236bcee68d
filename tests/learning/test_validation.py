"""The loss of held-out pairs equals that of its batches, one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.learning.augmentation import AugmentationConfig
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.steps import OptimizerConfig, TrainingStep, split_pairs
from mathamr_kedro.learning.trainer import Validation
from mathamr_kedro.model.mathamr_plus import MathAMRPlus


@pytest.fixture
def step(shards, model_config):
    torch.manual_seed(0)
    model = MathAMRPlus(model_config, shards.schema)
    loss = ContrastiveLoss(LossConfig(beta=0.3, formula_weight=0.5))
    return TrainingStep(model, loss, OptimizerConfig(), AugmentationConfig())


@pytest.fixture
def pairs(shards):
    return TrainingPairs.of_rows(np.arange(40).reshape(20, 2), shards)


@pytest.mark.parametrize("at_once", [1, 18, 64])
def test_batches_encoded_together_give_the_loss_of_each(
    shards, pairs, step, monkeypatch, at_once
):
    monkeypatch.setattr(ShardSource, "batch_size", at_once)
    validation = Validation(pairs, ShardSource(shards, torch.device("cpu")), 6)
    mine = validation.run(step)
    losses, right = [], []
    for rows in np.array_split(np.arange(20), 3):
        ids = [*pairs.queries[rows], *pairs.documents[rows]]
        batch = shards.assemble(ids)
        value = step.loss(*split_pairs(batch, step.model(batch), len(rows)))
        losses += [value.loss.item()] * len(rows)
        right += [value.accuracy.item()] * len(rows)
    assert mine[0] == pytest.approx(np.mean(losses), rel=1e-5)
    assert mine[1] == pytest.approx(np.mean(right))


def test_validation_changes_nothing(shards, pairs, step):
    before = [p.detach().clone() for p in step.parameters]
    validation = Validation(pairs, ShardSource(shards, torch.device("cpu")), 6)
    assert validation.run(step) == validation.run(step)
    both = zip(before, step.parameters, strict=True)
    assert all(torch.equal(a, b) for a, b in both)


def test_nothing_held_out_has_no_batches(shards, pairs):
    source = ShardSource(shards, torch.device("cpu"))
    assert len(Validation(pairs.take(np.array([], int)), source, 6)) == 0
