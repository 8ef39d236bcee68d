"""The training stage on a planted collection: pairs share two of eight words."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, find_cause
from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.learning.checkpoints import CHECKPOINT, MODEL
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.learning.trainer import EncoderLearner
from mathamr_kedro.pipelines.training.nodes import write_document_vectors
from tests.pipelines.training_world import (
    read_weights,
    run_training,
    same,
    write_world,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_world(folder)
    return folder


@pytest.fixture(scope="module")
def trained(data: Path):
    catalog = run_training(data)
    record, history = (
        catalog.load("mathamr_plus.model").facts,
        catalog.load("training_history"),
    )
    return SimpleNamespace(
        catalog=catalog, record=record, history=history, weights=read_weights(catalog)
    )


def test_validation_loss_falls(trained) -> None:
    losses = [record["validation_loss"] for record in trained.history]
    assert len(losses) == 6
    assert trained.record["best_loss"] == min(losses) < 0.9 * losses[0]
    assert trained.record["training_pairs"] == 22


def test_report_and_figure_tell_of_each_epoch(trained) -> None:
    report = trained.catalog.load("training_report")
    assert report.count("\n| ") == 1 + len(trained.history)  # with the head
    assert trained.catalog.exists("training_figure")


def test_curve_is_drawn_while_it_grows(data: Path, trained) -> None:
    (curve,) = (data / "06_models/encoders").glob("*/curve.png")
    assert curve.read_bytes().startswith(b"\x89PNG")


def test_encoder_opens_in_a_notebook(trained) -> None:
    encoder = trained.catalog.load("mathamr_plus.model")
    assert encoder.config.hidden_dim == 16
    assert encoder.history == trained.history
    graphs = encoder.graphs.posts
    vectors = encoder(graphs.graph(graphs.position("1")))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors.shape[1] == encoder.config.projection_dim


def test_second_run_trains_nothing(data: Path, trained, monkeypatch) -> None:
    monkeypatch.setattr(EncoderLearner, "run_step", None)
    again = run_training(data)
    assert again.load("mathamr_plus.model").facts == trained.record


def test_changed_parameter_trains_anew(data: Path, trained) -> None:
    changed = run_training(data, seed=5, num_epochs=1)
    assert changed.load("mathamr_plus.model").folder.name != trained.record["folder"]
    assert not same(read_weights(changed), trained.weights)
    assert (data / "06_models/encoders" / trained.record["folder"] / MODEL).is_dir()


@pytest.mark.slow
def test_killed_training_ends_with_the_same_weights(
    data: Path, trained, monkeypatch
) -> None:
    folder = data / "06_models/encoders" / trained.record["folder"]
    whole = folder.rename(folder.with_name("whole"))
    original = EncoderLearner.describe_epoch

    def die(self, epoch, measures, seconds):
        if epoch == 3:
            raise KeyboardInterrupt
        return original(self, epoch, measures, seconds)

    monkeypatch.setattr(EncoderLearner, "describe_epoch", die)
    with pytest.raises(KeyboardInterrupt):
        run_training(data)
    assert (folder / CHECKPOINT).is_file()
    monkeypatch.setattr(EncoderLearner, "describe_epoch", original)
    assert same(read_weights(run_training(data)), trained.weights)
    assert (whole / MODEL).is_dir()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 3}, "did you mean 'num_epochs'"),
        ({"batch_size": 1}, "batch_size of at least 2"),
        ({"loss": {"objective": "all"}}, "Expected one of"),
    ],
)
def test_bad_parameters_are_named(data: Path, changes, message) -> None:
    with pytest.raises(ConfigurationError, match=message):
        run_training(data, **changes)


CHECKS = "mathamr_kedro.learning.stage"
"""Where a training is checked before anything runs."""


class FakeSentences:
    """Vectors that count letters."""

    def __init__(self, folder) -> None:
        pass

    def encode(self, texts):
        letters = "abcdefghijklmnopqrstuvwxyz"
        return np.array([[t.count(c) for c in letters] for t in texts], np.float32)


class FakeDocuments(FakeSentences):
    """The same on some device; tells what it was asked."""

    told: ClassVar[list] = []

    def __init__(self, folder, device) -> None:
        self.told.append(device)

    def encode(self, texts):
        self.told.append(list(texts))
        return super().encode(texts)


TEXTS = {"distillation": {"document_weight": 0.5}, "num_epochs": 1}


@pytest.fixture
def documents(monkeypatch) -> list:
    home = "mathamr_kedro.pipelines.training.nodes"
    monkeypatch.setattr(f"{home}.SentenceEncoder", FakeDocuments)
    monkeypatch.setattr(f"{home}.find_text_model", lambda name: None)
    monkeypatch.setattr(f"{CHECKS}.explain_absence", lambda name: None)
    # Several batches of the few texts.
    monkeypatch.setattr("mathamr_kedro.graph.shards.writer._AT_ONCE", 10)
    monkeypatch.setattr(FakeDocuments, "told", [])
    return FakeDocuments.told


def test_document_vectors_are_those_of_the_texts(data: Path, trained, documents):
    catalog = run_training(data, **TEXTS)
    assert documents[0] == "cpu"
    assert [len(batch) for batch in documents[1:]] == [10, 10, 10, 10, 8]
    folder = (
        data / "06_models/encoders" / catalog.load("mathamr_plus.model").folder.name
    )
    vectors = np.load(folder / "document_vectors.npy")
    assert vectors.dtype == np.float16
    graphs = open_graphs(catalog)
    posts = {p.post_id: p.text for p in catalog.load("posts").records()}
    texts = [posts[key] for key in graphs.posts.keys]
    expected = FakeDocuments(None, "cpu").encode(texts)
    assert np.array_equal(vectors, expected)
    weights = read_weights(catalog)
    plain = run_training(data, num_epochs=1)
    assert not same(read_weights(plain), weights)


def open_graphs(catalog):
    return catalog.load("mathamr_plus.model").graphs


def test_posts_of_no_pair_are_not_encoded(data: Path, trained, documents):
    whole = open_graphs(trained.catalog)

    class Few:
        posts, keys = whole.posts, whole.posts.keys
        train_pairs, validation_pairs = whole.train_pairs[:3], whole.validation_pairs

    table, config = trained.catalog.load("posts"), TrainingStageConfig.read(TEXTS)
    write_document_vectors(data / "few.npy", config, Few, table)
    used = {*Few.train_pairs.flatten(), *Few.validation_pairs.flatten()}
    asked = [text for batch in documents[1:] for text in batch]
    assert len(asked) == len(used) < len(whole.posts)
    known = np.load(data / "few.npy").any(1)
    assert set(np.flatnonzero(known)) == used


def test_texts_are_encoded_with_their_latex(data: Path, trained, documents):
    whole = open_graphs(trained.catalog)
    mention = FormulaMention("FORMULA_0", "17", "4", "y^2", start=4, end=13)
    heads = ("question", None, None, None, None, None, (), "")
    post = Post("1", *heads, "why FORMULA_0?", (mention,))
    table = SimpleNamespace(records=lambda: iter([post]))
    config = TrainingStageConfig.read(TEXTS)
    write_document_vectors(data / "latex.npy", config, whole, table)
    assert documents == ["cpu", ["why $y^2$?"]]


def test_texts_are_encoded_once(data: Path, trained, documents) -> None:
    first = run_training(data, **TEXTS).load("mathamr_plus.model").facts
    documents.clear()
    again = run_training(data, **TEXTS)
    assert again.load("mathamr_plus.model").facts == first
    assert documents == []


@pytest.mark.slow
def test_killed_encoding_goes_on(data: Path, trained, documents, monkeypatch):
    once = TEXTS | {"seed": 17}
    original = FakeDocuments.encode

    def die(self, texts):
        if len(documents) == 3:
            raise KeyboardInterrupt
        return original(self, texts)

    monkeypatch.setattr(FakeDocuments, "encode", die)
    with pytest.raises(KeyboardInterrupt):
        run_training(data, **once)
    monkeypatch.setattr(FakeDocuments, "encode", original)
    documents.clear()
    folder = run_training(data, **once).load("mathamr_plus.model").folder
    assert sum(map(len, documents[1:])) == 48 - 20
    vectors = np.load(folder / "document_vectors.npy")
    assert vectors.any(1).all()


def test_given_document_vectors_are_taken(data: Path, trained, documents) -> None:
    rows = len(open_graphs(trained.catalog).posts)
    np.save(data / "given.npy", np.random.default_rng(0).normal(size=(rows, 5)))
    given = {"document_weight": 0.5, "document_vectors": str(data / "given.npy")}
    run_training(data, distillation=given, num_epochs=1)
    assert documents == []


def test_documents_without_posts_are_refused(data: Path, trained, documents) -> None:
    file = data / "02_intermediate/posts/_shards.json"
    content = file.read_text()
    file.write_text(json.dumps(json.loads(content) | {"complete": False}))
    try:
        told = r"posts is missing; run .*ingestion"
        with pytest.raises(Exception, match=told) as caught:
            run_training(data, **TEXTS)
        assert isinstance(find_cause(caught.value), MissingInputError)
        run_training(data)  # who needs no posts does not ask for them
    finally:
        file.write_text(content)


def test_documents_without_their_encoder_are_refused(
    data: Path, trained, monkeypatch
) -> None:
    monkeypatch.setattr("mathamr_kedro.text.models.find_spec", lambda name: None)
    with pytest.raises(Exception, match="package sentence-transformers") as caught:
        run_training(data, **TEXTS)
    assert isinstance(find_cause(caught.value), ConfigurationError)
