"""Training from the command line, with nothing but torch and numpy."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from mathamr_kedro.learning import distillation
from mathamr_kedro.learning.__main__ import main
from mathamr_kedro.learning.checkpoints import CHECKPOINT
from mathamr_kedro.learning.distillation import PatternTeacher
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model, save_model
from tests.kills import kill_module
from tests.learning.prepared import TEACHER_WIDTH, write_prepared

CONFIG = {
    "batch_size": 4,
    "num_epochs": 2,
    "compute": {"device": "cpu"},
    "model": {"hidden_dim": 16, "projection_dim": 8, "num_layers": 1, "num_bases": 2},
}


def write_inputs(shards, folder, config=CONFIG):
    if not (folder / "prepared").is_dir():
        write_prepared(shards, folder / "prepared")
    (folder / "config.json").write_text(json.dumps(config))
    options = {"--data": folder / "prepared", "--config": folder / "config.json"}
    options |= {"--out": folder / "out"}
    return [str(part) for option in options.items() for part in option]


def test_command_leaves_a_model_and_its_history(shards, tmp_path):
    assert main(write_inputs(shards, tmp_path)) == 0
    assert len(json.loads((tmp_path / "out" / "history.json").read_text())) == 2
    model = load_model(tmp_path / "out" / "model", ComputeConfig(device="cpu"))
    assert model.config.num_layers == 1


@pytest.mark.parametrize("missing", ["--data", "--out"])
def test_what_is_read_and_what_is_written_must_be_said(tmp_path, capsys, missing):
    given = {"--data": tmp_path, "--out": tmp_path / "out"}
    given.pop(missing)
    with pytest.raises(SystemExit):
        main([str(part) for option in given.items() for part in option])
    assert f"required: {missing}" in capsys.readouterr().err


def test_prepared_graphs_bring_their_pairs(shards, tmp_path):
    assert main(write_inputs(shards, tmp_path)) == 0
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (facts["pairs"], facts["validation_pairs"]) == (15, 5)


def test_prepared_graphs_bring_the_names_of_symbols(shards, tmp_path, monkeypatch):
    seen = []
    # Its principal axes take the cube of the width.
    monkeypatch.setattr(distillation, "_WIDTH", TEACHER_WIDTH)
    monkeypatch.setattr(
        "mathamr_kedro.learning.inputs.PatternTeacher",
        lambda *arguments: seen.append(arguments[-1]) or PatternTeacher(*arguments),
    )
    taught = CONFIG | {"distillation": {"weight": 1.0}}
    assert main(write_inputs(shards, tmp_path, taught)) == 0
    (symbols,) = seen
    variable = shards.schema.num_node_types
    assert symbols.kind_of.tolist()[-1] == variable
    assert symbols.is_layout.tolist()[:5] == [True, True, True, True, False]


def test_graphs_without_their_pairs_are_refused(shards, tmp_path, caplog):
    arguments = ["--data", str(shards.folder), "--out", str(tmp_path / "out")]
    assert main(arguments) == 1
    assert "run the stage 'preprocessing'" in caplog.text


def test_errors_are_one_line(shards, tmp_path, caplog):
    assert main(write_inputs(shards, tmp_path, {"epochs": 2})) == 1
    assert "did you mean 'num_epochs'" in caplog.text
    assert "Traceback" not in caplog.text


def test_start_gives_shape_and_weights(shards, tmp_path, caplog):
    arguments = write_inputs(shards, tmp_path)
    model = MathAMRPlus(ModelConfig(8, 4, 2, num_bases=2), shards.schema)
    save_model(tmp_path / "start", model, half=True)
    still = {"learning_rate": 0.0, "min_learning_rate": 0.0}
    write_inputs(shards, tmp_path, CONFIG | {"optimizer": still})
    assert main([*arguments, "--start", str(tmp_path / "start")]) == 0
    cpu = ComputeConfig(device="cpu")
    made, start = (
        load_model(tmp_path / name, cpu).state_dict() for name in ("out/model", "start")
    )
    assert all(torch.equal(made[name], value) for name, value in start.items())
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    assert facts["settings"]["model"]["hidden_dim"] == 8
    assert facts["pairs"] == 15
    # The same folder resumes only with the same start.
    save_model(tmp_path / "start", MathAMRPlus(model.config, shards.schema))
    assert main([*arguments, "--start", str(tmp_path / "start")]) == 1
    assert "the same training" in caplog.text


def test_an_encoder_that_reads_texts_starts_from_one_that_does_not(shards, tmp_path):
    arguments = write_inputs(shards, tmp_path)
    texts = np.random.default_rng(0).normal(size=(len(shards), 12))
    np.save(tmp_path / "prepared/texts_posts_.npy", texts.astype(np.float16))
    start = MathAMRPlus(ModelConfig(8, 4, 2, num_bases=2), shards.schema)
    save_model(tmp_path / "start", start)
    still = {"learning_rate": 0.0, "min_learning_rate": 0.0}
    changes = {"optimizer": still, "model": {"text_dim": 12}}
    write_inputs(shards, tmp_path, CONFIG | changes)
    assert main([*arguments, "--start", str(tmp_path / "start")]) == 0
    made = load_model(tmp_path / "out" / "model", ComputeConfig(device="cpu"))
    assert (made.config.text_dim, made.config.hidden_dim) == (12, 8)
    for name, value in start.state_dict().items():
        assert torch.equal(made.state_dict()[name], value)


def test_an_encoder_starts_from_one_and_leaves_out_its_edges(shards, tmp_path):
    arguments = write_inputs(
        shards, tmp_path, CONFIG | {"model": {"content_edges": False}}
    )
    start = MathAMRPlus(ModelConfig(8, 4, 2, num_bases=2), shards.schema)
    save_model(tmp_path / "start", start)
    assert main([*arguments, "--start", str(tmp_path / "start")]) == 0
    made = load_model(tmp_path / "out" / "model", ComputeConfig(device="cpu")).config
    assert (made.content_edges, made.hidden_dim) == (False, 8)


def test_start_of_other_graphs_is_refused(shards, tmp_path, caplog):
    schema = replace(shards.schema, num_node_types=99)
    save_model(tmp_path / "start", MathAMRPlus(ModelConfig(8, 4, 2), schema))
    arguments = write_inputs(shards, tmp_path)
    assert main([*arguments, "--start", str(tmp_path / "start")]) == 1
    assert "preprocessing.vocabulary.source" in caplog.text


def test_no_epochs_are_no_training(shards, tmp_path, caplog):
    assert main(write_inputs(shards, tmp_path, CONFIG | {"num_epochs": 0})) == 1
    assert "num_epochs of at least 1" in caplog.text


@pytest.mark.slow
def test_killed_process_goes_on_to_the_same_weights(shards, tmp_path):
    config = CONFIG | {"num_epochs": 3, "patience": 0, "checkpoint_seconds": 0}
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole, killed = (
        write_inputs(shards, tmp_path / name, config) for name in ("whole", "killed")
    )
    place = (f"*/{CHECKPOINT}", 7)
    kill_module("mathamr_kedro.learning", *killed, after=place)
    states = [read_end(tmp_path / "killed")]
    assert (states[0]["epoch"], states[0]["step"]) == (2, 1)
    code = (  # a process as that one: torch computes alike there
        "import json, sys; from mathamr_kedro.learning.__main__ import main\n"
        "sys.exit(max(map(main, json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, json.dumps([killed, whole])]
    subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
    states += [read_end(tmp_path / name) for name in ("whole", "killed")]
    before, expected, found = (state["tensors"]["model"] for state in states)
    assert not all(torch.equal(before[name], expected[name]) for name in expected)
    for name, value in expected.items():
        assert torch.equal(value, found[name]), name


def read_end(folder):
    return torch.load(folder / "out" / CHECKPOINT, weights_only=True)


@pytest.mark.slow
def test_nothing_but_torch_and_numpy_is_imported():
    code = (
        "import sys, mathamr_kedro.learning.__main__\n"
        "heavy = {'kedro', 'pandas', 'pyarrow', 'lxml', 'scipy', 'spacy', 'rich'}\n"
        "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_several_folders_are_learnt_from_together(shards, tmp_path):
    (tmp_path / "one").mkdir()
    write_prepared(shards, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    folders = [str(tmp_path / name) for name in ("one", "two")]
    more = ["--config", str(tmp_path / "config.json"), "--out", str(tmp_path / "out")]
    assert main(["--data", *folders, *more]) == 0
    facts = json.loads((tmp_path / "out" / "training.json").read_text())
    assert (facts["pairs"], facts["validation_pairs"]) == (30, 10)
