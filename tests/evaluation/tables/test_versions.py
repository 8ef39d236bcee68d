"""Two versions of a result: what differs, and whether that is chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables.versions import (
    Change,
    compare_versions,
    list_changes,
)
from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.grid import list_settings
from mathamr_kedro.experiments.outcomes import summarise_experiment
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.experiments.versions import ResultVersions
from tests.experiments.cells import PARAMETERS, fill_store
from tests.experiments.test_outcomes import MEANS, MODES

pytestmark = pytest.mark.slow

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
    assert list_changes(old, new) == [Change("training.loss.beta", 1, 0.5)]
    assert list_changes(old, old) == []


def test_what_decides_only_how_it_runs_is_no_setting(tmp_path, old):
    other = describe(tmp_path / "b", training={"compute": {"device": "cpu"}})
    assert list_changes(old, other) == []
    found = list_settings(PARAMETERS | {"ingestion": {"pairs": "all"}})
    assert found["ingestion.pairs"] == "all"
    assert not [name for name in found if "seed" in name or "workers" in name]


def test_a_change_of_some_conditions_names_them(tmp_path, old):
    conditions = MODES.conditions | {
        "opt": merge_parameters(
            MODES.conditions["opt"], {"training": {"loss": {"beta": 0.3}}}
        )
    }
    other = describe(tmp_path / "b", experiment=replace(MODES, conditions=conditions))
    assert list(map(str, list_changes(old, other))) == [
        "opt: training.loss.beta 1 → 0.3"
    ]


def test_other_data_and_other_seeds_are_differences(old, new):
    other = {**new, "collection": "0123456789", "posts": 7}
    other["rows"] = {name: row[:2] for name, row in new["rows"].items()}
    names = [change.name for change in list_changes(old, other)]
    assert names == ["collection", "seeds", "training.loss.beta"]
    assert "012345, 7 posts" in compare_versions(old, other).to_markdown()


def test_differences_are_tested_over_topics_as_by_scipy(old, new):
    found = compare_versions(old, new, "nDCG'", QUICK)
    (row,) = found.values.rows.values()
    means = [
        np.mean([seed["scores"]["nDCG'"] for seed in result["rows"]["both"]], axis=0)
        for result in (old, new)
    ]
    change, low, high = (row[key] for key in ("difference", "low", "high"))
    assert (row["old"], row["new"]) == pytest.approx([m.mean() for m in means])
    assert change.value == pytest.approx((means[1] - means[0]).mean())
    assert change.marked and low < change.value < high
    assert float(row["p"]) == pytest.approx(ttest_rel(*means).pvalue, rel=0.5)
    assert row["topics"] == "20"


def test_nothing_that_is_the_same_has_a_row(old, new):
    found = compare_versions(old, new, config=QUICK)
    assert {row for row, _ in found.values.rows} == {"both"}
    assert "12 of 16 values are the same in both." in found.to_markdown()
    same = compare_versions(old, old, config=QUICK).to_markdown()
    assert "|" not in same and "The settings of both are the same." in same


def test_rows_of_one_version_only_are_named(old, new):
    rows = {name: row for name, row in new["rows"].items() if name != "slt"}
    found = compare_versions(old, {**new, "rows": {**rows, "more": rows["opt"]}})
    assert "Only in the old version: slt." in found.notes
    assert "Only in the new version: more." in found.notes


def test_topics_that_one_version_lacks_are_skipped_in_the_test(old, new):
    def cut(seed):
        scores = {name: values[5:] for name, values in seed["scores"].items()}
        return {**seed, "scores": scores}

    rows = {name: [cut(seed) for seed in row] for name, row in new["rows"].items()}
    fewer = {**new, "topics": new["topics"][5:], "rows": rows}
    (row,) = compare_versions(old, fewer, "nDCG'").values.rows.values()
    assert row["topics"] == "15"
    strangers = {**fewer, "topics": [f"Z.{n}" for n in range(15)]}
    assert compare_versions(old, strangers, "nDCG'").values.rows == {}


def test_result_of_an_older_release_is_refused(tmp_path, old):
    versions = ResultVersions(tmp_path / "result.json")
    versions.write("v1", {k: v for k, v in old.items() if k != "settings"})
    with pytest.raises(MalformedInputError, match="kedro run --pipelines significance"):
        versions.read("v1")


def test_versions_are_listed_and_read_by_name(tmp_path, old, new):
    versions = ResultVersions(tmp_path / "mine" / "result.json")
    with pytest.raises(MissingInputError, match="'at all' of the result 'mine'"):
        versions.read()
    versions.write("v1", old)
    versions.write("v2", new)
    (versions.folder / "v3").mkdir()  # killed before it was written
    assert versions.list() == ["v2", "v1"]
    assert versions.read() == new and versions.read("v1") == old
    with pytest.raises(MissingInputError, match="did you mean 'v2'"):
        versions.read("v22")


def test_a_measure_that_neither_has_is_refused(old, new):
    with pytest.raises(ConfigurationError, match='did you mean "nDCG\'"'):
        compare_versions(old, new, "nDCG")


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "none"])
def test_the_p_values_of_the_chosen_correction_are_shown(old, new, correction):
    config = TestConfig(num_samples=200, correction=correction)
    found = compare_versions(old, new, config=config)
    assert found.values.rows
    for row in found.values.rows.values():
        assert float(row["p"]) <= float(row["p corrected"])
        assert correction != "none" or row["p"] == row["p corrected"]
    expected = "not corrected" if correction == "none" else correction.capitalize()
    assert expected in found.to_markdown()
