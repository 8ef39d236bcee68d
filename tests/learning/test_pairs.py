"""Pairs by id or position, their split, and the batches of each epoch."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import (
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.learning.pairs import EpochPlan, TrainingPairs


def test_pairs_say_which_are_held_out(shards):
    rows, held_out = np.array([[3, 5], [4, 6]]), np.array([True, False])
    learn, check = TrainingPairs.of_rows(rows, shards, held_out).split(seed=0)
    assert (learn.queries.tolist(), learn.documents.tolist()) == ([4], [6])
    assert (check.queries.tolist(), check.documents.tolist()) == ([3], [5])


def test_there_may_be_no_pairs(shards):
    assert len(TrainingPairs.of_rows(np.zeros((0, 2)), shards)) == 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[3]], "a question and an answer"),
        ([[3, 5, 9]], "a question and an answer"),
        ([[3, 40]], r"below 40 in the pairs \(got 40\)"),
        ([[3, -1]], r"below 40 in the pairs \(got -1\)"),
    ],
)
def test_broken_pairs_are_refused(shards, rows, message):
    with pytest.raises(MalformedInputError, match=message):
        TrainingPairs.of_rows(np.array(rows), shards)


@pytest.fixture
def pairs(shards):
    rows = [[i, 20 + i] for i in range(20)]
    return TrainingPairs.of_rows(np.array(rows), shards)


def test_split_is_a_partition_that_the_seed_decides(pairs):
    learn, check = pairs.split(seed=3)
    assert (len(learn), len(check)) == (18, 2)
    assert sorted([*learn.queries, *check.queries]) == list(range(20))
    again, other = pairs.split(seed=3)[1], pairs.split(seed=4)[1]
    assert check.queries.tolist() == again.queries.tolist() != other.queries.tolist()


@pytest.mark.parametrize(
    ("count", "held_out"),
    [(3, 0), (4, 2), (15, 2), (20, 2)],  # a single one has no negative
)
def test_so_many_pairs_are_held_out(pairs, count, held_out):
    assert len(pairs.take(np.arange(count)).split(seed=1)[1]) == held_out


def test_positions_and_marks_must_fit(shards):
    last = len(shards) - 1
    assert TrainingPairs.of_rows(np.array([[0, last]]), shards).documents[0] == last
    for rows in (np.array([0, 1]), np.array([[0], [1]])):
        with pytest.raises(MalformedInputError, match="a question and an answer"):
            TrainingPairs.of_rows(rows, shards)
    with pytest.raises(MalformedInputError, match=r"2 marks .*\(got 3\)"):
        TrainingPairs.of_rows([[0, 1], [2, 3]], shards, np.zeros(3, dtype=bool))


def test_two_pairs_make_a_batch(pairs):
    plan = EpochPlan(pairs.take(np.arange(2)), 32, 0)
    assert (plan.batch_size, plan.steps) == (2, 1)


def test_epoch_shows_each_pair_once(pairs):
    plan = EpochPlan(pairs, batch_size=6, seed=0)
    rows = plan.epoch(0)
    assert rows.shape == (3, 12)
    assert len(set(rows[:, :6].flatten())) == 18
    assert (rows[:, 6:] == rows[:, :6] + 20).all()
    assert rows.tolist() == plan.epoch(0).tolist() != plan.epoch(1).tolist()


def test_a_pair_alone_has_no_negatives(pairs):
    with pytest.raises(MissingInputError, match="at least 2 training pairs"):
        EpochPlan(pairs.take(np.array([0])), 4, 0)
