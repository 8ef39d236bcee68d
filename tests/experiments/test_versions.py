"""Two versions of a result: what differs, and whether that is chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.changes import Change
from mathamr_kedro.experiments.grid import Cell
from mathamr_kedro.experiments.outcomes import summarise_experiment
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.experiments.versions import (
    _describe_tests,
    _show_p,
    _show_test,
    compare_versions,
)
from tests.experiments.cells import PARAMETERS, fill_store
from tests.experiments.test_outcomes import MEANS, MODES

QUICK = TestConfig(num_samples=200)


def describe(folder, means=MEANS, experiment=MODES, **changes):
    store = CellStore(folder)
    parameters = merge_parameters(PARAMETERS, changes)
    fill_store(store, experiment, means, parameters)
    grid = GridResults.find(experiment, parameters, store)
    return summarise_experiment(grid, QUICK, None).describe()


@pytest.fixture
def old(tmp_path):
    return describe(tmp_path / "old")


@pytest.fixture
def new(tmp_path):
    means = MEANS | {"both": 0.6}
    return describe(tmp_path / "new", means, training={"loss": {"beta": 0.5}})


def test_the_settings_that_differ_are_named_with_both_values(old, new):
    assert Change.list(old, new) == [Change("training.loss.beta", 1, 0.5)]
    assert Change.list(old, old) == []


def test_what_decides_only_how_it_runs_is_no_setting(tmp_path, old):
    other = describe(tmp_path / "b", training={"compute": {"device": "cpu"}})
    assert Change.list(old, other) == []
    found = Cell.list_settings(PARAMETERS | {"ingestion": {"pairs": "all"}})
    assert found["ingestion.pairs"] == "all"
    assert not [name for name in found if "seed" in name or "workers" in name]


def test_a_change_of_some_conditions_names_them(tmp_path, old):
    conditions = MODES.conditions | {
        "opt": merge_parameters(
            MODES.conditions["opt"], {"training": {"loss": {"beta": 0.3}}}
        )
    }
    other = describe(tmp_path / "b", experiment=replace(MODES, conditions=conditions))
    assert list(map(str, Change.list(old, other))) == [
        "opt: training.loss.beta 1 → 0.3"
    ]


def test_other_data_and_other_seeds_are_differences(old, new):
    other = {**new, "collection": "0123456789", "posts": 7}
    other["rows"] = {name: row[:2] for name, row in new["rows"].items()}
    names = [change.name for change in Change.list(old, other)]
    assert names == ["collection", "seeds", "training.loss.beta"]
    assert "0123456789"[:6] + " (7 posts)" in compare_versions(old, other).to_markdown()


def test_differences_are_tested_over_topics_as_by_scipy(old, new):
    found = compare_versions(old, new, "nDCG'", QUICK)
    (row,) = found.values.rows
    means = [
        np.mean([seed["scores"]["nDCG'"] for seed in result["rows"]["both"]], axis=0)
        for result in (old, new)
    ]
    before, after, change, low, high, p, _ = row.figures
    assert (before.value, after.value) == pytest.approx([m.mean() for m in means])
    assert change.value == pytest.approx((means[1] - means[0]).mean())
    assert change.marked and low.value < change.value < high.value
    assert float(p) == pytest.approx(ttest_rel(*means).pvalue, rel=0.5)
    assert "over 20 topics" in found.to_markdown()


def test_nothing_that_is_the_same_has_a_row(old, new):
    found = compare_versions(old, new, config=QUICK)
    assert {row.labels[0] for row in found.values.rows} == {"both"}
    text = found.to_markdown()
    assert "seeds" not in [column.title for column in found.values.columns]
    assert "Seeds: 3 each." in text and "among them all of seconds_per_epoch" in text
    same = compare_versions(old, old, config=QUICK).to_markdown()
    assert "|" not in same and "The settings of both are the same." in same


def test_one_seed_is_a_plain_value(tmp_path):
    one = replace(MODES, seeds=(1,))
    old = describe(tmp_path / "a", experiment=one)
    new = describe(tmp_path / "b", MEANS | {"both": 0.6}, one)
    text = compare_versions(old, new, config=QUICK).to_markdown()
    assert "±" not in text and "nDCG'" in text
    assert "±" not in "".join(old["tables"].values())


def test_topics_that_one_version_lacks_are_left_out_of_the_test(old, new):
    def cut(seed):
        scores = {name: values[5:] for name, values in seed["scores"].items()}
        return {**seed, "scores": scores}

    rows = {name: [cut(seed) for seed in row] for name, row in new["rows"].items()}
    fewer = {**new, "topics": new["topics"][5:], "rows": rows}
    assert "over 15 topics" in compare_versions(old, fewer, "nDCG'").to_markdown()
    strangers = {**fewer, "topics": [f"Z.{n}" for n in range(15)]}
    found = compare_versions(old, strangers, "nDCG'").values
    assert [column.key for column in found.columns] == ["old", "new", "difference"]


def test_results_of_older_releases_are_compared_without_tests(old, new):
    rows = {
        name: [{k: v for k, v in seed.items() if k != "scores"} for seed in row]
        for name, row in old["rows"].items()
    }
    left_out = ("settings", "topics", "versions")
    older = {k: v for k, v in old.items() if k not in left_out} | {"rows": rows}
    found = compare_versions(older, new, "nDCG'")
    assert found.values.rows[0].figures[2].value == pytest.approx(0.1, abs=0.005)
    assert "not recorded" in found.to_markdown() and not found.values.notes


def test_a_measure_that_neither_has_is_refused(old, new):
    with pytest.raises(ConfigurationError, match='did you mean "nDCG\'"'):
        compare_versions(old, new, "nDCG")


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.5, "0.5000"), (1e-4, "0.0001"), (0.99e-4, "1e-04"), (3e-9, "3e-09")],
)
def test_p_values_have_four_places_or_their_magnitude(p, shown):
    assert _show_p(p) == shown


def test_the_p_values_of_the_chosen_test_and_correction_are_shown():
    test = Comparison(
        "a", "b", "m", 0.5, 0.4, 0.1, (0.01, 0.2), 2.0, p_t=0.01, p_randomisation=0.02,
        p_bonferroni=0.03, p_holm=0.04, wins=3, ties=2, losses=1, significant=True,
    )  # fmt: skip
    assert _show_test(None, TestConfig()) == (None,) * 4
    for name, p in (("t", "0.0100"), ("randomisation", "0.0200")):
        for correction, last in (
            ("bonferroni", "0.0300"),
            ("holm", "0.0400"),
            ("none", p),
        ):
            low, high, *found = _show_test(
                test, TestConfig(test=name, correction=correction)
            )
            assert (low.value, high.value, *found) == (0.01, 0.2, p, last)
    described = _describe_tests({("a", "m"): test}, TestConfig(correction="none"))
    assert "over 6 topics" in described and "not corrected" in described
    longer = test._replace(wins=9)
    both = {("a", "m"): test, ("a", "n"): longer}
    described = _describe_tests(both, TestConfig(correction="holm"))
    assert "over 6 to 12 topics" in described
    assert "Holm correction over 2 tests" in described
