"""Tests of significance, their corrections, intervals, and comparisons."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mathamr_kedro.base.errors import ConfigurationError, InputError
from mathamr_kedro.evaluation.stats.significance import (
    QUERY_SECONDS,
    TestConfig,
    bonferroni,
    bootstrap_interval,
    compare_with_baseline,
    holm,
    paired_t_test,
    randomisation_test,
)

VALUES = np.random.default_rng(2).normal(0.03, 0.1, 78)
RNG = np.random.default_rng(7)
BASE = {"nDCG'": RNG.random(78), "MAP'": RNG.random(78) / 2}
SCORES = {
    "none": BASE,
    "both": {m: v + RNG.normal(0.05, 0.1, 78) for m, v in BASE.items()},
    "slt": {m: v + RNG.normal(0.02, 0.1, 78) for m, v in BASE.items()},
}


def two_systems(seed: int, topics: int, shift: float):
    rng = np.random.default_rng(seed)
    base = rng.beta(2, 3, topics)
    return np.clip(base + rng.normal(shift, 0.1, topics), 0, 1), base


@pytest.mark.parametrize("topics", [2, 5, 78])
@pytest.mark.parametrize("shift", [0.0, 0.03, 0.3])
def test_t_test_is_that_of_scipy(topics, shift):
    a, b = two_systems(1, topics, shift)
    ours, theirs = paired_t_test(a, b), stats.ttest_rel(a, b)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_tiny_p_values_do_not_vanish():
    a, b = two_systems(1, 78, 0.5)
    theirs = stats.ttest_rel(a, b).pvalue
    assert 0 < theirs < 1e-25
    assert paired_t_test(a, b).p_value == pytest.approx(theirs, rel=1e-9)


def test_same_scores_do_not_differ():
    a = np.array([0.1, 0.2, 0.3])
    assert paired_t_test(a, a) == (0.0, 1.0)
    assert randomisation_test(a, a).p_value == 1.0


def test_the_same_difference_everywhere_is_certain():
    a = np.array([0.1, 0.2, 0.3])
    assert paired_t_test(a - 0.25, a) == (-np.inf, 0.0)
    b = np.linspace(0.1, 0.9, 9)
    assert len(set(b + 0.1 - b)) > 1  # but for rounding
    assert paired_t_test(b + 0.1, b) == (np.inf, 0.0)


@pytest.mark.parametrize("topics", [2, 3, 8])
def test_randomisation_tries_all_signs_of_few_topics(topics):
    a, b = two_systems(1, topics, 0.05)
    d = a - b
    flipped = [abs((d * signs).mean()) for signs in product((1, -1), repeat=topics)]
    expected = np.mean(np.array(flipped) >= abs(d.mean()) - 1e-12)
    ours = randomisation_test(a, b)
    assert ours.p_value == expected
    assert ours.statistic == pytest.approx(d.mean())


@pytest.mark.parametrize("seed", range(3))
def test_exact_randomisation_is_that_of_scipy(seed):
    a, b = two_systems(seed, 10, 0.05)
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", n_resamples=np.inf, vectorized=True,
    )  # fmt: skip
    assert randomisation_test(a, b).p_value == pytest.approx(theirs.pvalue, abs=1e-12)


def test_topics_without_difference_do_not_need_signs():
    a, b = two_systems(0, 8, 0.05)
    many = np.concatenate((a, np.full(70, 0.5))), np.concatenate((b, np.full(70, 0.5)))
    assert randomisation_test(*many).p_value == randomisation_test(a, b).p_value


@pytest.mark.parametrize("seed", range(4))
def test_drawn_signs_agree_with_all_signs(seed):
    a, b = two_systems(seed, 14, 0.04)
    exact = randomisation_test(a, b, num_samples=2**14).p_value
    drawn = randomisation_test(a, b, num_samples=2**14 - 1, seed=seed).p_value
    error = np.sqrt(exact * (1 - exact) / 2**14)
    assert drawn != exact
    assert abs(drawn - exact) < 4 * error + 1e-4


def test_drawn_p_value_is_never_zero_and_depends_on_the_seed_alone():
    a, b = two_systems(0, 78, 0.5)
    assert randomisation_test(a, b, num_samples=999).p_value == 1 / 1000
    a, b = two_systems(0, 78, 0.01)
    first, again, other = (
        randomisation_test(a, b, 20_000, seed).p_value for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first == 10_217 / 20_001  # as in tables that were printed before


@pytest.mark.parametrize("test", [paired_t_test, randomisation_test])
def test_topics_must_match(test):
    with pytest.raises(InputError, match=r"shapes \(3,\) and \(2,\)"):
        test(np.zeros(3), np.zeros(2))
    with pytest.raises(InputError, match=r"at least two topics to test \(got 1\)"):
        test(np.zeros(1), np.zeros(1))


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_interval_is_that_of_scipy_up_to_the_draw(confidence):
    theirs = stats.bootstrap(
        (VALUES,), np.mean, n_resamples=20_000, confidence_level=confidence,
        method="percentile", rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    ours = bootstrap_interval(VALUES, confidence, num_samples=20_000, seed=1)
    assert ours == pytest.approx(tuple(theirs), abs=0.001)


def test_interval_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        low, high = bootstrap_interval(rng.normal(1, 1, 60), num_samples=500)
        hits += low <= 1 <= high
    assert 0.90 <= hits / 300 <= 0.98


def test_one_topic_has_no_width_and_none_is_refused():
    assert bootstrap_interval(np.array([0.5])) == (0.5, 0.5)
    with pytest.raises(InputError, match="at least one topic"):
        bootstrap_interval(np.array([]))


@pytest.mark.parametrize("count", [1, 4, 12])
@pytest.mark.parametrize(
    ("ours", "theirs"), [(bonferroni, "bonferroni"), (holm, "holm")]
)
def test_corrected_p_values_are_those_of_statsmodels(monkeypatch, count, ours, theirs):
    # statsmodels looks for garbage at every call: seconds, beside all other tests.
    monkeypatch.setattr("gc.collect", lambda: 0)
    rng = np.random.default_rng(1)
    p_values = rng.choice([1e-12, 0.001, 0.004, 0.02, 0.04, 0.3, 1.0], count)
    expected = multipletests(p_values, method=theirs)[1]
    np.testing.assert_allclose(ours(p_values), expected, rtol=1e-12)


def test_holm_is_never_stricter_than_bonferroni():
    p_values = np.random.default_rng(1).random(50) ** 4
    assert (holm(p_values) <= bonferroni(p_values)).all()
    assert (holm(p_values) < bonferroni(p_values)).any()


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


def test_randomisation_may_decide():
    config = TestConfig(test="randomisation", num_samples=2000, seed=3)
    tests = compare_with_baseline(SCORES, "none", config)
    for test in tests:
        assert test.p_bonferroni == min(1.0, 4 * test.p_randomisation)


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


def test_one_topic_is_not_tested():
    scores = {
        name: {"nDCG'": np.array([own])} for name, own in (("a", 1.0), ("b", 0.5))
    }
    assert compare_with_baseline(scores, "a") == []
