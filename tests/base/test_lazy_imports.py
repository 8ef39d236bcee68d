"""Faces of packages load a module when one of its names is taken, and once."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from mathamr_kedro.base.lazy_imports import load_lazily


def test_names_are_loaded_when_taken_and_found_once(monkeypatch):
    package, home = ModuleType("face"), ModuleType("face.home")
    package.__all__, home.Thing = ["Thing", "Other"], object()
    monkeypatch.setitem(sys.modules, "face", package)
    monkeypatch.setitem(sys.modules, "face.home", home)
    find, list_names = load_lazily("face", {"Thing": "home"})
    assert list_names() == ["Other", "Thing"]
    assert not hasattr(package, "Thing")
    assert find("Thing") is home.Thing is package.Thing
    with pytest.raises(AttributeError, match="module 'face' has no attribute 'Thnig'"):
        find("Thnig")
