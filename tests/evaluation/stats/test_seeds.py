"""Best seed, mean and deviation."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.evaluation.stats.result_tables import (
    SeedResult,
    select_best_seed,
    summarise_seeds,
)


def result(seed: int, ndcg: float, **figures: float) -> SeedResult:
    return SeedResult(seed, {"nDCG'": np.array([ndcg - 0.1, ndcg + 0.1])}, figures)


def test_best_seed_has_the_highest_mean():
    results = [result(1, 0.40), result(42, 0.45), result(3, 0.41)]
    assert select_best_seed(results).seed == 42


def test_smallest_seed_wins_a_draw():
    assert select_best_seed([result(9, 0.4), result(2, 0.4)]).seed == 2


def test_another_value_may_decide():
    results = [result(1, 0.4, QPS=10), result(2, 0.3, QPS=20)]
    assert select_best_seed(results, by="QPS").seed == 2


def test_a_figure_is_shown_instead_of_a_mean():
    times = SeedResult(1, {"QPS": np.array([0.1, 0.3])}, {"QPS": 90.1})
    assert times.value("QPS") == 90.1


def test_deviation_is_that_of_a_sample():
    spread = summarise_seeds([result(s, v) for s, v in ((1, 0.4), (2, 0.5))], "nDCG'")
    assert spread.mean == pytest.approx(0.45)
    assert spread.std == pytest.approx(np.std([0.4, 0.5], ddof=1))
    assert spread.num_seeds == 2
    assert summarise_seeds([result(1, 0.4)], "nDCG'").std is None


def test_missing_values_and_seeds_are_refused():
    with pytest.raises(InputError, match=r"No value 'nDGC'' for seed 1; did you mean"
                       .replace("'nDGC''", "\"nDGC'\"")):  # fmt: skip
        result(1, 0.4).value("nDGC'")
    for function in (select_best_seed, lambda r: summarise_seeds(r, "nDCG'")):
        with pytest.raises(InputError, match="at least one seed"):
            function([])
