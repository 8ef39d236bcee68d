"""Training steps: the same from the host and from fixed-size batches."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import DeviceShards
from mathamr_kedro.learning.augmentation import AugmentationConfig, step_key
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.steps import (
    Buckets,
    OptimizerConfig,
    ResidentSteps,
    TrainingStep,
    split_pairs,
)
from mathamr_kedro.model.mathamr_plus import MathAMRPlus

PAIRS = 4


def make_step(shards, model_config, **changes):
    torch.manual_seed(0)
    model = MathAMRPlus(model_config, shards.schema)
    loss = ContrastiveLoss(LossConfig(beta=0.3))
    settings = {"learning_rate": 1e-2, "min_learning_rate": 1e-3} | changes
    return TrainingStep(model, loss, OptimizerConfig(**settings), AugmentationConfig())


def draw_batches(shards, steps=5):
    rng = np.random.default_rng(0)
    return np.stack([rng.choice(len(shards), 2 * PAIRS, False) for _ in range(steps)])


def train(step, shards, batches):
    return torch.stack([
        step.run(shards.assemble(row), step_key(0, i), PAIRS)
        for i, row in enumerate(batches)
    ])  # fmt: skip


def test_loss_falls_on_one_batch(shards, model_config):
    step = make_step(shards, model_config)
    batches = np.repeat(draw_batches(shards, 1), 60, axis=0)
    losses = train(step, shards, batches)[:, 0]
    assert losses[-10:].mean() < 0.5 * losses[:10].mean()


def test_training_twice_gives_the_same_bits(shards, model_config):
    ends = []
    for _ in range(2):
        step = make_step(shards, model_config)
        train(step, shards, draw_batches(shards))
        ends.append([p.detach().clone() for p in step.parameters])
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


def test_temperature_learns_with_the_weights(shards, model_config):
    step = make_step(shards, model_config)
    before = step.loss.temperature.item()
    train(step, shards, draw_batches(shards))
    assert step.loss.temperature.item() != before


def test_gradients_are_clipped(shards, model_config):
    step = make_step(shards, model_config)
    measures = train(step, shards, draw_batches(shards, 1))
    norm = torch.stack([p.grad.norm() for p in step.parameters]).norm()
    assert measures[0, 2] > 1.5  # before clipping
    assert norm.item() == pytest.approx(1.0, rel=1e-3)


def test_queries_and_documents_are_taken_apart(shards, model_config):
    step = make_step(shards, model_config)
    batch = shards.assemble(range(8))
    vectors = step.model(batch)
    ptr = batch.representative_ptr
    queries, documents = split_pairs(batch, vectors, 3)
    assert torch.equal(queries.vectors, vectors[: ptr[3]])
    assert documents.ptr.tolist() == ptr[3:].tolist()
    roomy, _ = split_pairs(batch, vectors, 3, query_room=int(ptr[3]) + 2)
    assert len(roomy.vectors) == int(ptr[3]) + 2


@pytest.mark.parametrize("readout_dim", [0, 24])
def test_fixed_size_steps_equal_steps_from_the_host(shards, model_config, readout_dim):
    model_config = replace(model_config, readout_dim=readout_dim)
    batches = draw_batches(shards)
    host = make_step(shards, model_config)
    expected = train(host, shards, batches)
    step = make_step(shards, model_config)
    buckets = Buckets(shards, batches, PAIRS)
    resident = ResidentSteps(
        step, DeviceShards(shards, torch.device("cpu")), buckets, capture=False
    )
    keys = torch.tensor([step_key(0, i) for i in range(len(batches))])
    rates = torch.full((len(batches),), 1e-2)
    resident.load_epoch(batches, keys, rates)
    for i in range(len(batches)):
        resident.run(i)
    assert torch.allclose(resident.measures(len(batches)), expected, rtol=1e-4)
    pairs = zip(step.parameters, host.parameters, strict=True)
    assert all(torch.allclose(a, b, atol=2e-5) for a, b in pairs)


def test_steps_that_cannot_be_captured_run_without(
    shards, model_config, monkeypatch, caplog
):
    def warm_up(self, number, bucket):
        self._do_step(bucket)  # must leave no trace

    def fail(self, bucket):
        raise RuntimeError("no capture here\nand no stack")

    monkeypatch.setattr(ResidentSteps, "_warm_up", warm_up)  # needs a GPU
    monkeypatch.setattr(ResidentSteps, "_capture", fail)  # as on old drivers
    batches = draw_batches(shards)
    buckets = Buckets(shards, batches, PAIRS)
    keys, rates = torch.arange(5), torch.full((5,), 1e-2)
    ends = []
    for levels in (3, 0):
        step = make_step(shards, model_config)
        on_cpu = DeviceShards(shards, torch.device("cpu"))
        resident = ResidentSteps(step, on_cpu, buckets, capture=False)
        resident._capture_levels = levels
        resident.load_epoch(batches, keys, rates)
        for i in range(5):
            resident.run(i)
        ends.append(([p.detach() for p in step.parameters], resident.measures(5)))
    assert "without CUDA graphs: no capture here" in caplog.text
    both = zip(ends[0][0], ends[1][0], strict=True)
    assert all(torch.equal(a, b) for a, b in both)
    assert torch.equal(ends[0][1], ends[1][1])


def load_epoch(shards, model_config, **options):
    """Return a step, its resident twin with the batches of an epoch, their buckets."""
    batches = draw_batches(shards)
    step = make_step(shards, model_config)
    on_cpu = DeviceShards(shards, torch.device("cpu"))
    buckets = Buckets(shards, batches, PAIRS)
    resident = ResidentSteps(step, on_cpu, buckets, capture=False, **options)
    resident.load_epoch(batches, torch.arange(5), torch.full((5,), 1e-2))
    return step, resident, buckets.choose(batches)


class Cuda:
    """Functions for ``torch.cuda`` that note how many gradients there are."""

    def __init__(self, step) -> None:
        self.step, self.held = step, dict[str, int]()

    def __getattr__(self, name: str):
        def call(*args, **options):
            grads = [p.grad for p in self.step.parameters if p.grad is not None]
            self.held[name] = len(grads)
            if name in ("stream", "graph"):
                return nullcontext()
            return SimpleNamespace(wait_stream=lambda other: None)

        return call


def test_gradients_hold_no_memory_after_a_warm_up_or_a_capture(
    shards, model_config, monkeypatch
):
    step, resident, buckets = load_epoch(shards, model_config)
    cuda = Cuda(step)
    for name in (
        "Stream", "current_stream", "stream", "synchronize", "empty_cache",
        "CUDAGraph", "graph",
    ):  # fmt: skip
        monkeypatch.setattr(torch.cuda, name, getattr(cuda, name))
    resident._warm_up(2, buckets[2])
    assert cuda.held["empty_cache"] == 0  # no gradient is left that would keep it
    assert resident.measures(5)[:, 0].nonzero().tolist() == [[2]]
    resident._number.fill_(3)
    assert resident._capture(buckets[3]) is not None
    assert resident.measures(5)[:, 0].nonzero().tolist() == [[2], [3]]
    assert cuda.held["graph"] == 0
    assert all(p.grad is None for p in step.parameters)  # the pool can hold the next


def test_plans_that_cannot_be_compiled_run_uncompiled(
    shards, model_config, monkeypatch, caplog
):
    def refuse(function, dynamic):
        def broken(*args):
            raise ValueError("no compiler")

        return broken

    monkeypatch.setattr(torch, "compile", refuse)
    _, resident, buckets = load_epoch(shards, model_config, compile_plan=True)
    resident._capture_levels = 3
    resident._number.fill_(0)
    resident._do_step(buckets[0])
    assert "captured uncompiled: no compiler" in caplog.text
    assert resident.measures(1)[0, 0] > 0


def test_steps_are_given_back_without_a_garbage_collection(shards, model_config):
    _, resident, _ = load_epoch(shards, model_config)
    resident.run(0)
    kept = weakref.ref(resident)
    gc.disable()
    try:
        del resident
        assert kept() is None  # a cycle would hold the memory of its CUDA graphs
    finally:
        gc.enable()


def test_an_epoch_can_be_loaded_again(shards, model_config):
    step = make_step(shards, model_config)
    batches = draw_batches(shards)
    on_cpu = DeviceShards(shards, torch.device("cpu"))
    buckets = Buckets(shards, batches, PAIRS)
    resident = ResidentSteps(step, on_cpu, buckets, capture=False)
    keys, rates = torch.arange(5), torch.zeros(5)
    for rows in (slice(0, 5), slice(1, 3)):
        resident.load_epoch(batches[rows], keys[rows], rates[rows])
        resident.run(0)
    fresh = make_step(shards, model_config)
    expected = fresh.run(shards.assemble(batches[1]), 1, PAIRS)
    assert resident.measures(1)[0, 0].item() == pytest.approx(expected[0].item(), 1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("compile_plan", [False, True])
@pytest.mark.parametrize("readout_dim", [0, 24])
def test_captured_steps_equal_steps_from_the_host(
    shards, model_config, compile_plan, readout_dim
):
    device = torch.device("cuda")
    # Captured steps need the Triton MaxSim, which has no kernel for width 8.
    config = replace(model_config, projection_dim=16, readout_dim=readout_dim)
    batches = draw_batches(shards)
    host = make_step(shards, config)
    expected = train(host, shards, batches)
    torch.manual_seed(0)
    model = MathAMRPlus(config, shards.schema).to(device)
    loss = ContrastiveLoss(LossConfig(beta=0.3)).to(device)
    rates = OptimizerConfig(learning_rate=1e-2, min_learning_rate=1e-3)
    step = TrainingStep(model, loss, rates, AugmentationConfig())
    resident = ResidentSteps(
        step,
        DeviceShards(shards, device),
        Buckets(shards, batches, PAIRS),
        capture=True,
        compile_plan=compile_plan,
    )
    keys = torch.tensor([step_key(0, i) for i in range(len(batches))])
    resident.load_epoch(batches, keys, torch.full((5,), 1e-2))
    for i in range(len(batches)):
        resident.run(i)
    assert torch.allclose(resident.measures(5), expected, rtol=1e-3)


def test_exported_state_continues_the_same(shards, model_config):
    batches = draw_batches(shards)
    step = make_step(shards, model_config)
    train(step, shards, batches[:3])
    state = step.export_state()
    other = make_step(shards, model_config)
    other.import_state(state)
    train(step, shards, batches[3:])
    train(other, shards, batches[3:])
    pairs = zip(step.parameters, other.parameters, strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"min_learning_rate": 1.0}, "min_learning_rate of at least 0 and at most"),
        ({"weight_decay": -1.0}, "weight_decay of at least 0"),
    ],
)
def test_impossible_optimizers_are_refused(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        OptimizerConfig(**changes)


def test_rates_fall_along_a_cosine_to_their_minimum():
    rates = OptimizerConfig().schedule(0, 101, 101)
    assert rates[0] == pytest.approx(1e-4)
    assert rates[-1] == pytest.approx(1e-5)
    assert rates[50] == pytest.approx(5.5e-5)
    assert (np.diff(rates) < 0).all()


def test_epochs_are_parts_of_one_cosine():
    whole = OptimizerConfig().schedule(0, 12, 12)
    parts = [OptimizerConfig().schedule(first, 4, 12) for first in (0, 4, 8)]
    assert np.concatenate(parts).tolist() == whole.tolist()
