"""Every batch fits into its bucket, and little room is left over."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.learning.steps import LEVELS, Buckets


def draw_batches(shards, steps=200, graphs=8):
    rng = np.random.default_rng(0)
    return np.stack([rng.choice(len(shards), graphs) for _ in range(steps)])


def test_batches_fit(shards):
    batches = draw_batches(shards)
    chosen = Buckets(shards, batches, 4).choose(batches)
    sizes = shards.measure(batches)
    queries = shards.measure(batches[:, :4])[:, -1]
    for bucket, size, query in zip(chosen, sizes, queries, strict=True):
        assert all(need <= room for need, room in zip(size, bucket.size, strict=True))
        assert query <= bucket.query_room


def test_a_few_buckets_hold_all_batches_of_the_first_epoch(shards):
    batches = draw_batches(shards)
    chosen = Buckets(shards, batches, 4).choose(batches)
    assert max(b.level for b in chosen) < LEVELS
    assert len({b.level for b in chosen}) > 2


def test_little_room_is_left_over(shards):
    batches = draw_batches(shards, graphs=32)
    chosen = Buckets(shards, batches, 16).choose(batches)
    nodes = shards.measure(batches)[:, 0]
    rooms = np.array([b.size.node - 2 * 64 for b in chosen])
    assert np.mean(rooms / nodes) < 1.1


def test_a_large_batch_takes_a_large_bucket(shards):
    buckets = Buckets(shards, draw_batches(shards), 4)
    largest = int(np.argmax(shards.arrays["sizes"][:, 0]))
    (bucket,) = buckets.choose(np.full((1, 8), largest))
    assert bucket.level > 0
    assert bucket.size.node >= 8 * shards.arrays["sizes"][largest, 0]


def test_buckets_depend_on_the_batches_alone(shards):
    batches = draw_batches(shards)
    one, two = (Buckets(shards, batches, 4).choose(batches[:9]) for _ in range(2))
    assert one == two
