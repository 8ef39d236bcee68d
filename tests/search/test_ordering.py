"""Right order from nearly right scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.search.ordering import choose_best, rank_ids, sort_hits

from .conftest import slow_ranking


def choose(truth, noise, depth, slack, keys, looked=None):
    """Choose from noisy scores; true ones are given on demand."""
    truth = torch.as_tensor(truth, dtype=torch.float64)

    def rescore(which, places):
        assert (which.diff() >= 0).all()
        if looked is not None:
            looked.extend(places.tolist())
        return truth[which, places]

    ranks = torch.from_numpy(rank_ids(keys))
    scores = (truth + torch.as_tensor(noise)).float()
    best = choose_best(scores, depth, slack, rescore, lambda places: ranks[places])
    return [([keys[p] for p in b.places.tolist()], b.scores.numpy()) for b in best]


@pytest.mark.parametrize("depth", [1, 5, 60, 400, 1000])
@pytest.mark.parametrize("slack", [1e-6, 1e-2, 0.5])
def test_noise_within_the_slack_never_changes_the_order(depth, slack):
    rng = np.random.default_rng(depth)
    keys = [str(k) for k in rng.permutation(400)]
    truth = rng.random((3, 400))
    truth[1] = np.round(truth[1], 1)  # many ties
    truth[2] = 0.25  # nothing but ties
    noise = rng.uniform(-0.9, 0.9, truth.shape) * slack
    found = choose(truth, noise, depth, slack, keys)
    for row, (ids, scores) in zip(truth, found, strict=True):
        by_key = dict(zip(keys, row.tolist(), strict=True))
        assert ids == slow_ranking(by_key, depth)
        expected = [by_key[i] for i in ids]
        np.testing.assert_allclose(scores, expected, rtol=0, atol=slack + 1e-7)


def test_only_near_scores_are_looked_at_again():
    looked: list[int] = []
    truth = [[0.9, 0.5, 0.5000001, 0.1, 0.7]]
    keys = list("abcde")
    found = choose(truth, 0.0, 4, 1e-6, keys, looked)
    assert found[0][0] == ["a", "e", "c", "b"]
    assert sorted(looked) == [1, 2]


def test_what_may_not_be_returned_is_not():
    truth = torch.tensor([[0.9, -torch.inf, 0.3], [-torch.inf] * 3])
    found = choose(truth, 0.0, 3, 1e-6, list("abc"))
    assert [ids for ids, _ in found] == [["a", "c"], []]


def test_nothing_to_choose_from_gives_nothing():
    found = choose(torch.empty(2, 0), torch.empty(2, 0), 5, 1e-6, [])
    assert [ids for ids, _ in found] == [[], []]


def test_ranks_of_ids_follow_length_then_text():
    ids = ["q_12", "9", "17", "", "ζ", "10", "a:b"]
    order = sorted(range(len(ids)), key=rank_ids(ids).__getitem__)
    assert [ids[i] for i in order] == sorted(ids, key=lambda i: (len(i), i))


def test_scores_equal_to_nine_decimals_are_ties():
    assert sort_hits(["b", "a"], [0.5 + 1e-11, 0.5]) == [("a", 0.5), ("b", 0.5)]
    assert sort_hits(["b", "a"], [0.5 + 1e-8, 0.5])[0][0] == "b"
