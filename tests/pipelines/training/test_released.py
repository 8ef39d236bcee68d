"""Encoders that are released by one collection and used by another."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
import torch
from click.testing import CliRunner

from mathamr_kedro.base.checksums import write_checksums
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, find_cause
from mathamr_kedro.cli.export import release
from mathamr_kedro.experiments.cells import CellOutputs, CellRecord, tabulate_results
from mathamr_kedro.learning.__main__ import main
from mathamr_kedro.learning.trainer import EncoderLearner
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model, save_model
from mathamr_kedro.systems.mathamr_plus.encoder import FACTS
from tests.pipelines.graph_world import PROJECT, open_catalog, run_stage
from tests.pipelines.training_world import (
    read_weights,
    run_training,
    same,
    write_world,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)


def release_from(data: Path, folder: Path, *options: str):
    arguments = [folder.name, "--env", "test", "--data-root", str(data)]
    return CliRunner().invoke(
        release.command,
        [*arguments, "--out", str(folder), *options],
        catch_exceptions=False,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    write_world(folder)
    run_training(folder, num_epochs=2)
    return folder


@pytest.fixture(scope="module")
def released(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoders") / "mine"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        release_from(trained, folder)
    return folder


@pytest.fixture(scope="module")
def other(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection without pairs, numbered by the released encoder."""
    folder = tmp_path_factory.mktemp("other")
    write_world(folder, has_pairs=False, **numbered_by(released))
    return folder


def numbered_by(encoder: Path) -> dict:
    return {"preprocessing": {"vocabulary": {"source": str(encoder)}}}


def start(data: Path, encoder: Path, **changes):
    settings = {"num_epochs": 0, "start_from": str(encoder)} | changes
    settings |= {"compute": {"device": "cpu"}, "patience": 0}
    return run_stage(data, "training", training=settings, **numbered_by(encoder))


def test_folder_holds_all_that_others_need(trained: Path, released: Path) -> None:
    assert sorted(file.name for file in released.iterdir()) == [
        "README.md", "graph.json", "model.json", "relations.json", "seals.json",
        "types.json", "weights.pt",
    ]  # fmt: skip
    weights = torch.load(released / "weights.pt", weights_only=True)
    original = read_weights(open_catalog(trained))
    assert same(weights, {name: value.half() for name, value in original.items()})


def test_card_tells_of_data_and_training(trained: Path, released: Path) -> None:
    card = (released / "README.md").read_text()
    record = open_catalog(trained).load("mathamr_plus.model").facts
    for line in (
        "# mine\n",
        "| hidden_dim | 16 |",
        "| training pairs | 22 |",
        "| environment | test |",
        "| parser | builtin |",
        f"| best epoch | {record['best_epoch']} |",
        f"| validation loss | {record['best_loss']:.4f} |",
        '"learning_rate": 0.01',
        "not evaluated",
        "## Licence",
        "## Limits",
    ):
        assert line in card


def test_card_shows_the_scores_of_these_weights(
    trained: Path, released: Path, tmp_path: Path
) -> None:
    catalog = open_catalog(trained)
    encoder = catalog.load("mathamr_plus.model")
    means = {"mean": 0.25, "floor": 0.125, "ceiling": 1.0, "topics": 7}
    key = {"task": 1, "topic_set": "2020", "system": "ours", "measure": "MAP"}
    catalog.save(
        "experiment_cells",
        CellOutputs(
            CellRecord("k", "c", 0, {}, encoder.facts, "2026-01-01", {}),
            pa.table({"score": [0.25]}),
            tabulate_results([]),
            [key | means],
            {},
            [],
        ),
    )
    table = "| floor | 0.1250 |\n| ours | 0.2500 |\n| ceiling | 1.0000 |"
    folder = encoder.folder
    # Trained elsewhere, and evaluated here as a released encoder: the same weights.
    copy = shutil.copytree(folder, tmp_path / "copy")
    for number, source in enumerate((folder, copy, released)):
        out = tmp_path / f"out-{number}"
        release_from(trained, out, "--model", str(source))
        assert table in (out / "README.md").read_text()
    model = load_model(encoder.model_folder)
    with torch.no_grad():
        model.nodes.content += 1
    save_model(copy / encoder.model_folder.relative_to(folder), model)
    release_from(trained, out, "--model", str(copy), "--replace")
    assert table not in (out / "README.md").read_text()


def test_model_of_other_graphs_is_not_released(trained: Path, tmp_path: Path) -> None:
    catalog = open_catalog(trained)
    model = catalog.load("mathamr_plus.model").network
    schema = replace(model.schema, num_node_types=7)
    save_model(tmp_path / "small", MathAMRPlus(model.config, schema))
    with pytest.raises(ConfigurationError, match="num_node_types=7"):
        release_from(trained, tmp_path / "out", "--model", str(tmp_path / "small"))


def test_edited_card_is_not_lost(trained: Path, released: Path) -> None:
    with pytest.raises(ConfigurationError, match="--replace"):
        release_from(trained, released)


def test_encoder_is_used_without_pairs(
    trained: Path, released: Path, other: Path, monkeypatch
) -> None:
    monkeypatch.setattr(EncoderLearner, "__init__", None)
    catalog = start(other, released, distillation={"document_weight": 1.0})
    record = catalog.load("mathamr_plus.model").facts
    assert record["training_pairs"] == record["best_epoch"] == 0
    original = read_weights(open_catalog(trained))
    halves = {name: value.half().float() for name, value in original.items()}
    assert same(read_weights(catalog), halves)
    assert catalog.load("training_history") == []
    assert "nothing was trained" in catalog.load("training_report")
    assert run_stage(other, "indexing", **numbered_by(released)).exists(
        "mathamr_plus.index"
    )


def test_encoder_that_was_not_trained_here_is_not_released(
    trained: Path, released: Path, tmp_path: Path
) -> None:
    facts = open_catalog(trained).load("mathamr_plus.model").model / FACTS
    before = facts.read_text()
    copied = {"best_epoch": 0, "start_from": str(released)}
    facts.write_text(json.dumps(json.loads(before) | copied))
    try:
        with pytest.raises(ConfigurationError, match="released already"):
            release_from(trained, tmp_path / "again")
    finally:
        facts.write_text(before)


def test_training_starts_from_the_weights_and_shape(
    trained: Path, released: Path
) -> None:
    run_stage(trained, "preprocessing", **numbered_by(released))
    still = {"optimizer": {"learning_rate": 0.0, "min_learning_rate": 0.0}}
    shape = {"model": {"hidden_dim": 48}}  # of conf, not of the released encoder
    catalog = start(trained, released, num_epochs=1, batch_size=8, **still, **shape)
    assert catalog.load("mathamr_plus.model").facts["training_pairs"] == 22
    assert same(read_weights(catalog), load_model(released).state_dict())
    assert f"Started from the weights of `{released}`" in catalog.load(
        "training_report"
    )


def test_other_weights_under_the_name_are_another_encoder(
    released: Path, other: Path
) -> None:
    first = start(other, released).load("mathamr_plus.model").facts
    assert start(other, released).load("mathamr_plus.model").facts == first
    content = (released / "weights.pt").read_bytes()
    model = load_model(released)
    try:
        with torch.no_grad():
            model.nodes.content += 1
        save_model(released, model, half=True)
        second = start(other, released).load("mathamr_plus.model").facts
    finally:
        (released / "weights.pt").write_bytes(content)
    assert first["folder"] != second["folder"]


def test_other_labels_under_the_name_are_numbered_anew(
    released: Path, other: Path
) -> None:
    def load():
        return open_catalog(other).load("mathamr_plus.prepared")

    before = load()
    file = released / "types.json"
    content = file.read_text()
    try:
        file.write_text(content.replace('"prime"', '"swan"'))
        write_checksums(released)
        run_stage(other, "preprocessing", **numbered_by(released))
        assert "swan" in load().types.names
        assert load().made_from != before.made_from
    finally:
        file.write_text(content)
        write_checksums(released)
        run_stage(other, "preprocessing", **numbered_by(released))
    assert load().made_from == before.made_from


def test_graphs_with_numbers_of_their_own_are_refused(
    trained: Path, released: Path, tmp_path: Path, caplog
) -> None:
    types = json.loads((released / "types.json").read_text())
    types[-1], types[-2] = types[-2], types[-1]  # as many, so the shape tells nothing
    swapped = released.with_name("swapped")
    swapped.mkdir()
    for file in released.iterdir():
        (swapped / file.name).write_bytes(file.read_bytes())
    (swapped / "types.json").write_text(json.dumps(types))
    write_checksums(swapped)
    with pytest.raises(Exception, match=r"preprocessing\.vocabulary\.source") as caught:
        run_training(trained, start_from=str(swapped), num_epochs=0)
    assert isinstance(find_cause(caught.value), ConfigurationError)
    # And without Kedro.
    graphs = open_catalog(trained).load("mathamr_plus.prepared")
    options = {"--data": graphs.folder, "--out": tmp_path / "out", "--start": swapped}
    assert main([str(part) for option in options.items() for part in option]) == 1
    assert "Expected graphs numbered by the vocabularies" in caplog.text


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"num_epochs": 0}, ConfigurationError, "start_from"),
        ({"start_from": "nobody"}, MissingInputError, "got 'nobody'"),
    ],
)
def test_bad_starts_are_named(trained: Path, changes, error, message) -> None:
    with pytest.raises(Exception, match=message) as caught:
        run_training(trained, **changes)
    assert isinstance(find_cause(caught.value), error)


def test_before_an_encoder_is_trained_there_are_no_scores(tmp_path: Path) -> None:
    catalog = {"mathamr_plus.model": SimpleNamespace(exists=lambda: False)}
    assert release._find_metrics(catalog, tmp_path) == []
