"""Pages of the packages; mkdocstrings fills them from the docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

LEFT_OUT = ("cli", "pipelines", "datasets")
"""Packages that have pages of their own: commands, stages, the catalog."""


def describe_packages(root: Path) -> dict[str, str]:
    """Return a page for each package with a face, with the names that it shows."""
    pages = {}
    faces = [*root.glob("*/__init__.py"), *root.glob("evaluation/*/__init__.py")]
    for face in sorted(faces):
        package = face.parent.name
        names = _list_shown(face)
        if names and package not in LEFT_OUT:
            pages[f"reference/python/{package}.md"] = "\n".join(
                _write_page(".".join(face.relative_to(root.parent).parent.parts), names)
            )
    return pages


def _list_shown(face: Path) -> list[str]:
    for item in ast.parse(face.read_text("utf-8")).body:
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(item.value)
            return found
    return []


def _write_page(module: str, names: list[str]) -> Iterator[str]:
    yield f"# {module.rpartition('.')[2]}\n"
    yield f"::: {module}"
    yield "    options:"
    yield "      members:"
    yield from (f"        - {name}" for name in names)
    yield ""
