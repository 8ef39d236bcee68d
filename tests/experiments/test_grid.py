from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.experiments.grid import (
    Experiment,
    describe_key,
    list_cells,
    read_experiment,
)
from tests.experiments.cells import PARAMETERS

EXPERIMENT = Experiment(
    name="modes",
    conditions={
        "both": {},
        "opt": {"preprocessing": {"graph": {"formula_mode": "opt"}}},
        "doc": {"training": {"loss": {"beta": 0.0}}},
    },
    baseline="both",
    seeds=(1, 2),
)


def test_cells_are_conditions_with_seeds_one_seed_after_the_other():
    names = [cell.name for cell in list_cells(EXPERIMENT, PARAMETERS)]
    assert names == [
        "both, seed 1", "opt, seed 1", "doc, seed 1",
        "both, seed 2", "opt, seed 2", "doc, seed 2",
    ]  # fmt: skip


def test_some_seeds():
    cells = list_cells(EXPERIMENT, PARAMETERS, seeds=[2])
    assert [cell.seed for cell in cells] == [2, 2, 2]
    assert all(cell.parameters["training"]["seed"] == 2 for cell in cells)


def test_equal_work_has_equal_hashes():
    both, opt, doc, both_2, *_ = list_cells(EXPERIMENT, PARAMETERS)
    assert len({cell.key for cell in list_cells(EXPERIMENT, PARAMETERS)}) == 6
    assert both.preparation == doc.preparation == both_2.preparation
    assert opt.preparation != both.preparation
    assert both.training not in (doc.training, both_2.training)


def test_condition_that_changes_nothing_is_the_environment_itself():
    both = list_cells(EXPERIMENT, PARAMETERS)[0]
    assert both.key == describe_key(PARAMETERS)


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"training": {"compute": {"device": "cuda"}}}, True),
        ({"preprocessing": {"workers": {"workers": 9}}}, True),
        ({"indexing": {"engine": {"device": "cuda"}}}, False),  # the engine was absent
        ({"training": {"loss": {"beta": 1}}}, True),
        ({"training": {"loss": {"beta": 0.5}}}, False),
        ({"evaluation": {"depth": 10}}, False),
        ({"significance": {"alpha": 0.1}}, True),
    ],
)
def test_key_depends_on_what_decides_the_result(change, is_same):
    changed = describe_key(merge_parameters(PARAMETERS, change))
    assert (changed == describe_key(PARAMETERS)) == is_same


def test_missing_stage_is_named():
    with pytest.raises(ConfigurationError, match=r"evaluation\.yml"):
        list_cells(EXPERIMENT, {k: v for k, v in PARAMETERS.items() if k[0] != "e"})


GOOD = {
    "name": "modes",
    "baseline": "none",
    "conditions": {"none": {}, "both": {"training": {"loss": {"beta": 1}}}},
}


def test_no_experiment_is_none():
    assert read_experiment({"training": {}}) is None


def test_experiment_is_read():
    experiment = read_experiment({"experiment": GOOD})
    assert experiment.row_names == ("none", "both")
    assert experiment.seeds == (42, 43, 44, 45, 46)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"baseline": "non"}, "did you mean 'none'"),
        ({"seeds": [1, 1]}, "different seeds"),
        ({"seeds": []}, "different seeds"),
        ({"tables": ["4.99"]}, "table of the thesis"),
        ({"conditions": {"none": {"trainin": {}}}}, "did you mean 'training'"),
        ({"conditions": {}}, "at least one condition"),
        ({"measures": []}, "at least one measure"),
        ({"seed": [1]}, "did you mean 'seeds'"),
        ({"rows": "strategies", "strategies": ["a"]}, "as baseline"),
    ],
)
def test_wrong_experiment_is_refused(change, message):
    with pytest.raises(ConfigurationError, match=message):
        read_experiment({"experiment": GOOD | change})


def test_measures_are_those_of_the_evaluation_where_none_are_stated():
    values = {"name": "x", "conditions": {"a": {}}, "baseline": "a"}
    evaluation = {"measures": ["nDCG@10", "MAP", "recall@100", "MRR", "P@10"]}
    found = read_experiment({"experiment": values, "evaluation": evaluation})
    assert found.measures == ("nDCG@10", "MAP", "recall@100", "MRR")
    stated = {**values, "measures": ["MAP"]}
    found = read_experiment({"experiment": stated, "evaluation": evaluation})
    assert found.measures == ("MAP",)
    assert read_experiment({"experiment": values}).measures[0] == "nDCG'"
