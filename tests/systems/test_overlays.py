"""Overlays of systems that learn name every parameter, so that it can be seen."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import yaml

from mathamr_kedro.systems import read_system
from tests.conftest import PROJECT


@pytest.mark.parametrize("name", ["formula_rgcn", "ssemb", "marf", "mathamr"])
def test_an_overlay_names_every_parameter(name: str) -> None:
    path = PROJECT / f"conf/overlays/{name}.yml"
    stated = yaml.safe_load(path.read_text("utf-8"))["parameters"]["systems"][name]
    known = asdict(read_system(name, stated).config)
    assert {part: stated[part].keys() for part in known} == {
        part: values.keys() for part, values in known.items()
    }


@pytest.mark.parametrize("name", ["formula_rgcn", "marf"])
def test_an_overlay_states_the_defaults(name: str) -> None:
    path = PROJECT / f"conf/overlays/{name}.yml"
    stated = yaml.safe_load(path.read_text("utf-8"))["parameters"]["systems"][name]
    assert read_system(name, stated).config == read_system(name, {}).config
