"""House rules of the source tree: each a number or a list that anybody can check."""

from __future__ import annotations

import ast
import re

import pytest

from mathamr_kedro.systems import LEARNING
from tests.conftest import PROJECT
from tests.house import ROOT, find_home, find_reached, read_modules

MODULES = read_modules()


def test_private_names_stay_in_their_module():
    taken = [
        f"{module.name} takes {name} from {source}"
        for module in MODULES.values()
        for source, name in module.imports
        if name is not None and name.startswith("_") and not name.startswith("__")
    ]
    assert taken == []


@pytest.mark.parametrize(
    "package", sorted(m.name for m in MODULES.values() if m.is_package)
)
def test_every_package_has_a_face(package):
    """A docstring, and ``__all__`` in order with names that are there."""
    tree = MODULES[package].tree
    assert ast.get_docstring(tree)
    listed = [
        ast.literal_eval(item.value)
        for item in tree.body
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "__all__"
    ]
    needs_none = package in {
        f"{ROOT}{p}" for p in ("", ".base", ".evaluation", ".pipelines")
    }
    assert listed or needs_none, f"{package} has no __all__"


def test_everything_is_reached_from_a_command_a_pipeline_or_the_catalog():
    starts = {
        f"{ROOT}.{name}"
        for name in ("settings", "pipeline_registry", "hooks", "project_search")
        if f"{ROOT}.{name}" in MODULES
    }
    starts |= {n for n in MODULES if n.endswith((".__main__", ".pipeline"))}
    starts |= {n for n in MODULES if n.startswith(f"{ROOT}.cli")}
    starts |= {f"{ROOT}.systems.{home.split(':')[0]}" for home in LEARNING.values()}
    for file in (PROJECT / "conf").rglob("*.yml"):
        for name in re.findall(rf"{ROOT}(?:\.\w+)+", file.read_text(encoding="utf-8")):
            module, _, item = name.rpartition(".")
            if module in MODULES:
                starts.add(find_home(MODULES, module, item))
    reached = find_reached(MODULES, starts)
    # Faces, and modules of constants alone, are reached with what they show.
    lost = {n for n, m in MODULES.items() if n not in reached and not m.is_face}
    assert lost == {f"{ROOT}.{name}" for name in REACHED_OTHERWISE}


REACHED_OTHERWISE = {
    "amr.transition.check_environment": "run by build_environment.sh",
    "amr.transition.scatter": "stands in for torch_scatter in the parser's environment",
    "amr.transition.worker": "run by the Python of the parser's environment",
    "integrations.ir_collection": "for users of ir_datasets",
    "integrations.pyg_data": "for users of PyTorch Geometric",
    "integrations.pyg_dataset": "for users of PyTorch Geometric",
    "integrations.terrier": "for users of PyTerrier",
    "base.workers.child": "run by the pool of processes",
}
