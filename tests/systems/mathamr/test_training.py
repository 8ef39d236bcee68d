"""Batches and rates of the fine-tuning, without a text model."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.systems.mathamr.config import ModelConfig
from mathamr_kedro.systems.mathamr.encoder import (
    contrastive_loss,
    multiple_negatives_loss,
)
from mathamr_kedro.systems.mathamr.judged import write_triples
from mathamr_kedro.systems.mathamr.training import (
    FoldTraining,
    Triple,
    find_rate,
    train_models,
)

CONFIG = ModelConfig(batch_size=2, epochs=4)
TRIPLES = [Triple("B.1", f"q{n}", f"c{n}", n % 4) for n in range(12)]


def make_training(triples=TRIPLES):
    return FoldTraining(CONFIG, "0", triples, 5)


def test_the_rate_rises_and_falls_to_nothing():
    rates = {0: 0.0, 5: 0.5, 10: 1.0, 55: 0.5, 100: 0.0}
    assert {n: find_rate(n, 100) for n in rates} == pytest.approx(rates)


def test_losses_take_turns_and_pairs_begin_again():
    batches = make_training().draw_batches(0)
    assert [batch.is_ranking for batch in batches] == [False, True] * 6
    whole = [t for batch in batches[::2] for t in batch.triples]
    assert sorted(whole) == sorted(TRIPLES)
    pairs = [batch.triples for batch in batches[1::2]]
    assert pairs[:3] == pairs[3:]  # three batches of the six that are right, twice
    assert sorted(t for batch in pairs[:3] for t in batch) == sorted(
        t for t in TRIPLES if t.grade >= 2
    )


def test_an_epoch_is_the_same_again_and_another_one_differs():
    training = make_training()
    assert training.draw_batches(1) == training.draw_batches(1)
    assert training.draw_batches(1) != training.draw_batches(2)


def test_one_right_pair_has_nothing_to_differ_from():
    triples = [*(t for t in TRIPLES if t.grade < 2), Triple("B.1", "q", "c", 3)]
    assert not any(b.is_ranking for b in make_training(triples).draw_batches(3))
    two = [*triples, Triple("B.1", "q", "d", 2)]
    assert any(b.is_ranking for b in make_training(two).draw_batches(3))


class Table(torch.nn.Module):
    """A vector of length 1 for each text, instead of a text model."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.rows = torch.nn.Parameter(torch.randn(24, 3))

    def forward(self, texts):
        places = [2 * int(text[1:]) + (text[0] == "c") for text in texts]
        return torch.nn.functional.normalize(self.rows[places])


def test_each_batch_has_the_loss_that_it_is_for():
    training, encoder = make_training(), Table()
    first, second = training.draw_batches(0)[:2]
    for batch in (first, second):
        loss, kind = training.compute(encoder, batch)
        queries = encoder([t.query for t in batch.triples])
        candidates = encoder([t.candidate for t in batch.triples])
        if batch.is_ranking:
            numbers = torch.arange(2)
            expected = multiple_negatives_loss(queries, candidates, numbers, numbers)
        else:
            scores = torch.tensor([t.score for t in batch.triples])
            expected = contrastive_loss(queries, candidates, scores)
        assert loss.item() == pytest.approx(expected.item())
        assert kind.item() == batch.is_ranking


def test_nothing_kept_is_nothing_learned(tmp_path):
    training = make_training(triples=[])
    assert training.run(tmp_path, tmp_path, tmp_path / "0.pt") == []


def prepare(folder, triples=TRIPLES):
    (folder / "text_model").mkdir(parents=True)
    (folder / "text_model" / "config.json").write_text("as it came")
    write_triples(folder / "triples.jsonl", triples)
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
