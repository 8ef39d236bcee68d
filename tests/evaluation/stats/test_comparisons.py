"""Conditions against a baseline."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mathamr_kedro.base.errors import ConfigurationError, InputError
from mathamr_kedro.evaluation.stats.comparisons import (
    QUERY_SECONDS,
    TestConfig,
    compare_with_baseline,
    count_wins,
)

RNG = np.random.default_rng(7)
BASE = {"nDCG'": RNG.random(78), "MAP'": RNG.random(78) / 2}
SCORES = {
    "none": BASE,
    "both": {m: v + RNG.normal(0.05, 0.1, 78) for m, v in BASE.items()},
    "slt": {m: v + RNG.normal(0.02, 0.1, 78) for m, v in BASE.items()},
}


def test_every_condition_is_tested_on_every_measure_in_order():
    tests = compare_with_baseline(SCORES, "none")
    assert [(t.condition, t.measure) for t in tests] == [
        ("both", "nDCG'"), ("both", "MAP'"), ("slt", "nDCG'"), ("slt", "MAP'"),
    ]  # fmt: skip


def test_all_tests_of_the_experiment_are_one_family():
    tests = compare_with_baseline(SCORES, "none")
    for test in tests:
        a, b = SCORES[test.condition][test.measure], BASE[test.measure]
        raw = stats.ttest_rel(a, b).pvalue
        assert test.p_t == pytest.approx(raw, rel=1e-9)
        assert test.p_bonferroni == pytest.approx(min(1, 4 * raw), rel=1e-9)
        assert test.significant == (raw < 0.05 / 4)  # the thesis' words
        assert test.difference == pytest.approx(np.mean(a - b))
        assert test.mean == pytest.approx(np.mean(a))
        assert test.baseline_mean == pytest.approx(np.mean(b))
        assert test.baseline == "none"
        assert test.interval.low < test.difference < test.interval.high
    assert {test.significant for test in tests} == {True, False}


def test_correction_and_level_decide():
    def marks(**settings):
        tests = compare_with_baseline(SCORES, "none", TestConfig(**settings))
        return sum(test.significant for test in tests)

    strict, holm, raw = (marks(correction=c) for c in ("bonferroni", "holm", "none"))
    assert strict <= holm <= raw
    assert marks(alpha=0.0) == 0
    assert marks(alpha=1.0, correction="none") == 4


def test_a_p_value_at_the_level_is_not_significant():
    (test,) = compare_with_baseline(
        {"a": {"MAP'": BASE["MAP'"]}, "b": {"MAP'": BASE["MAP'"]}},
        "a",
        TestConfig(alpha=1.0),
    )
    assert (test.p_t, test.significant) == (1.0, False)


def test_randomisation_may_decide():
    config = TestConfig(test="randomisation", num_samples=2000, seed=3)
    tests = compare_with_baseline(SCORES, "none", config)
    for test in tests:
        assert test.p_bonferroni == min(1.0, 4 * test.p_randomisation)


def test_wins_ties_and_losses_add_up():
    a, b = np.array([0.5, 0.5, 0.2, 0.9]), np.array([0.4, 0.5 + 1e-12, 0.6, 0.1])
    assert count_wins(a - b) == (2, 1, 1)


def test_a_measure_that_a_condition_lacks_is_not_tested():
    scores = {**SCORES, "slt": {"MAP'": SCORES["slt"]["MAP'"]}}
    assert len(compare_with_baseline(scores, "none")) == 3


def test_unknown_baseline_is_refused():
    with pytest.raises(
        ConfigurationError, match=r"\(got 'nine'\); did you mean 'none'"
    ):
        compare_with_baseline(SCORES, "nine")


def test_different_topics_are_refused():
    scores = {"a": {"MAP'": np.zeros(5)}, "b": {"MAP'": np.zeros(4)}}
    with pytest.raises(InputError, match="b against a, MAP'"):
        compare_with_baseline(scores, "a")


def test_a_baseline_alone_has_no_tests():
    assert compare_with_baseline({"none": BASE}, "none") == []


def test_less_time_is_a_win():
    times = {"a": {QUERY_SECONDS: np.array([1.0, 2.0, 3.0])}}
    times["b"] = {QUERY_SECONDS: np.array([0.5, 1.0, 4.0])}
    (found,) = compare_with_baseline(times, "a")
    assert (found.wins, found.ties, found.losses) == (2, 0, 1)
    assert found.difference == pytest.approx(-1 / 6)


def test_settings_are_those_of_the_thesis_and_have_limits():
    assert (TestConfig().alpha, TestConfig().confidence, TestConfig().seed) == (
        0.05, 0.95, 0,
    )  # fmt: skip
    for allowed in ({"alpha": 0}, {"confidence": 1}, {"num_samples": 1}, {"seed": 0}):
        TestConfig(**allowed)
    for name, value in (
        ("alpha", -0.1), ("alpha", 1.1), ("confidence", 1.5), ("confidence", -1),
        ("num_samples", 0), ("seed", -1),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError, match=f"Expected {name} .*got {value}"):
            TestConfig(**{name: value})
