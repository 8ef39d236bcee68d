"""Models, indexes and runs of systems: made when saved, found again, moved about."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import find_cause
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import Post
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.datasets.systems import (
    IndexDataset,
    Indexing,
    SystemRunsDataset,
    collect,
)
from mathamr_kedro.systems import Query, bm25
from mathamr_kedro.trec import Run


def save_posts(folder, texts):
    posts = [
        Post(key, "answer", key, None, None, None, None, (), "", text, ())
        for key, text in texts.items()
    ]
    table = ShardedTableDataset(filepath=str(folder / "posts"), record="Post")
    table.save(Shard("posts-0", "a", posts, {}))
    table.save(EndOfShards("a"))
    return table.load()


def open_dataset(folder):
    return IndexDataset(
        filepath=str(folder / "bm25.index.json"), path=str(folder / "systems/bm25")
    )


TEXTS = {"1": "many primes", "2": "a sum of squares"}
QUERY = Query("q", "primes")


@pytest.fixture
def indexed(tmp_path):
    dataset, tables = open_dataset(tmp_path), {"posts": save_posts(tmp_path, TEXTS)}
    dataset.save(Indexing("bm25_question", tables))
    return dataset


def test_a_loaded_index_can_be_asked(indexed):
    index = indexed.load()
    (hits,) = index.rank(index.prepare([QUERY]), depth=5)
    assert hits.ids == ["1"]
    assert index.list_rankings("posts") == ["bm25_question"]
    assert index.list_rankings("formulas") == []
    assert index.counts["posts"] == 2


def test_what_is_unchanged_is_not_built_again(indexed, tmp_path, monkeypatch):
    tables = {"posts": save_posts(tmp_path, TEXTS)}
    with monkeypatch.context() as patch:
        patch.setattr(bm25, "TermIndex", None)
        indexed.save(Indexing("bm25_question", tables))
    before = indexed.load().folder
    indexed.save(
        Indexing("bm25_question", {"posts": save_posts(tmp_path, {"7": "primes"})})
    )
    assert indexed.load().folder != before
    (hits,) = indexed.load().rank([QUERY], depth=5)
    assert hits.ids == ["7"]


def test_a_data_root_may_be_moved(indexed, tmp_path):
    other = tmp_path.with_name(tmp_path.name + "-moved")
    shutil.move(tmp_path, other)
    index = open_dataset(other).load()
    (hits,) = index.rank([QUERY], depth=5, types=("answer",))  # read from the posts
    assert hits.ids == ["1"]


def test_a_missing_index_names_the_stage(tmp_path):
    dataset = open_dataset(tmp_path)
    assert not dataset.exists()
    with pytest.raises(DatasetError, match="run the stage 'indexing'"):
        dataset.load()


def test_a_collection_has_the_checksums_of_its_tables(tmp_path):
    table = save_posts(tmp_path, TEXTS)
    data = collect({"posts": table})
    assert data.checksums == {"posts": table.checksum}
    assert [post.post_id for post in data.posts()] == ["1", "2"]
    assert (data.count(("answer",)), data.count(("question",))) == (2, 0)


def test_runs_are_loaded_as_they_were_saved(tmp_path):
    dataset = SystemRunsDataset(filepath=str(tmp_path / "new" / "x.parquet"))
    posts = Hits(["3", "1"], np.array([0.1 + 0.2, -1.0]))
    formulas = FormulaHits(["f"], np.array([1 / 3]), ["v"], ["p"])
    runs = [
        Run("x", {"A.1": posts, "A.2": Hits([], np.zeros(0))}, task=1, seconds=2.0),
        Run(
            "x/y", {"B.1": formulas}, task=2, query_seconds={"B.1": 0.5}, device="cuda"
        ),
    ]
    assert not dataset.exists()
    dataset.save(runs)
    loaded = dataset.load()
    for run, found in zip(runs, loaded, strict=True):
        assert (run.name, run.task, run.seconds) == (
            found.name,
            found.task,
            found.seconds,
        )
        assert (run.query_seconds, run.device) == (found.query_seconds, found.device)
        assert [*run.lists] == [*found.lists]
        for hits, again in zip(run.lists.values(), found.lists.values(), strict=True):
            assert type(hits) is type(again)
            assert hits.scores.tolist() == again.scores.tolist()
            assert (hits.ids, hits.judged_ids) == (again.ids, again.judged_ids)


@pytest.mark.parametrize("content", ["", '{"system": "bm2', "\x00" * 9])
def test_a_damaged_note_is_one_line_with_its_remedy(tmp_path, content):
    note = tmp_path / "bm25.index.json"
    note.write_text(content)
    dataset = IndexDataset(filepath=str(note), path=str(tmp_path))
    with pytest.raises(DatasetError) as caught:
        dataset.load()
    cause = find_cause(caught.value)
    assert "bm25.index.json" in str(cause)
    assert "run the stage 'indexing' again" in str(cause)
