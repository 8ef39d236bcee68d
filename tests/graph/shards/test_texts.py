"""Vectors of texts beside graphs: written once, in pieces, and read in batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.random_graphs import THESIS_SCHEMA, GraphShape, RandomGraphs
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.graph import (
    BatchSize,
    DeviceShards,
    GraphShards,
    ShardWriter,
)
from mathamr_kedro.graph.shards import texts as module
from mathamr_kedro.graph.shards.texts import join_texts, open_texts, write_texts


def write_graphs(folder, count, start=0):
    source = RandomGraphs(shape=GraphShape(median_nodes=20), seed=start)
    with ShardWriter(folder, THESIS_SCHEMA) as writer:
        for number in range(start, start + count):
            writer.add(f"p{number}", source.draw())
    return folder


def encode(texts):
    return np.array([[len(t), t.count("a"), 1.0] for t in texts], dtype=np.float32)


TEXTS = [(4, "banana"), (0, "fig"), (2, "papaya")]
WANTED = np.array([[3, 0, 1], [0] * 3, [6, 3, 1], [0] * 3, [6, 3, 1]], dtype=np.float16)


@pytest.fixture
def folder(tmp_path):
    return write_graphs(tmp_path / "shards", 5)


def test_batches_carry_the_texts_of_their_graphs(folder):
    assert GraphShards(folder, texts=folder / "texts.npy").assemble([1]).text is None
    assert write_texts(folder / "texts.npy", 5, TEXTS, encode) == 3
    assert write_texts(folder / "texts.npy", 5, TEXTS, None) == 3  # nothing is left
    shards = GraphShards(folder, texts=folder / "texts.npy")
    shards.check()
    assert np.array_equal(shards.texts, WANTED)
    batch = shards.assemble([2, 4, 1])
    assert batch.text.tolist() == WANTED[[2, 4, 1]].tolist()
    device = DeviceShards(shards, torch.device("cpu"))
    sizes = shards.measure(np.array([[2, 4, 1]]))[0]
    there = device.assemble(torch.tensor([2, 4, 1]), BatchSize(*sizes.tolist()))
    assert torch.equal(there.text, batch.text)


def test_a_stopped_encoding_goes_on(folder, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 1)  # batches, of five texts
    seen = []

    def fail_at_third(texts):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.extend(texts)
        return encode(texts)

    with pytest.raises(KeyboardInterrupt):
        write_texts(folder / "texts.npy", 5, TEXTS, fail_at_third)
    assert GraphShards(folder, texts=folder / "texts.npy").texts is None
    rest = []

    def note(texts):
        rest.extend(texts)
        return encode(texts)

    write_texts(folder / "texts.npy", 5, TEXTS, note)
    assert (seen, rest) == (["banana", "fig"], ["papaya"])
    assert np.array_equal(GraphShards(folder, texts=folder / "texts.npy").texts, WANTED)
    write_texts(folder / "texts.npy", 5, TEXTS, note)  # done: nothing is encoded again
    assert rest == ["papaya"]
    assert not list(folder.glob(".texts*"))


def test_graphs_without_texts_have_zeros(folder):
    assert write_texts(folder / "texts.npy", 5, (), encode, width=3) == 3
    assert not GraphShards(folder, texts=folder / "texts.npy").texts.any()


def test_joined_texts_follow_one_another(folder, tmp_path):
    join_texts([(None, 5), (None, 2)], tmp_path / "plain.npy")
    assert not (tmp_path / "plain.npy").exists()
    write_texts(folder / "texts.npy", 5, TEXTS, encode)
    texts = open_texts(folder / "texts.npy", 5)
    join_texts([(texts, 5), (None, 2)], tmp_path / "joined.npy")
    found = open_texts(tmp_path / "joined.npy", 7)
    assert np.array_equal(found, np.concatenate([WANTED, np.zeros((2, 3))]))


def test_a_file_of_other_graphs_is_refused(folder):
    np.save(folder / "texts.npy", np.zeros((4, 3), np.float16))
    with pytest.raises(MalformedInputError, match="each of 5 graphs"):
        GraphShards(folder, texts=folder / "texts.npy")
