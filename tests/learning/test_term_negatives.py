"""Negatives by BM25 against a loop over all documents."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.learning.negatives import NegativesConfig
from mathamr_kedro.learning.pairs import NOTHING, TrainingPairs
from mathamr_kedro.learning.term_negatives import TermMiner
from mathamr_kedro.text.bm25 import TermIndex

COUNT = 12


@pytest.fixture
def world():
    """Twelve pairs of random terms; pairs 0 to 2 are of one group."""
    rng = np.random.default_rng(4)
    numbers = np.arange(2 * COUNT)
    terms = {int(n): [f"t{k}" for k in rng.integers(0, 9, 6)] for n in numbers}
    nothing = np.zeros((COUNT, 0), dtype=np.int64)
    pairs = TrainingPairs(numbers[:COUNT], numbers[COUNT:], nothing)
    return pairs, np.array([0, 0, 0, *range(1, COUNT - 2)]), terms


@pytest.mark.parametrize("skip", [0, 2])
def test_miner_equals_a_loop(world, skip):
    pairs, groups, terms = world
    miner = TermMiner(
        pairs, groups, terms, NegativesConfig("bm25", kept=3, skip=skip), seed=0
    )
    index = TermIndex((str(n), terms[12 + n]) for n in range(COUNT))
    for n in range(COUNT):
        ranked = [int(k) for k in index.search(terms[n], COUNT).ids]
        wrong = [COUNT + k for k in ranked if groups[k] != groups[n]]
        expected = (wrong[skip : skip + 3] + [NOTHING] * 3)[:3]
        assert miner.mine(n).tolist() == expected


def test_posts_without_terms_find_nothing(world):
    pairs, groups, terms = world
    del terms[3]
    miner = TermMiner(pairs, groups, terms, NegativesConfig("bm25", kept=2), seed=0)
    assert miner.mine(3).tolist() == [NOTHING, NOTHING]


def test_a_pool_bounds_the_search(world):
    pairs, groups, terms = world
    config = NegativesConfig("bm25", kept=COUNT, skip=0, pool=4)
    miner = TermMiner(pairs, groups, terms, config, seed=0)
    found = {int(p) for n in range(COUNT) for p in miner.mine(n) if p >= 0}
    assert len(found) <= 4
