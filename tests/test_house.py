"""House rules of the source tree: each a number or a list that anybody can check."""

from __future__ import annotations

import ast
import re

import pytest

from mathamr_kedro.project.checks import STAGES
from mathamr_kedro.systems import LEARNING
from tests.conftest import PROJECT
from tests.house import ROOT, Module, find_home, find_reached, read_modules


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return read_modules()


def test_private_names_stay_in_their_module(modules):
    taken = [
        f"{module.name} takes {name} from {source}"
        for module in modules.values()
        for source, name in module.imports
        if name is not None and name.startswith("_") and not name.startswith("__")
    ]
    assert taken == []


def test_every_package_has_a_face(modules):
    """A docstring, and ``__all__``."""
    needs_none = {f"{ROOT}{p}" for p in ("", ".base", ".evaluation", ".pipelines")}
    needs_none |= {f"{ROOT}.pipelines.{stage}" for stage in STAGES}
    needs_none |= {f"{ROOT}.systems.{name}" for name in LEARNING}  # found by name
    for name, module in modules.items():
        if not module.is_package:
            continue
        assert ast.get_docstring(module.tree), name
        assigned = {
            ast.unparse(item.targets[0])
            for item in module.tree.body
            if isinstance(item, ast.Assign)
        }
        assert "__all__" in assigned or name in needs_none, name


def test_everything_is_reached_from_a_command_a_pipeline_or_the_catalog(modules):
    starts = {
        f"{ROOT}.{name}"
        for name in ("settings", "pipeline_registry", "project.hooks", "project.search")
        if f"{ROOT}.{name}" in modules
    }
    ends = (".__main__", ".pipeline")
    starts |= {n for n in modules if n.endswith(ends)}
    starts |= {f"{ROOT}.pipelines.{stage}" for stage in STAGES}  # their parameters
    starts |= {n for n in modules if n.startswith(f"{ROOT}.cli")}
    starts |= {f"{ROOT}.systems.{home.split(':')[0]}" for home in LEARNING.values()}
    starts.add(f"{ROOT}.systems.mathamr_plus.system")  # found by name, too
    papers = {f"{ROOT}.systems.{name}.search" for name in LEARNING}
    starts |= papers & modules.keys()
    for file in (PROJECT / "conf").rglob("*.yml"):
        for name in re.findall(rf"{ROOT}(?:\.\w+)+", file.read_text(encoding="utf-8")):
            module, _, item = name.rpartition(".")
            if module in modules:
                starts.add(find_home(modules, module, item))
    reached = find_reached(modules, starts)
    # Packages' names, and modules of only constants, are reached with what they show.
    lost = {n for n, m in modules.items() if n not in reached and not m.is_face}
    assert lost == {f"{ROOT}.{name}" for name in REACHED_OTHERWISE}


REACHED_OTHERWISE = {
    "amr.transition.check_environment": "run by build_environment.sh",
    "amr.transition.scatter": "replaces torch_scatter in the parser's environment",
    "amr.transition.worker": "run by the Python of the parser's environment",
    "integrations.ir_collection": "for users of ir_datasets",
    "integrations.pyg_dataset": "for users of PyTorch Geometric",
    "integrations.terrier": "for users of PyTerrier",
    "base.workers.child": "run by the pool of processes",
    "vectors.edge": "found by the name of the engine",
}
