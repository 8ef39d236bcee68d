"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import mathamr_kedro.trec as package

MODULES = [package.__name__] + [
    f"{package.__name__}.{m.name}" for m in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name):
    assert doctest.testmod(import_module(name)).failed == 0
