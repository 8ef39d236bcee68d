"""Graphs as PENMAN shards in the catalog."""

from __future__ import annotations

from pathlib import Path

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import find_cause
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.graph import GraphRecord

FIRST = GraphRecord("1", "(m / map)", "question")
SECOND = GraphRecord("2", "(s / set)", "answer")


def save(dataset: PenmanShardsDataset) -> None:
    dataset.save(Shard("posts-00000", "a", [FIRST], {"read": 2, "written": 1}))
    # A worker may hand over the text itself.
    dataset.save(Shard("posts-00001", "a", SECOND.format(), {"written": 1}))
    dataset.save(EndOfShards("a"))


def test_save_and_load(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    save(dataset)
    graphs = dataset.load()
    assert list(graphs.records()) == [FIRST, SECOND]
    assert [name for name, _ in graphs.shards()] == ["posts-00000", "posts-00001"]
    assert graphs.counts == {"read": 2, "written": 2}
    assert graphs.made_from == "a"
    assert graphs.find("2") == SECOND
    assert graphs.find("3") is None


def test_exists_when_all_shards_are_there(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    assert not dataset.exists()
    dataset.save(Shard("posts-00000", "a", [FIRST], {}))
    assert not dataset.exists()
    dataset.save(EndOfShards("a"))
    assert dataset.exists()


def test_load_missing_file(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    with pytest.raises(DatasetError) as caught:
        dataset.load()
    assert "run the stage that writes it" in str(find_cause(caught.value))


def test_graphs_are_known_by_their_bytes(tmp_path: Path) -> None:
    dataset = PenmanShardsDataset(filepath=str(tmp_path / "graphs"))
    save(dataset)
    graphs = dataset.load()
    assert repr(graphs) == f"<PenmanShards: 2 graphs, in {tmp_path / 'graphs'}>"
    assert dataset._describe() == {"filepath": str(tmp_path / "graphs")}
    checksums = graphs.checksums()
    assert [*checksums] == ["posts-00000", "posts-00001"] and len(
        {*checksums.values()}
    ) == 2
    before = graphs.checksum
    other = SECOND._replace(graph="(t / tree)")
    dataset.save(Shard("posts-00001", "a", [other], {"written": 1}))
    dataset.save(EndOfShards("a"))
    assert before and dataset.load().checksum not in (before, None)
