"""Encoding in a stream gives what single batches give."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.learning.encoding import encode_shards, share_rooms
from mathamr_kedro.model.mathamr_plus import MathAMRPlus


@pytest.fixture
def model(shards, model_config):
    torch.manual_seed(0)
    return MathAMRPlus(model_config, shards.schema).eval()


def test_stream_equals_one_batch(shards, model):
    parts = list(encode_shards(model, shards, batch_size=7))
    assert len(parts) == 6
    whole = model(shards.assemble(range(40))).detach().numpy()
    vectors = np.concatenate([p.vectors for p in parts])
    assert np.allclose(vectors, whole, atol=1e-5)
    assert sum(map(len, parts)) == 40


def test_vectors_belong_to_their_post(shards, model):
    (part,) = encode_shards(model, shards, positions=[5, 2, 9])
    alone = model(shards.assemble([2])).detach().numpy()
    middle = slice(part.ptr[1], part.ptr[2])
    assert np.allclose(part.vectors[middle], alone, atol=1e-5)
    graph = shards.graph(2)
    assert part.columns["kind"][middle].tolist() == graph.representative_kind.tolist()
    assert (
        part.columns["number"][middle].tolist() == graph.representative_number.tolist()
    )


def test_nothing_to_encode(shards, model):
    assert list(encode_shards(model, shards, positions=[])) == []


def test_batches_share_a_room_unless_one_is_far_larger():
    sizes = np.array([[100] * 5, [104] * 5, [98] * 5, [300] * 5, [40] * 5])
    rooms = share_rooms(sizes, [8, 8, 8, 8, 3])
    assert [room.node for room in rooms] == [104, 104, 104, 300, 40]


@pytest.mark.gpu
def test_stream_from_the_gpu_equals_the_cpu(shards, model):
    expected = list(encode_shards(model, shards, batch_size=7))
    mine = list(encode_shards(model.to("cuda"), shards, batch_size=7))
    for a, b in zip(mine, expected, strict=True):
        assert np.allclose(a.vectors, b.vectors, atol=1e-5)
        assert a.ptr.tolist() == b.ptr.tolist()
        assert a.columns["kind"].tolist() == b.columns["kind"].tolist()
