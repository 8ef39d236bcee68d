"""Pointers to models and indexes: found again, moved about, refused if damaged."""

from __future__ import annotations

import shutil

import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import (
    DamagedFileError,
    MathAMRError,
    MissingInputError,
    find_cause,
)
from mathamr_kedro.base.records import Post
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets import BuiltIndex
from mathamr_kedro.datasets.artefact import ArtefactDataset, collect
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.systems import Query, bm25

TEXTS = {"1": "many primes", "2": "a sum of squares"}
QUERY = Query("q", "primes")


def save_posts(folder, texts=TEXTS):
    posts = [
        Post(key, "answer", key, None, None, None, None, (), "", text, ())
        for key, text in texts.items()
    ]
    table = ShardedTableDataset(filepath=str(folder / "posts"), record="Post")
    table.save(Shard("posts-0", "a", posts, {}))
    table.save(EndOfShards("a"))
    return table.load()


def build(folder, texts=TEXTS):
    tables = {"posts": save_posts(folder, texts)}
    return BuiltIndex.build(folder / "indexes", "bm25_question", {}, tables)


def open_dataset(folder):
    return ArtefactDataset(
        filepath=str(folder / "bm25.index.json"),
        kind="mathamr_kedro.datasets.BuiltIndex",
        stage="indexing",
    )


def find_refusal(dataset) -> MathAMRError:
    with pytest.raises(DatasetError) as caught:
        dataset.load()
    cause = find_cause(caught.value)
    assert cause is not None
    return cause


@pytest.fixture
def indexed(tmp_path):
    dataset = open_dataset(tmp_path)
    dataset.save(build(tmp_path))
    return dataset


def test_a_loaded_index_can_be_asked(indexed):
    index = indexed.load()
    (hits,) = index.rank(index.prepare([QUERY]), depth=5)
    assert hits.ids == ["1"]
    assert index.list_rankings("posts") == ["bm25_question"]
    assert index.list_rankings("formulas") == []
    assert index.counts["posts"] == 2


def test_what_is_unchanged_is_not_built_again(indexed, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(bm25, "TermIndex", None)
        build(tmp_path)
    before = indexed.load().folder
    indexed.save(build(tmp_path, {"7": "primes"}))
    assert indexed.load().folder != before
    (hits,) = indexed.load().rank([QUERY], depth=5)
    assert hits.ids == ["7"]


def test_a_data_root_may_be_moved(indexed, tmp_path):
    other = tmp_path.with_name(tmp_path.name + "-moved")
    shutil.move(tmp_path, other)
    index = open_dataset(other).load()
    (hits,) = index.rank([QUERY], depth=5, types=("answer",))  # read from the posts
    assert hits.ids == ["1"]


def test_a_missing_pointer_names_the_stage(tmp_path):
    dataset = open_dataset(tmp_path)
    assert not dataset.exists()
    refusal = find_refusal(dataset)
    assert isinstance(refusal, MissingInputError)
    assert "run the stage 'indexing'" in str(refusal)


@pytest.mark.parametrize(
    "content", ['{"system": "bm25_question", "folder": "indexes/a"}', "[]", '"a"']
)
def test_a_pointer_of_an_earlier_version_names_the_stage(tmp_path, content):
    (tmp_path / "bm25.index.json").write_text(content)
    refusal = find_refusal(open_dataset(tmp_path))
    assert "of an earlier version" in str(refusal)
    assert "run the stage 'indexing' again" in str(refusal)


@pytest.mark.parametrize("content", ["", '{"artefact": "inde', "\x00" * 9])
def test_a_damaged_pointer_is_one_line_with_its_remedy(tmp_path, content):
    (tmp_path / "bm25.index.json").write_text(content)
    refusal = str(find_refusal(open_dataset(tmp_path)))
    assert "bm25.index.json" in refusal
    assert "run the stage 'indexing' again" in refusal
    assert "\n" not in refusal


def test_an_index_that_was_deleted_names_the_command(indexed):
    index = indexed.load()
    shutil.rmtree(index.folder)
    with pytest.raises(MissingInputError, match="kedro run --pipelines indexing"):
        indexed.load().rank([QUERY], depth=5)


def damage(folder):
    """Change one byte of the largest file of an index."""
    files = (file for file in folder.rglob("*") if file.is_file())
    data = [file for file in files if file.suffix != ".json"]
    file = max(data, key=lambda file: file.stat().st_size)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_damage_is_found_on_demand(indexed):
    index = indexed.load()
    assert index.verify() is index
    damage(index.folder)
    with pytest.raises(DamagedFileError, match="run the stage 'indexing' again"):
        indexed.load().verify()


def test_a_damaged_index_is_built_again(indexed, tmp_path, caplog):
    damage(indexed.load().folder)
    index = build(tmp_path)
    assert "The index of bm25_question is built again: Expected" in caplog.text
    (hits,) = index.verify().rank([QUERY], depth=5)
    assert hits.ids == ["1"]


def test_a_collection_has_the_checksums_of_its_tables(tmp_path):
    table = save_posts(tmp_path)
    data = collect({"posts": table})
    assert data.checksums == {"posts": table.checksum}
    assert [post.post_id for post in data.posts()] == ["1", "2"]
    assert (data.count(("answer",)), data.count(("question",))) == (2, 0)
