"""Faces of packages that load a module only when one of its names is taken.

::

    __getattr__, __dir__ = load_lazily(__name__, {"MathGraph": "math_graph"})

So ``from mathamr_kedro.graph import MathGraph`` costs no torch. Type checkers read the
same names from imports under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load_lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        homes: names to the modules below the package that define them.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)  # found once
        return value

    return find, lambda: sorted(sys.modules[package].__all__)
