"""Graphs to vectors: ids from formula maps, shards, fingerprints."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.graph.random_graphs import (
    GraphShape,
    RandomGraphs,
    write_random_shards,
)
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.graph.tensors import FORMULA, GraphSchema
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model, save_model
from mathamr_kedro.records import FormulaMention
from mathamr_kedro.search.encoding import (
    EncodeRanges,
    Facts,
    encode_collection,
    fingerprint_encoder,
    list_ranges,
)
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.workers import WorkerSettings

SCHEMA = GraphSchema(
    num_node_types=40, num_forward=9, mask_type=1, virtual_relations=(5, 6, 7)
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("encoding")
    graphs = RandomGraphs(SCHEMA, GraphShape(median_nodes=18), "hierarchy", 3)
    write_random_shards(base / "graphs", 10, graphs)
    torch.manual_seed(0)
    save_model(base / "model", MathAMRPlus(ModelConfig(16, 8, 2, num_bases=3), SCHEMA))
    return base / "model", base / "graphs"


def draw_maps(shards):
    """The formulas of each graph, named after post and number."""
    kinds, numbers = (
        shards.arrays[f"representative_{name}"] for name in ("kind", "number")
    )
    bounds = shards.offsets["representative"]
    maps = []
    for i, key in enumerate(shards.keys):
        rows = range(bounds[i], bounds[i + 1])
        found = [int(numbers[r]) for r in rows if kinds[r] == FORMULA]
        maps.append(
            (
                key,
                [
                    FormulaMention(f"FORMULA_{n}", f"{key}-{n}", f"v{n}", "x", 0, 1)
                    for n in reversed(found)
                ],
            )
        )
    return maps


def encode(folder, folders, maps, size=4, workers=1):
    shards = GraphShards(folders[1])
    types = np.ones(len(shards), dtype=np.uint8)
    facts = Facts(shards.keys, types, maps, lambda i: not i.endswith("-1"))
    with VectorStore.open(folder, "mark", 8) as store:
        encode_collection(
            store,
            EncodeRanges(*folders, ComputeConfig(device="cpu")),
            list_ranges(len(shards), "posts", size),
            facts,
            WorkerSettings(workers=workers, batch_size=1),
        )
    return VectorStore(folder)


@pytest.mark.parametrize("workers", [1, 2])
def test_store_holds_what_the_encoder_says_about_each_graph(tmp_path, folders, workers):
    shards = GraphShards(folders[1])
    maps = draw_maps(shards)
    maps[2], maps[7] = maps[7], maps[2]  # not quite in the order of the graphs
    store = encode(tmp_path, folders, maps, workers=workers)
    assert store.state.complete
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
        assert list(post.returnable) == [not f.endswith("-1") for f in formulas]


def test_stopped_encoding_reads_only_what_it_lacks(tmp_path, folders, monkeypatch):
    shards = GraphShards(folders[1])
    maps = draw_maps(shards)
    with pytest.raises(MalformedInputError, match=r"formulas of post"):
        encode(tmp_path, folders, maps[:6])  # the second shard needs eight
    assert VectorStore(tmp_path).state.shards == ("posts-00000000",)
    seen = []
    call = EncodeRanges.__call__
    monkeypatch.setattr(
        EncodeRanges, "__call__", lambda s, r: (seen.extend(r), call(s, r))[1]
    )
    assert len(encode(tmp_path, folders, maps)) == 10
    assert [r.first for r in seen] == [4, 8]


def test_formula_without_entry_in_its_map_is_named(tmp_path, folders):
    maps = [(key, found[:-1]) for key, found in draw_maps(GraphShards(folders[1]))]
    with pytest.raises(MalformedInputError, match="FORMULA_0 in formula_map of post"):
        encode(tmp_path, folders, maps)


def test_fingerprint_follows_weights_and_graphs(tmp_path, folders):
    mark = fingerprint_encoder(folders[0], "graphs")
    assert mark == fingerprint_encoder(folders[0], "graphs")
    assert mark != fingerprint_encoder(folders[0], "others")
    model = load_model(folders[0], ComputeConfig(device="cpu"))
    with torch.no_grad():
        model.head.inner.weight[0, 0] += 1e-3
    save_model(tmp_path, model)
    assert mark != fingerprint_encoder(tmp_path, "graphs")
