"""The examples in the docstrings of the package."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import mathamr_kedro.formula

MODULES = [
    module.name
    for module in pkgutil.walk_packages(
        mathamr_kedro.formula.__path__, "mathamr_kedro.formula."
    )
]


@pytest.mark.parametrize("name", ["mathamr_kedro.formula", *MODULES])
def test_examples_are_true(name):
    assert doctest.testmod(import_module(name)).failed == 0
