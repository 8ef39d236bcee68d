"""Vectors and indexes as datasets."""

from __future__ import annotations

import numpy as np
import pytest
from kedro.io import DatasetError

from mathamr_kedro.base.errors import MissingInputError, find_cause
from mathamr_kedro.datasets.vector_stores import IndexesDataset, VectorStoresDataset
from mathamr_kedro.vectors import GraphRange, PostEntry, PostVectors

POST = PostEntry("1", "answer", np.eye(4), [1, 1, 1, 2], [0, 1, 2, 0])


def test_save_and_load(tmp_path):
    stores = VectorStoresDataset(filepath=str(tmp_path / "vectors")).load()
    with stores.write("encoder-a", 4, "float16") as store:
        store.write(PostVectors.of([POST]), GraphRange("posts", 0, 1))
        store.complete()
    again = VectorStoresDataset(filepath=str(tmp_path / "vectors")).load()
    assert list(again.read("encoder-a").keys()) == ["1"]
    with pytest.raises(DatasetError) as caught:
        VectorStoresDataset(filepath=str(tmp_path)).save(1)
    assert find_cause(caught.value) is not None


def test_preview_lists_the_stores(tmp_path):
    dataset = VectorStoresDataset(filepath=str(tmp_path))
    assert dataset.preview()["data"] == []
    with dataset.load().write("encoder-a", 4, "float16") as store:
        store.write(PostVectors.of([POST]), GraphRange("posts", 0, 1))
    assert dataset.preview()["data"] == [["encoder-a", 1, 4, False]]


def test_exists(tmp_path):
    assert VectorStoresDataset(filepath=str(tmp_path)).exists()
    assert IndexesDataset(filepath=str(tmp_path)).exists()


def test_load_missing_file(tmp_path):
    stores = VectorStoresDataset(filepath=str(tmp_path)).load()
    with pytest.raises(MissingInputError, match="encode the posts"):
        stores.read("encoder-a")
    stores.write("encoder-a", 4, "float32").close()
    with pytest.raises(MissingInputError, match="unfinished"):
        stores.read("encoder-a")


def test_indexes_know_folder_and_server(tmp_path):
    places = IndexesDataset(filepath=str(tmp_path)).load()
    assert places.folder("a") == tmp_path / "a"
    assert places.connect is None
    dataset = IndexesDataset(
        filepath=str(tmp_path),
        url="https://localhost:1",
        credentials={"api_key": "secret"},
    )
    client = dataset.load().connect()
    assert client is not None
    assert "secret" not in str(dataset._describe())
    client.close()
