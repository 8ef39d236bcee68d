"""Graphs to vectors: ids of formulas, shards, checksums."""

from __future__ import annotations

import re
import shutil
from functools import partial

import numpy as np
import pytest
import torch

from benchmarks.random_graphs import GraphShape, RandomGraphs
from mathamr_kedro.base.errors import DamagedFileError, MalformedInputError
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.graph import FORMULA, GraphSchema, GraphShards, ShardWriter
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model, save_model
from mathamr_kedro.systems.mathamr_plus import encoding
from mathamr_kedro.systems.mathamr_plus.encoder import checksum_encoder
from mathamr_kedro.systems.mathamr_plus.encoding import (
    CollectionGraphs,
    EncodeRanges,
    EncodingConfig,
    encode_collection,
)
from mathamr_kedro.vectors.store import StoreWriter, VectorStore

SCHEMA = GraphSchema(
    num_node_types=40, num_forward=9, mask_type=1, virtual_relations=(5, 6, 7)
)


def write_graphs(folder, nameless=None, prefix=""):
    """Ten graphs; their formulas are named after post and number."""
    graphs = RandomGraphs(SCHEMA, GraphShape(median_nodes=18), "hierarchy", 3)
    with ShardWriter(folder, SCHEMA) as writer:
        for number in range(10):
            key, graph = f"{prefix}{number}", graphs.draw()
            numbers = graph.representative_number[graph.representative_kind == FORMULA]
            names = [(f"{key}-{n}", f"v{n}") for n in numbers]
            writer.add(key, graph, names if key != nameless else ())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("encoding")
    write_graphs(base / "graphs")
    torch.manual_seed(0)
    save_model(base / "model", MathAMRPlus(ModelConfig(16, 8, 2, num_bases=3), SCHEMA))
    return base / "model", base / "graphs"


def encode(folder, folders, size=4, workers=1, of="posts"):
    shards = GraphShards(folders[1])
    names, _ = shards.name_formulas(range(len(shards)))
    returnable = np.array([not name.endswith("-1") for name in names])
    graphs = CollectionGraphs(shards, returnable)
    with StoreWriter(folder, "mark", 8) as writer:
        encode_collection(
            writer,
            EncodeRanges(
                folders[0],
                partial(GraphShards, folders[1]),
                ComputeConfig(device="cpu"),
            ),
            of,
            graphs,
            EncodingConfig(size, workers=WorkerConfig(workers=workers, batch_size=1)),
        )
        writer.complete()
    return VectorStore(folder)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_store_holds_what_the_encoder_says_about_each_graph(tmp_path, folders, workers):
    shards = GraphShards(folders[1])
    store = encode(tmp_path, folders, workers=workers)
    assert store.is_complete
    model = load_model(folders[0], ComputeConfig(device="cpu"))
    for position, key in enumerate(shards.keys):
        (alone,) = encode_shards(model, shards, [position])
        post = store.read([key]).entry(0)
        np.testing.assert_allclose(post.vectors, alone.vectors, atol=1e-6)
        assert list(post.kinds) == alone.columns["kind"].tolist()
        formulas = [
            f"{key}-{n}"
            for n, kind in zip(
                alone.columns["number"], alone.columns["kind"], strict=True
            )
            if kind == FORMULA
        ]
        assert list(post.formula_ids) == formulas
        assert list(post.visual_ids) == [f"v{f.partition('-')[2]}" for f in formulas]
        assert list(post.returnable) == [not f.endswith("-1") for f in formulas]


def test_stopped_encoding_encodes_only_what_it_lacks(tmp_path, folders, monkeypatch):
    seen = []
    call = EncodeRanges.__call__

    def stop_at_second(self, ranges):
        seen.extend(ranges)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return call(self, ranges)

    monkeypatch.setattr(EncodeRanges, "__call__", stop_at_second)
    with pytest.raises(KeyboardInterrupt):
        encode(tmp_path, folders)
    assert [r.name for r in VectorStore(tmp_path).shards] == ["posts-00000000-00000004"]
    assert len(encode(tmp_path, folders)) == 10
    assert [r.first for r in seen] == [0, 4, 4, 8]


def test_memory_goes_back_to_the_system_after_every_batch(
    tmp_path, folders, monkeypatch
):
    """What batches of other sizes leave behind would grow with the collection."""
    given_back = []
    # What the system gets back cannot be seen from inside a process.
    monkeypatch.setattr(encoding, "_give_back", given_back.append)
    # Five batches of ten graphs.
    monkeypatch.setattr("mathamr_kedro.learning.encoding._BATCH", {"cpu": 2})
    encode(tmp_path, folders, size=4)
    assert given_back == [0] * 5  # ten graphs


def test_formula_without_an_id_is_named(tmp_path, folders):
    write_graphs(tmp_path / "graphs", nameless="6")
    with pytest.raises(MalformedInputError, match="id for FORMULA_0 of post '6'"):
        encode(tmp_path / "store", (folders[0], tmp_path / "graphs"))


def test_checksum_follows_weights_and_graphs(tmp_path, folders):
    mark = checksum_encoder(folders[0], "graphs")
    assert mark == checksum_encoder(folders[0], "graphs")
    assert mark != checksum_encoder(folders[0], "others")
    model = load_model(folders[0], ComputeConfig(device="cpu"))
    with torch.no_grad():
        model.head.inner.weight[0, 0] += 1e-3
    save_model(tmp_path, model)
    assert mark != checksum_encoder(tmp_path, "graphs")


@pytest.mark.parametrize("name", ["model.json", "weights.pt"])
def test_an_encoder_that_lacks_a_file_names_the_remedy(tmp_path, folders, name):
    shutil.copytree(folders[0], tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    told = f"{name}' (there is none); delete '{tmp_path}' and run the stage 'training'"
    with pytest.raises(DamagedFileError, match=re.escape(told)):
        checksum_encoder(tmp_path / "model", "graphs")


def stop_after(monkeypatch, shards):
    call, seen = EncodeRanges.__call__, []

    def stop(self, ranges):
        if len(seen) == shards:
            raise KeyboardInterrupt
        seen.extend(ranges)
        return call(self, ranges)

    monkeypatch.setattr(EncodeRanges, "__call__", stop)
    return seen


@pytest.mark.parametrize(("size", "lasts"), [(4, [8, 10]), (3, [7, 10]), (100, [10])])
def test_another_size_of_shards_loses_no_post(
    tmp_path, folders, monkeypatch, size, lasts
):
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            encode(tmp_path, folders, size=2)
    seen = stop_after(monkeypatch, 99)
    store = encode(tmp_path, folders, size=size)
    assert sorted(store.keys(), key=int) == [str(k) for k in range(10)]
    assert [r.last for r in seen] == lasts
    assert encode(tmp_path, folders, size=1).shards == store.shards


def test_graphs_beside_the_posts_do_not_let_these_be_encoded_again(
    tmp_path, folders, monkeypatch
):
    write_graphs(tmp_path / "beside", prefix="f")
    beside = folders[0], tmp_path / "beside"
    seen = stop_after(monkeypatch, 99)
    for _ in range(2):
        encode(tmp_path / "store", folders)
        encode(tmp_path / "store", beside, of="formulas")
    assert [r.of for r in seen] == ["posts"] * 3 + ["formulas"] * 3
    assert len(VectorStore(tmp_path / "store").shards) == 6


def test_store_that_does_not_hold_the_graphs_stops_the_stage(tmp_path, folders):
    """Its shards are of other graphs, under the same name."""
    write_graphs(tmp_path / "others", prefix="x")
    encode(tmp_path / "store", (folders[0], tmp_path / "others"))
    with pytest.raises(DamagedFileError, match=r"10 posts .*got 0, e.g. post '0'"):
        encode(tmp_path / "store", folders)
