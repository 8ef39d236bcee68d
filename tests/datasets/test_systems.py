"""What systems of other papers read: trees from the store, else from LaTeX."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import TrainingPair
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.datasets.systems import SystemsDataset, SystemSourcesDataset
from mathamr_kedro.graph import GraphRecord
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
    parts = {"trees_of": mark, "graphs": graphs.load().checksum}
    assert sources.load().checksums == dict.fromkeys(PARTS, "") | parts
    with pytest.raises(DatasetError, match=r"at/trees_of.*'trees_of' of system_s"):
        sources.save({"trees_of": "others"})
    with pytest.raises(DatasetError, match=r"at/posts' what the pipeline made"):
        sources.save({"trees_of": mark, "posts": mark})


def test_sources_are_there_whatever_their_parts(tmp_path, sources):
    """A part that is missing is told when a system asks for it."""
    assert sources.exists()
    assert not any(sources.load().checksums.values())


def test_trees_are_opened_once_and_when_they_are_asked_for(
    tmp_path, sources, monkeypatch
):
    opened = []
    load = FormulaTreesDataset.load
    trees_of = sources.load().trees_of  # nothing is there yet
    save_trees(tmp_path)
    monkeypatch.setattr(
        FormulaTreesDataset, "load", lambda self: opened.append(self) or load(self)
    )
    for _ in range(2):
        trees_of(SimpleNamespace(visual_id="70", latex="z"))
    assert len(opened) == 1


def test_parts_are_read_from_their_folders(tmp_path, sources):
    graphs = PenmanShardsDataset(filepath=str(tmp_path / FOLDERS["graphs"]))
    record = GraphRecord("1", "(m / map)", "question")
    graphs.save(Shard("posts-0", "a", [record], {}))
    graphs.save(EndOfShards("a"))
    pairs = ShardedTableDataset(
        filepath=str(tmp_path / FOLDERS["pairs"]), record="TrainingPair"
    )
    pairs.save(Shard("pairs-0", "a", [TrainingPair("1", "2")], {}))
    pairs.save(EndOfShards("a"))
    loaded = sources.load()
    assert list(loaded.graphs()) == [record]
    assert list(loaded.pairs()) == [TrainingPair("1", "2")]
    assert sources._describe() == {
        "folders": {part: str(tmp_path / f"at/{part}") for part in PARTS}
    }


def test_the_folder_of_systems_counts_those_that_are_trained(tmp_path):
    for name in ("ssemb/1", "ssemb/2", "marf/1"):
        (tmp_path / name).mkdir(parents=True)
    store = SystemsDataset(filepath=str(tmp_path)).load()
    assert repr(store).startswith("<SystemStore: 0 trained systems, in ")
    (tmp_path / "ssemb" / "1" / "history.json").write_text("[]")
    assert repr(store).startswith("<SystemStore: 1 trained system, in ")
    (tmp_path / "ssemb" / "1" / "system.json").write_text('{"system": "ssemb"}')
    assert store.open("ssemb/1").folder == tmp_path / "ssemb" / "1"


def test_a_training_is_known_by_its_folder_below_that_of_all(tmp_path, monkeypatch):
    def create(base, name, values, seed, sources):
        return SimpleNamespace(folder=base / name / f"{values['size']}-{seed}")

    monkeypatch.setattr("mathamr_kedro.systems.SystemFolder.create", create)
    store = SystemsDataset(filepath=str(tmp_path)).load()
    assert store.prepare("marf", {"size": 3}, 7, None) == "marf/3-7"
