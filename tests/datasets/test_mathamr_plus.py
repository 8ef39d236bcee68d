"""MathAMR+ as datasets: vectors by encoder, and an index that may be on a server."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError, find_cause
from mathamr_kedro.base.shards import EndOfShards
from mathamr_kedro.datasets.mathamr_plus import (
    VectorIndexDataset,
    VectorIndexing,
)
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.systems import Query
from mathamr_kedro.systems.mathamr_plus import Strategy, VectorStores
from mathamr_kedro.vectors import (
    EngineConfig,
    GraphRange,
    PostEntry,
    PostVectors,
    StoreWriter,
)

KINDS = [1, 1, 1, 2], [0, 1, 2, 0]
ANSWER = PostEntry("1", "answer", np.eye(4), *KINDS)
TOPIC = PostEntry("A.1", "topic", np.eye(4), *KINDS)


def write_vectors(base: Path, is_complete: bool = True) -> None:
    for name, entry in (("post_vectors", ANSWER), ("topic_vectors", TOPIC)):
        with StoreWriter(base / name / "encoder-a", "encoder-a", 4) as store:
            store.write(PostVectors.of([entry]), GraphRange("planted", 0, 1))
            if is_complete:
                store.complete()


def open_posts(base: Path):
    dataset = ShardedTableDataset(filepath=str(base / "posts"), record="Post")
    dataset.save(EndOfShards("planted"))
    return dataset.load()


def test_vectors_are_opened_by_their_encoder(tmp_path):
    stores = VectorStores(tmp_path)
    assert not stores.list()
    write_vectors(tmp_path)
    assert len(stores.list()) == 1
    topics, posts = stores.open("encoder-a")
    assert list(posts.keys()) == ["1"]
    assert list(topics.keys()) == ["A.1"]


def test_missing_and_unfinished_vectors_are_named(tmp_path):
    stores = VectorStores(tmp_path)
    with pytest.raises(MissingInputError, match="encode the posts"):
        stores.open("encoder-a")
    write_vectors(tmp_path, is_complete=False)
    with pytest.raises(MissingInputError, match="unfinished"):
        stores.open("encoder-a")


def test_an_index_is_saved_and_searched(tmp_path):
    write_vectors(tmp_path)
    vectors = VectorStores(tmp_path).open("encoder-a")
    dataset = VectorIndexDataset(
        filepath=str(tmp_path / "index.json"), path=str(tmp_path)
    )
    assert not dataset.exists()
    with pytest.raises(Exception, match="run the stage 'indexing'") as caught:
        dataset.load()
    assert isinstance(find_cause(caught.value), MissingInputError)
    engine = EngineConfig("exact")
    dataset.save(VectorIndexing(vectors, open_posts(tmp_path), engine, Strategy()))
    index = dataset.load()
    assert index.counts["posts"] == 1 and index.encoder == "encoder-a"
    (hits,) = index.rank(index.prepare([Query("A.1")]), depth=5)
    assert hits.ids == ["1"]


def test_an_index_knows_its_server_and_keeps_its_key(tmp_path):
    write_vectors(tmp_path)
    vectors = VectorStores(tmp_path).open("encoder-a")
    dataset = VectorIndexDataset(
        filepath=str(tmp_path / "index.json"),
        path=str(tmp_path),
        url="https://localhost:1",
        credentials={"api_key": "secret"},
    )
    engine = EngineConfig("exact")
    dataset.save(VectorIndexing(vectors, open_posts(tmp_path), engine, Strategy()))
    client = dataset.load().connect()
    assert client is not None
    assert "secret" not in str(dataset._describe())
    client.close()
