"""Batches and rates of the fine-tuning, without a text model."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import MissingInputError, TrainingError
from mathamr_kedro.systems.mathamr.config import ModelConfig
from mathamr_kedro.systems.mathamr.trainer import _FoldTraining, train_models
from mathamr_kedro.systems.mathamr.triples import Triple, TripleFile

CONFIG = ModelConfig(batch_size=2, epochs=4, warmup=0.25)
TRIPLES = [Triple("B.1", f"q{n}", f"c{n}", n % 4) for n in range(12)]


def make_training(config=CONFIG, triples=TRIPLES, folder=None):
    return _FoldTraining(config, "0", triples, folder, folder)


def list_batches(config, triples, epoch):
    rng = np.random.default_rng(5)
    return list(make_training(config)._list_batches(triples, epoch, rng))


@pytest.mark.parametrize(
    ("warmup", "rates"),
    [
        (0.25, {0.0: 0.0, 0.125: 0.5, 0.25: 1.0, 0.625: 0.5, 1.0: 0.0}),
        (0.0, {0.0: 1.0, 0.5: 0.5, 1.0: 0.0}),
        (1.0, {0.0: 0.0, 0.5: 0.5, 1.0: 1.0}),
    ],
)
def test_the_rate_rises_and_falls_to_nothing(warmup, rates):
    training = make_training(replace(CONFIG, warmup=warmup))
    assert {done: training._rate(done) for done in rates} == pytest.approx(rates)


def test_losses_take_turns_and_pairs_begin_anew():
    kinds, batches = zip(*list_batches(CONFIG, TRIPLES, 0), strict=True)
    assert kinds == ("contrastive", "multiple_negatives") * 6
    assert sorted(t for batch in batches[::2] for t in batch) == sorted(TRIPLES)
    pairs = batches[1::2]  # three batches of the six triples that are right, twice
    assert pairs[:3] == pairs[3:]
    assert sorted(t for batch in pairs[:3] for t in batch) == sorted(
        t for t in TRIPLES if t.grade >= 2
    )


def test_phases_change_after_half_of_the_epochs():
    config = replace(CONFIG, schedule="phases")
    kinds = [{kind for kind, _ in list_batches(config, TRIPLES, n)} for n in range(4)]
    assert kinds == [{"contrastive"}] * 2 + [{"multiple_negatives"}] * 2
    assert [len(list_batches(config, TRIPLES, n)) for n in (1, 2)] == [6, 3]
    odd = replace(config, epochs=3)
    kinds = [{kind for kind, _ in list_batches(odd, TRIPLES, n)} for n in range(3)]
    assert kinds == [{"contrastive"}] * 2 + [{"multiple_negatives"}]


@pytest.mark.parametrize("schedule", ["alternate", "phases"])
def test_one_right_pair_alone_has_nothing_to_differ_from(schedule):
    triples = [*(t for t in TRIPLES if t.grade < 2), Triple("B.1", "q", "c", 3)]
    config = replace(CONFIG, schedule=schedule)
    assert {kind for kind, _ in list_batches(config, triples, 3)} == {"contrastive"}
    two = [*triples, Triple("B.1", "q", "d", 2)]
    found = {kind for kind, _ in list_batches(config, two, 3)}
    assert "multiple_negatives" in found


class Table(torch.nn.Module):
    """A vector of length 1 for each text, instead of a text model."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.rows = torch.nn.Parameter(torch.randn(24, 3))

    def forward(self, texts):
        places = [2 * int(text[1:]) + (text[0] == "c") for text in texts]
        return torch.nn.functional.normalize(self.rows[places])


def test_an_epoch_is_its_steps_one_by_one():
    config = replace(CONFIG, learning_rate=0.5)
    training, encoder = make_training(config), Table().eval()
    twin = copy.deepcopy(encoder)
    optimizer = torch.optim.SGD(encoder.parameters(), 1.0)
    found = training._train_epoch(encoder, optimizer, TRIPLES, 1, 7)

    rng = np.random.default_rng([7, 1])
    assert torch.initial_seed() == rng.integers(2**31)  # of what is dropped
    steps = list(training._list_batches(TRIPLES, 1, rng))
    losses, norms = defaultdict(list), []
    for number, (kind, batch) in enumerate(steps):
        loss = training._compute(twin, kind, batch)
        (gradient,) = torch.autograd.grad(loss, [twin.rows])
        norms.append(gradient.norm().item())
        # A quarter of all steps, one epoch of four, is for the rise of the rate.
        rate = 0.5 * (1 - (1 + number / len(steps)) / 4) / 0.75
        twin.rows.data -= rate * gradient / max(1.0, norms[-1])
        losses[kind].append(loss.item())
    assert min(norms) < 1 < max(norms)
    torch.testing.assert_close(encoder.rows, twin.rows, atol=1e-5, rtol=0)
    means = {kind: np.mean(of_kind) for kind, of_kind in losses.items()}
    assert found == pytest.approx({"loss": sum(means.values()), **means})
    assert encoder.training


def test_a_loss_that_is_no_number_ends_the_training():
    encoder = Table()
    encoder.rows.data[:] = torch.nan
    optimizer = torch.optim.SGD(encoder.parameters(), 1.0)
    with pytest.raises(TrainingError, match="model '0' is nan in epoch 3; lower"):
        make_training()._train_epoch(encoder, optimizer, TRIPLES, 2, 7)


def test_nothing_kept_is_nothing_learned(tmp_path):
    assert make_training(triples=[], folder=tmp_path).run(7) == []


def prepare(folder, triples=TRIPLES):
    (folder / "text_model").mkdir(parents=True)
    (folder / "text_model" / "config.json").write_text("as it came")
    TripleFile(folder / "triples.jsonl").write(triples)
    (folder / "folds.json").write_text(json.dumps({"B.1": "0"}))
    return folder


@pytest.mark.parametrize(("epochs", "triples"), [(0, TRIPLES), (4, [])])
def test_a_text_model_that_is_not_trained_is_copied(tmp_path, caplog, epochs, triples):
    prepared, out = prepare(tmp_path / "prepared", triples), tmp_path / "model"
    config = replace(CONFIG, epochs=epochs)
    assert train_models(config, prepared, out, 7) == []
    assert (out / "all" / "config.json").read_text() == "as it came"
    assert json.loads((out / "folds.json").read_text()) == {}
    assert ("no formula is judged" in caplog.text) == (epochs > 0)


@pytest.mark.parametrize("name", ["triples.jsonl", "folds.json"])
def test_what_was_not_prepared_is_named(tmp_path, name):
    prepared = prepare(tmp_path)
    (prepared / name).unlink()
    with pytest.raises(MissingInputError, match=f"Expected {name} in"):
        train_models(CONFIG, prepared, tmp_path / "model", 7)
