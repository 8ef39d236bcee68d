"""Domain packages import without Kedro; the GPU side needs only torch and numpy.

Every submodule is imported, all of them in one new process per test: a package's face
alone would not tell what its modules need.
"""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import mathamr_kedro

ROOT = Path(mathamr_kedro.__file__).parent
KEDRO_SIDE = {
    "__main__", "cli", "datasets", "pipeline_registry", "pipelines", "project",
    "serve", "settings",
}  # fmt: skip
"""The only modules that may know Kedro; all others are the domain."""

OPTIONAL = {
    "triton": "triton", "terrier": "pyterrier", "ir_collection": "ir_datasets",
}  # fmt: skip
"""Parts of names of modules, and the package that these are about."""

BARE_GPU = ("model", "learning")
BARE_NEEDS = ("torch", "torch_geometric", "numpy")

IMPORT_ALL = """
import importlib, json, sys

class Refuse:
    def __init__(self, refused, allowed):
        self.refused, self.allowed = set(refused), allowed and set(allowed)

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        listed = self.allowed is None or top in self.allowed
        if top in self.refused or not listed and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r} (hidden)", name=name)

modules, refused, allowed = json.loads(sys.argv[1])
sys.meta_path.insert(0, Refuse(refused, allowed))
failed = {}
for name in modules:
    try:
        importlib.import_module(name)
    except Exception as exc:
        failed[name] = f"{type(exc).__name__}: {exc}"
print(json.dumps(failed))
"""


def _list_modules(*names: str) -> list[str]:
    """Names of modules and packages of ours, and of all modules inside.

    Modules that are about an optional package are exempt where it is missing.
    """
    files = [file for n in names for file in (ROOT / n).rglob("*.py")]
    files += [ROOT / f"{n}.py" for n in names if (ROOT / f"{n}.py").is_file()]
    for part, package in OPTIONAL.items():
        if find_spec(package) is None:
            files = [file for file in files if part not in file.name]
    paths = [f.relative_to(ROOT.parent).with_suffix("") for f in files]
    return sorted(".".join(path.parts).removesuffix(".__init__") for path in paths)


def _import_all(
    modules: list[str], refused: list[str], allowed: list[str] | None = None
) -> dict[str, str]:
    """Import modules in a new process; return why those failed that did."""
    arguments = json.dumps([modules, refused, allowed])
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT_ALL, arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found: dict[str, str] = json.loads(run.stdout.splitlines()[-1])
    return found


def _find_closure(names: tuple[str, ...]) -> set[str]:
    """Top-level modules of distributions and of all that they require."""
    modules_of: dict[str, set[str]] = {}
    for module, distributions in metadata.packages_distributions().items():
        for distribution in distributions:
            modules_of.setdefault(_normalise(distribution), set()).add(module)
    waiting, seen = [_normalise(name) for name in names], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for another platform
            continue
        waiting += [
            _normalise(re.split(r"[^\w.-]", text, maxsplit=1)[0])
            for text in required
            if "extra ==" not in text
        ]
    return set().union(*(modules_of.get(name, set()) for name in seen))


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.slow
def test_domain_modules_import_without_kedro():
    present = {m.name for m in pkgutil.iter_modules(mathamr_kedro.__path__)}
    assert present >= KEDRO_SIDE
    modules = _list_modules(*sorted(present - KEDRO_SIDE))
    assert len(modules) > 200
    refused = [m for m in metadata.packages_distributions() if m.startswith("kedro")]
    assert _import_all(modules, refused) == {}


def test_encoder_modules_import_on_a_bare_gpu_machine():
    allowed = _find_closure(BARE_NEEDS) | {"mathamr_kedro"}
    assert {"torch", "numpy", "torch_geometric"} <= allowed
    assert not {"kedro", "pandas", "penman", "scipy", "lxml"} & allowed
    failed = _import_all(_list_modules(*BARE_GPU), [], sorted(allowed))
    assert failed == {}


def test_hidden_packages_are_not_found():
    failed = _import_all(["mathamr_kedro.project.hooks", "numpy"], ["kedro"])
    assert list(failed) == ["mathamr_kedro.project.hooks"]
    failed = _import_all(["mathamr_kedro.base.errors", "yaml"], [], ["mathamr_kedro"])
    assert list(failed) == ["yaml"]
