"""Right order from nearly right scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.base.hits import rank_ids
from mathamr_kedro.vectors import rescoring
from mathamr_kedro.vectors.rescoring import Choice, name_items, select_top
from tests.vectors.conftest import slow_ranking


def choose(truth, noise, depth, slack, keys, looked=None, ranked=None):
    """Choose from noisy scores of shuffled items; true ones are given on demand."""
    truth = torch.as_tensor(truth, dtype=torch.float64)
    order = torch.from_numpy(np.random.default_rng(0).permutation(truth.shape[1]))

    def rescore(which, items):
        assert (which.diff() >= 0).all()
        assert which.is_contiguous()  # kernels read it element by element
        if looked is not None:
            looked.extend(items.tolist())
        return truth[which, items]

    def rank(items):
        if ranked is not None:
            ranked.extend(items.tolist())
        return ranks[items]

    ranks = rank_ids(keys)
    scores = (truth + torch.as_tensor(noise)).float()[:, order]
    best = Choice(scores, order, depth, slack, rescore, rank).finish()
    return [([keys[p] for p in items], scores) for items, scores in best]


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


def test_one_query_alone_is_looked_at_again_too():
    truth = np.linspace(0, 1, 40)[None]
    keys = [str(k) for k in range(40)]
    ((ids, _),) = choose(truth, np.zeros_like(truth), 3, 0.5, keys)
    assert ids == ["39", "38", "37"]


def test_choices_in_a_row_do_not_disturb_each_other():
    """Two batches at once: the second starts before the first is finished."""
    truth = torch.rand(2, 1, 300, dtype=torch.float64)
    items = torch.arange(300)
    started = [
        Choice(
            scores.float(),
            items,
            20,
            1e-6,
            lambda which, chosen, scores=scores: scores[which, chosen],
            lambda chosen: chosen,
        )
        for scores in truth
    ]
    for scores, choice in zip(truth, started, strict=True):
        ((found, _),) = choice.finish()
        assert found.tolist() == scores[0].argsort(descending=True)[:20].tolist()


def test_only_near_scores_are_looked_at_again():
    looked: list[int] = []
    truth = [[0.9, 0.5, 0.5000001, 0.1, 0.7]]
    keys = list("abcde")
    found = choose(truth, 0.0, 4, 1e-6, keys, looked)
    assert found[0][0] == ["a", "e", "c", "b"]
    assert sorted(looked) == [1, 2]


def test_ids_are_asked_for_where_scores_are_equal_alone():
    ranked: list[int] = []
    truth = [[0.9, 0.5, 0.5, 0.1, 0.7], [0.1, 0.2, 0.3, 0.4, 0.5]]
    found = choose(truth, 0.0, 4, 1e-6, list("baced"), ranked=ranked)
    assert [ids for ids, _ in found] == [list("bdac"), list("deca")]
    assert sorted(ranked) == [1, 2]


@pytest.mark.parametrize("total", [1, 100, 1000, 20_011])
@pytest.mark.parametrize("count", [1, 7, 100])
def test_selection_by_blocks_equals_a_sort(total, count):
    rng = np.random.default_rng(total + count)
    rows = np.array(
        [
            rng.permutation(total),
            np.sort(
                rng.random(total)
            ),  # all of the best in few blocks, and the last ones
            rng.integers(0, 3, total),  # ties
            np.where(rng.random(total) < 0.999, -np.inf, 1.0),
        ]
    )
    padded = torch.from_numpy(np.pad(rows, ((0, 0), (0, 5)), constant_values=9e9))
    scores = padded[:, :total]  # a view, as a scan with filled blocks returns
    count = min(count, total)
    top, places = select_top(scores, count)
    np.testing.assert_array_equal(top, -np.sort(-rows, 1)[:, :count])
    np.testing.assert_array_equal(top, scores.gather(1, places))
    assert all(len(set(row)) == count for row in places.tolist())


def test_what_may_not_be_returned_is_not():
    truth = torch.tensor([[0.9, -torch.inf, 0.3], [-torch.inf] * 3])
    found = choose(truth, 0.0, 3, 1e-6, list("abc"))
    assert [ids for ids, _ in found] == [["a", "c"], []]


def test_nothing_to_choose_from_gives_nothing():
    found = choose(torch.empty(2, 0), torch.empty(2, 0), 5, 1e-6, [])
    assert [ids for ids, _ in found] == [[], []]


def test_items_are_named_list_by_list():
    names = np.array(list("abc"), dtype=object)
    lists = ([2, 0], [], [1])
    best = [(np.array(i, dtype=np.int64), np.zeros(0)) for i in lists]
    assert name_items(best, names.take) == [["c", "a"], [], ["b"]]
    assert name_items(best[1:2], names.take) == [[]]


def test_two_scores_may_be_off_in_opposite_directions():
    """Apart by nearly twice the slack, and still in the wrong order."""
    slack = 1e-6
    truth = np.array([[0.5, 0.5 + 0.2 * slack, 0.1]])
    noise = np.array([[0.95 * slack, -0.95 * slack, 0.0]])
    ((ids, _),) = choose(truth, noise, 2, slack, list("abc"))
    assert ids == ["b", "a"]


@pytest.mark.parametrize("slack", [1e-6, 1e-3])
def test_best_item_far_below_the_cut_of_the_scan_is_found(slack):
    """Fifty-nine worse ones come before it, more than are compared first."""
    keys = [str(k) for k in range(60)]
    truth = np.full((1, 60), 0.5)
    truth[0, 17] += 0.2 * slack
    noise = np.full((1, 60), 0.95 * slack)
    noise[0, 17] = -0.75 * slack
    ((ids, _),) = choose(truth, noise, 1, slack, keys)
    assert ids == ["17"]


@pytest.mark.parametrize("rescored", [3, 10, 40, 100])
def test_a_fixed_number_is_looked_at_if_the_slack_is_unknown(rescored, monkeypatch):
    """Far from the truth: the best by the scan, at least twice the depth of them."""
    monkeypatch.setattr(rescoring, "RESCORED", rescored)
    rng = np.random.default_rng(rescored)
    keys = [str(k) for k in range(60)]
    truth, noise = rng.random((1, 60)), rng.normal(size=(1, 60))
    looked = []
    ((ids, scores),) = choose(truth, noise, 5, torch.inf, keys, looked)
    count = min(60, max(10, rescored))
    best = np.argsort(-(truth + noise)[0])[:count]
    assert sorted(looked) == sorted(best.tolist())
    expected = slow_ranking({keys[i]: truth[0, i] for i in best}, 5)
    assert ids == expected
    np.testing.assert_allclose(scores, [truth[0, int(i)] for i in ids], atol=1e-9)
