from __future__ import annotations

import pytest

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.experiments.definition import read_experiment

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
