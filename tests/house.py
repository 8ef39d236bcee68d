"""The source tree as data: modules, public names, who imports what from where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
ROOT = "mathamr_kedro"


@dataclass
class Module:
    """One file."""

    name: str
    path: Path
    tree: ast.Module
    imports: list[tuple[str, str | None]] = field(default_factory=list)
    """(module, name) of each import; no name where a module itself is imported."""

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def is_face(self) -> bool:
        """Whether it only shows what other modules define."""
        kinds = (ast.FunctionDef, ast.ClassDef)
        own = {item.name for item in self.tree.body if isinstance(item, kinds)}
        return own <= {"__getattr__", "__dir__"}

    @property
    def public_names(self) -> list[str]:
        """Functions and classes without a leading underscore."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return [
            item.name
            for item in self.tree.body
            if isinstance(item, kinds) and not item.name.startswith("_")
        ]


def read_modules() -> dict[str, Module]:
    """Read every module below ``src``."""
    modules = {}
    for path in sorted((SOURCE / ROOT).rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        modules[name] = Module(name, path, ast.parse(path.read_text("utf-8")))
    for module in modules.values():
        module.imports = list(_list_imports(module.tree, modules))
    return modules


def _list_imports(
    tree: ast.Module, modules: dict[str, Module]
) -> Iterator[tuple[str, str | None]]:
    named: dict[str, str] = {}
    for item in ast.walk(tree):
        if isinstance(item, ast.Import):
            yield from ((a.name, None) for a in item.names if a.name in modules)
        elif isinstance(item, ast.ImportFrom) and item.module in modules:
            for alias in item.names:
                inner = f"{item.module}.{alias.name}"
                if inner in modules:
                    named[alias.asname or alias.name] = inner
                yield (inner, None) if inner in modules else (item.module, alias.name)
        elif isinstance(item, ast.Constant) and isinstance(item.value, str):
            # Faces that load lazily, commands, and child processes name modules.
            if item.value in modules and item.value != ROOT:
                yield item.value, None
    yield from _list_attributes(tree, named)


def _list_attributes(
    tree: ast.Module, named: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield what is taken from modules as ``module.name``."""
    for item in ast.walk(tree):
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name):
            if item.value.id in named:
                yield named[item.value.id], item.attr


def find_home(modules: dict[str, Module], module: str, name: str) -> str:
    """Return the module that defines a name, seen through faces."""
    for source, imported in modules[module].imports:
        if imported == name and source != module:
            return find_home(modules, source, name)
    return module


def find_reached(modules: dict[str, Module], starts: set[str]) -> set[str]:
    """Return what the starts import, a face counting for the names taken from it."""
    reached: set[str] = set()
    waiting = sorted(starts)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        for source, imported in modules[name].imports:
            # A package imported as a whole stands for its face alone.
            home = find_home(modules, source, imported) if imported else source
            if not (modules[name].is_face and home.startswith(f"{name}.")):
                waiting.append(home)
    return reached
