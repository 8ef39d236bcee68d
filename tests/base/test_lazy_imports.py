"""Packages load a module when one of its names is used, and once."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from mathamr_kedro.base.lazy_imports import load_lazily

SOURCE = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from package.home import Thing, Other
"""


def test_names_are_loaded_when_used_and_found_once(monkeypatch, tmp_path):
    package, home = ModuleType("package"), ModuleType("package.home")
    package.__all__, home.Thing = ["Thing", "Other"], object()
    monkeypatch.setitem(sys.modules, "package", package)
    monkeypatch.setitem(sys.modules, "package.home", home)
    (tmp_path / "__init__.py").write_text(SOURCE)
    find, list_names = load_lazily("package", str(tmp_path / "__init__.py"))
    assert list_names() == ["Other", "Thing"]
    assert not hasattr(package, "Thing")
    assert find("Thing") is home.Thing is package.Thing
    with pytest.raises(AttributeError, match="module 'package' has no attribute 'T"):
        find("Thnig")
