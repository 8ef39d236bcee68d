"""Pairs by id or position, their split, and the batches of each epoch."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.learning.pairs import NOTHING, EpochPlan, TrainingPairs


def columns(pairs):
    return [pairs.queries.tolist(), pairs.documents.tolist(), pairs.negatives.tolist()]


def test_json_names_posts_or_positions(shards, tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([["3", "5"], ["4", "6", "9", "8"], [7, 1]]))
    none = [NOTHING, NOTHING]
    expected = [[3, 4, 7], [5, 6, 1], [none, [9, 8], none]]
    assert columns(TrainingPairs.read(path, shards)) == expected


def test_no_pairs_have_no_negatives(shards):
    pairs = TrainingPairs.of_rows([], shards)
    assert (len(pairs), pairs.negatives.shape) == (0, (0, 0))


@pytest.mark.parametrize("kind", [np.int32, str])
def test_npz_names_posts_or_positions(shards, tmp_path, kind):
    rows = np.array([[3, 5, 9], [4, 6, 2]]).astype(kind)
    held_out = np.array([True, False])
    np.savez(tmp_path / "pairs.npz", pairs=rows, validation=held_out)
    pairs = TrainingPairs.read(tmp_path / "pairs.npz", shards)
    assert columns(pairs) == [[3, 4], [5, 6], [[9], [2]]]
    learn, check = pairs.split(0.5, seed=0)
    assert (learn.queries.tolist(), check.queries.tolist()) == ([4], [3])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["3"]], "a question and an answer"),
        ([["3", ""]], "a question and an answer"),
        ([[3, 40]], r"below 40 in the pairs \(got 40\)"),
    ],
)
def test_broken_pairs_are_refused(shards, rows, message):
    with pytest.raises(MalformedInputError, match=message):
        TrainingPairs.of_rows(rows, shards)


def test_missing_posts_and_files_are_named(shards, tmp_path):
    with pytest.raises(MissingInputError, match="post '99'"):
        TrainingPairs.of_rows([["3", "99"]], shards)
    with pytest.raises(MissingInputError, match=r"none\.json"):
        TrainingPairs.read(tmp_path / "none.json", shards)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(MalformedInputError, match=r"bad\.json"):
        TrainingPairs.read(tmp_path / "bad.json", shards)


@pytest.fixture
def pairs(shards):
    rows = [[i, 20 + i, 20 + (i + 1) % 20] for i in range(20)]
    rows[7] = [7, 27, NOTHING]
    return TrainingPairs.of_rows(np.array(rows), shards)


def test_split_is_a_partition_that_the_seed_decides(pairs):
    learn, check = pairs.split(0.25, seed=3)
    assert (len(learn), len(check)) == (15, 5)
    assert sorted([*learn.queries, *check.queries]) == list(range(20))
    again, other = pairs.split(0.25, seed=3)[1], pairs.split(0.25, seed=4)[1]
    assert check.queries.tolist() == again.queries.tolist() != other.queries.tolist()


@pytest.mark.parametrize(
    ("count", "share", "held_out"),
    [
        (20, 0.1, 2), (20, 0.3, 6), (20, 0.0, 0),
        (20, 0.01, 2),  # one alone, or none, would have nothing to differ from
        (4, 0.1, 2), (3, 0.1, 0), (3, 0.4, 1),
    ],
)  # fmt: skip
def test_so_many_pairs_are_held_out(pairs, count, share, held_out):
    some = pairs.take(np.arange(count))
    assert some.hold_out(share, seed=1).sum() == held_out


def test_positions_and_marks_must_fit(shards):
    last = len(shards) - 1
    assert TrainingPairs.of_rows(np.array([[0, last]]), shards).documents[0] == last
    for rows in (np.array([0, 1]), np.array([[0], [1]]), np.array([[0, -1]])):
        with pytest.raises(MalformedInputError, match="a question and an answer"):
            TrainingPairs.of_rows(rows, shards)
    with pytest.raises(MalformedInputError, match=r"2 marks .*\(got 3\)"):
        TrainingPairs.of_rows([[0, 1], [2, 3]], shards, np.zeros(3, dtype=bool))


def test_documents_are_drawn_once_each(shards):
    rows = np.array([[0, 9], [1, 8], [2, 9], [3, 7], [4, 8]])
    pairs = TrainingPairs.of_rows(rows, shards)
    assert pairs.draw_documents(None, 0).tolist() == [0, 1, 3]
    assert pairs.draw_documents(3, 0).tolist() == [0, 1, 3]
    two = pairs.draw_documents(2, 0).tolist()
    assert len(two) == 2 and set(two) < {0, 1, 3} and two == sorted(two)


def test_two_pairs_make_a_batch(pairs):
    plan = EpochPlan(pairs.take(np.arange(2)), 32, 0, 0)
    assert (plan.batch_size, plan.steps) == (2, 1)


def test_epoch_shows_each_pair_once(pairs):
    plan = EpochPlan(pairs, batch_size=6, hard_negatives=0, seed=0)
    rows = plan.epoch(0)
    assert rows.shape == (3, 12)
    assert len(set(rows[:, :6].flatten())) == 18
    assert (rows[:, 6:] == rows[:, :6] + 20).all()
    assert rows.tolist() == plan.epoch(0).tolist() != plan.epoch(1).tolist()


def test_processes_share_a_batch(pairs):
    plan = EpochPlan(pairs, batch_size=4, hard_negatives=1, seed=0)
    whole, parts = plan.epoch(2), [plan.epoch(2, r, 2) for r in (0, 1)]
    for kind in range(3):  # queries, documents, negatives
        mine = [part[:, 2 * kind : 2 * kind + 2] for part in parts]
        expected = whole[:, 4 * kind : 4 * kind + 4]
        assert np.concatenate(mine, 1).tolist() == expected.tolist()


def test_hard_negatives_follow_their_pairs(pairs):
    plan = EpochPlan(pairs, batch_size=5, hard_negatives=2, seed=0)
    rows = plan.epoch(0)
    negatives = rows[:, 10:].reshape(-1, 2)
    for query, (first, second) in zip(rows[:, :5].flatten(), negatives, strict=True):
        if query != 7:
            assert first == 20 + (query + 1) % 20
        # The missing ones are documents of other pairs.
        assert second >= 20 and second != 20 + query


def test_impossible_plans_are_refused(pairs):
    with pytest.raises(MissingInputError, match="at least 2 training pairs"):
        EpochPlan(pairs.take(np.array([0])), 4, 0, 0)
    without = TrainingPairs.of_rows(np.array([[0, 1], [2, 3]]), _Anything())
    with pytest.raises(ConfigurationError, match="third column"):
        EpochPlan(without, 2, 1, 0)


class _Anything:
    def __len__(self):
        return 4
