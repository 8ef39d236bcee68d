"""What systems of other papers read: trees from the store, else from LaTeX."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mathamr_kedro.datasets.systems import SystemSourcesDataset
from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.shards import EndOfShards
from tests.datasets.test_formula_trees import FormulaTreesDataset, formula, save

PARTS = (
    "formulas", "posts", "topics", "judgments", "pairs", "trees_of", "graphs",
    "topic_graphs",
)  # fmt: skip


@pytest.fixture
def folders(tmp_path):
    return {part: str(tmp_path / part) for part in PARTS}


def test_trees_come_from_the_store_and_else_from_latex(folders):
    store = FormulaTreesDataset(filepath=folders["trees_of"])
    save(store, "1", [formula(1, "70", "y")])
    store.save(EndOfShards("a"))
    trees_of = SystemSourcesDataset(folders=folders).load().trees_of
    for visual_id, shown in (("70", "[V!y]"), ("71", "[V!z]")):
        found = trees_of(SimpleNamespace(visual_id=visual_id, latex="z"))
        assert found.slt.to_string() == shown


def test_folders_that_are_missing_are_named(folders):
    del folders["pairs"]
    with pytest.raises(ConfigurationError, match=r"pairs.*got formulas"):
        SystemSourcesDataset(folders=folders)
