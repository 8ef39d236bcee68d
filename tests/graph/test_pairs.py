"""Training pairs: existing graphs, one seed, nine to one."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph.preparation import PairSplit, SplitConfig

PAIRS = [(f"q{n}", f"a{n}") for n in range(100)]
POSTS = {post for pair in PAIRS for post in pair}


def test_pairs_are_split_nine_to_one() -> None:
    split = PairSplit.draw(PAIRS, POSTS, SplitConfig())
    assert (len(split.train), len(split.validation)) == (90, 10)
    assert sorted([*split.train, *split.validation]) == sorted(PAIRS)


def test_the_seed_decides_the_split() -> None:
    first = PairSplit.draw(PAIRS, POSTS, SplitConfig(seed=1))
    assert first == PairSplit.draw(PAIRS, POSTS, SplitConfig(seed=1))
    assert first != PairSplit.draw(PAIRS, POSTS, SplitConfig(seed=2))


def test_pairs_without_a_graph_are_left_out_and_counted() -> None:
    split = PairSplit.draw(PAIRS, POSTS - {"q3", "a4"}, SplitConfig())
    kept = {*split.train, *split.validation}
    assert ("q3", "a3") not in kept
    assert ("q4", "a4") not in kept
    assert split.without_graph == 2
    assert len(kept) == 98


def test_a_repeated_pair_counts_once() -> None:
    split = PairSplit.draw([*PAIRS, *PAIRS], POSTS, SplitConfig())
    assert len(split.train) + len(split.validation) == 100


def test_an_experiment_draws_some_of_the_pairs() -> None:
    split = PairSplit.draw(PAIRS, POSTS, SplitConfig(max_pairs=50))
    assert (len(split.train), len(split.validation)) == (45, 5)


def test_training_posts_are_those_of_the_training_part() -> None:
    split = PairSplit.draw(PAIRS, POSTS, SplitConfig(max_pairs=10))
    assert split.training_posts == {post for pair in split.train for post in pair}
    assert len(split.training_posts) == 18


def test_no_pairs_make_an_empty_split() -> None:
    split = PairSplit.draw([], POSTS, SplitConfig())
    assert split.train == split.validation == []


@pytest.mark.parametrize(
    "options", [{"train_share": 0.0}, {"train_share": 1.5}, {"max_pairs": 0}]
)
def test_senseless_options_are_refused(options: dict) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        SplitConfig(**options)
