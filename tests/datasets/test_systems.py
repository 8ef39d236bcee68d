"""What systems of other papers read: trees from the store, else from LaTeX."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kedro.io import DatasetError

from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.datasets.systems import SystemSourcesDataset
from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.shards import EndOfShards
from tests.datasets.test_formula_trees import FormulaTreesDataset, formula, save

PARTS = (
    "formulas", "posts", "topics", "judgments", "pairs", "trees_of", "graphs",
    "topic_graphs",
)  # fmt: skip
FOLDERS = {part: f"at/{part}" for part in PARTS}


@pytest.fixture
def sources(tmp_path):
    return SystemSourcesDataset(filepath=str(tmp_path), folders=FOLDERS)


def save_trees(tmp_path):
    store = FormulaTreesDataset(filepath=str(tmp_path / FOLDERS["trees_of"]))
    save(store, "1", [formula(1, "70", "y")])
    store.save(EndOfShards("a"))
    return store.load()


def test_trees_come_from_the_store_and_else_from_latex(tmp_path, sources):
    save_trees(tmp_path)
    trees_of = sources.load().trees_of
    for visual_id, shown in (("70", "[V!y]"), ("71", "[V!z]")):
        found = trees_of(SimpleNamespace(visual_id=visual_id, latex="z"))
        assert found.slt.to_string() == shown


def test_folders_that_are_missing_are_named(tmp_path):
    folders = {part: FOLDERS[part] for part in PARTS if part != "pairs"}
    with pytest.raises(ConfigurationError, match=r"pairs.*got formulas"):
        SystemSourcesDataset(filepath=str(tmp_path), folders=folders)


def test_parts_of_other_folders_than_the_pipelines_are_refused(tmp_path, sources):
    mark = save_trees(tmp_path).made_from
    sources.save({"trees_of": mark})
    graphs = PenmanShardsDataset(filepath=str(tmp_path / FOLDERS["graphs"]))
    graphs.save(EndOfShards("amr"))
    parts = {"trees_of": mark, "graphs": graphs.load().fingerprint}
    assert sources.load().fingerprints == dict.fromkeys(PARTS, "") | parts
    with pytest.raises(DatasetError, match=r"at/trees_of.*'trees_of' of system_s"):
        sources.save({"trees_of": "others"})
    with pytest.raises(DatasetError, match=r"at/posts' what the pipeline made"):
        sources.save({"trees_of": mark, "posts": mark})


def test_sources_are_there_whatever_their_parts(tmp_path, sources):
    """A part that is missing is told when a system asks for it."""
    assert sources.exists()
    assert not any(sources.load().fingerprints.values())
