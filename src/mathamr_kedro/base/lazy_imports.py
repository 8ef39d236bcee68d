"""Packages that load a module only when one of its names is used.

::

    if TYPE_CHECKING:
        from mathamr_kedro.graph.math_graph import MathGraph

    __all__ = ["MathGraph"]
    __getattr__, __dir__ = load_lazily(__name__, __file__)

So ``from mathamr_kedro.graph import MathGraph`` does not load torch. Type checkers and
this module read the same imports.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def load_lazily(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        file: its ``__init__.py``; the imports under ``TYPE_CHECKING`` say which module
            defines which name.
    """
    modules = {
        alias.name: statement.module
        for block in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }

    def find(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)  # found once
        return value

    return find, lambda: sorted(sys.modules[package].__all__)
