"""The training stage on a planted collection: pairs share two of eight words."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from kedro.framework.hooks import hook_impl

from mathamr_kedro.base.errors import ConfigurationError, find_cause
from mathamr_kedro.learning.checkpoints import CHECKPOINT, MODEL
from mathamr_kedro.learning.trainer import EncoderLearner
from tests.pipelines.graph_world import watch_stage
from tests.pipelines.training_world import (
    SETTINGS,
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
    encoder = catalog.load("mathamr_plus.model")
    return SimpleNamespace(
        catalog=catalog,
        folder=encoder.folder,
        record=encoder.facts,
        history=catalog.load("training_history"),
        weights=read_weights(catalog),
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
    curve = trained.folder / "model/curve.png"
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
    assert trained.folder.is_dir()


@pytest.mark.slow
def test_killed_training_ends_with_the_same_weights(
    data: Path, trained, monkeypatch
) -> None:
    folder, whole = trained.folder, trained.folder.with_name("whole")
    folder.rename(whole)
    original = EncoderLearner.describe_epoch

    def die(self, epoch, measures, seconds):
        if epoch == 3:
            raise KeyboardInterrupt
        return original(self, epoch, measures, seconds)

    monkeypatch.setattr(EncoderLearner, "describe_epoch", die)
    with pytest.raises(KeyboardInterrupt):
        run_training(data)
    assert (folder / "model" / CHECKPOINT).is_file()
    monkeypatch.setattr(EncoderLearner, "describe_epoch", original)
    assert same(read_weights(run_training(data)), trained.weights)
    assert (whole / "model" / MODEL).is_dir()


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


class Watch:
    """Notes what happens, and what a training has written by then."""

    def __init__(self, models: Path) -> None:
        self.models, self.events = models, []

    def note(self, event: str) -> None:
        self.events.append((event, self.count_epochs()))

    def count_epochs(self) -> int:
        """Of the histories below the models."""
        files = self.models.glob("mathamr_plus/*/history.json")
        return max((len(json.loads(file.read_text())) for file in files), default=0)

    @hook_impl
    def after_node_run(self, node) -> None:
        self.note(f"ran {node.name}")

    @hook_impl
    def before_dataset_saved(self, dataset_name: str) -> None:
        self.note(f"saving {dataset_name}")

    @hook_impl
    def after_dataset_saved(self, dataset_name: str) -> None:
        self.note(f"saved {dataset_name}")


def test_the_node_trains_and_its_dataset_only_writes(
    tmp_path: Path, monkeypatch
) -> None:
    write_world(tmp_path)
    watch = Watch(tmp_path / "06_models/systems")
    run_step = EncoderLearner.run_step

    def tell(self, *arguments):
        watch.note("step")
        return run_step(self, *arguments)

    monkeypatch.setattr(EncoderLearner, "run_step", tell)
    watch_stage(tmp_path, "training", watch, training=SETTINGS | {"num_epochs": 2})
    events = [event for event, _ in watch.events]
    fitted = events.index("ran training.mathamr_plus.fit")
    assert events.count("step") == fitted > 0  # all of them before it
    assert watch.events[fitted:][:3] == [
        ("ran training.mathamr_plus.fit", 2),
        ("saving mathamr_plus.model", 2),
        ("saved mathamr_plus.model", 2),
    ]


def test_given_document_vectors_are_taken(data: Path, trained) -> None:
    rows = len(trained.catalog.load("mathamr_plus.model").graphs.posts)
    np.save(data / "given.npy", np.random.default_rng(0).normal(size=(rows, 5)))
    given = {"document_weight": 0.5, "document_vectors": str(data / "given.npy")}
    taught = read_weights(run_training(data, distillation=given, num_epochs=1))
    assert not same(read_weights(run_training(data, num_epochs=1)), taught)


def test_documents_without_their_encoder_are_refused(
    data: Path, trained, monkeypatch
) -> None:
    monkeypatch.setattr("mathamr_kedro.text.models.find_spec", lambda name: None)
    texts = {"distillation": {"document_weight": 0.5}, "num_epochs": 1}
    with pytest.raises(Exception, match="package sentence-transformers") as caught:
        run_training(data, **texts)
    assert isinstance(find_cause(caught.value), ConfigurationError)
