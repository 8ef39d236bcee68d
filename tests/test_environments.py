"""Environments over one another."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.errors import ConfigurationError


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    for name, text in {
        "base/globals.yml": "root: data",
        "base/parameters.yml": "a: {x: 1, y: 1, z: '${globals:root}'}",
        "base/catalog.yml": "one: {type: A, path: '${globals:root}'}",
        "pool/globals.yml": "root: pool",
        "pool/parameters.yml": "a: {y: 2}",
        "pool/catalog.yml": "two: {type: B}",
        "modes/globals.yml": "name: modes",
        "modes/parameters.yml": "a: {w: {v: 3}}",
        "modes/catalog.yml": "two: {path: x}",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def load(conf: Path, env: str, **params) -> EnvironmentLoader:
    return EnvironmentLoader(
        conf, env, params or None, base_env="base", default_run_env="base",
        merge_strategy={"parameters": "soft", "globals": "soft"},
    )  # fmt: skip


def test_one_environment_is_read_as_kedro_does(conf):
    assert load(conf, "pool")["parameters"] == {"a": {"x": 1, "y": 2, "z": "pool"}}


def test_each_environment_stands_over_those_before(conf):
    loader = load(conf, "pool+modes")
    assert loader["globals"] == {"root": "pool", "name": "modes"}
    assert loader["parameters"] == {"a": {"x": 1, "y": 2, "z": "pool", "w": {"v": 3}}}
    assert loader["catalog"] == {
        "one": {"type": "A", "path": "pool"}, "two": {"path": "x"},
    }  # fmt: skip


def test_runtime_parameters_stand_over_all(conf):
    loader = load(conf, "pool+modes", a={"w": {"v": 9}, "y": 0})
    expected = {"x": 1, "y": 0, "z": "pool", "w": {"v": 9}}
    assert loader["parameters"] == {"a": expected}


def test_what_was_read_cannot_be_changed_from_outside(conf):
    loader = load(conf, "pool+modes")
    loader["parameters"]["a"].clear()
    assert loader["parameters"]["a"]["x"] == 1


def test_value_that_was_set_stays(conf):
    loader = load(conf, "pool+modes")
    loader["parameters"] = {"b": 1}
    assert loader["parameters"] == {"b": 1}


def test_unknown_environment_is_refused(conf):
    with pytest.raises(ConfigurationError, match="did you mean 'modes'"):
        load(conf, "pool+nodes")
