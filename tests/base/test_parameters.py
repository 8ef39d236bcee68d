import math
from dataclasses import dataclass, field
from typing import Literal, Union

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range, merge_parameters, read_parameters
from mathamr_kedro.project.checks import check_stage_parameters


@dataclass(frozen=True)
class Loss:
    beta: float = 0.3
    kind: Literal["maxsim", "single"] = "maxsim"


@dataclass(frozen=True)
class Training:
    epochs: int
    seeds: tuple[int, ...] = (1, 2)
    device: str | None = None
    loss: Loss = field(default_factory=Loss)
    paths: dict[str, str] = field(default_factory=dict)


def read(**values):
    return read_parameters(Training, values, where="training")


def test_values_fill_the_dataclass():
    found = read(epochs=3, seeds=[4], loss={"beta": 1}, device="cpu", paths={"a": "b"})
    assert found == Training(3, (4,), "cpu", Loss(1.0), {"a": "b"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epochs": 1, "epoch": 1}, "'training.epoch'; did you mean 'epochs'"),
        ({"epochs": "3"}, r"Expected int for 'training\.epochs' \(got '3'\)"),
        ({"epochs": True}, "Expected int"),
        ({}, "Missing parameter 'training.epochs'"),
        ({"epochs": 1, "loss": {"kind": "maxsin"}}, "did you mean 'maxsim'"),
        ({"epochs": 1, "loss": {"beta": "big"}}, "training.loss.beta"),
        ({"epochs": 1, "loss": 3}, "Expected a mapping for 'training.loss'"),
        ({"epochs": 1, "seeds": "12"}, "training.seeds"),
        ({"epochs": 1, "seeds": ["x"]}, r"training\.seeds\[0\]"),
        ({"epochs": 1, "device": 3}, "training.device"),
        ({"epochs": 1, "paths": {"a": 1}}, "training.paths.a"),
    ],
)
def test_wrong_values_are_refused_with_key_and_file(values, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        read(**values)
    assert "conf/<env>/parameters/training.yml" in str(caught.value)


def test_unknown_group_is_refused():
    with pytest.raises(ConfigurationError, match="did you mean 'ingestion'"):
        check_stage_parameters({"ingestoin": {}})


def test_settings_of_a_run_are_no_stages():
    check_stage_parameters({"data_root": "somewhere"})


@pytest.mark.parametrize(
    ("below", "above", "merged"),
    [
        ({"a": {"x": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {"a": {"x": 2}}, {"a": {"x": 2}}),
        ({"a": {"x": 1}}, {"b": 2}, {"a": {"x": 1}, "b": 2}),
        ({"a": {"x": {"y": 1, "z": 1}}}, {"a": {"x": {"y": 2}}},
         {"a": {"x": {"y": 2, "z": 1}}}),
    ],
)  # fmt: skip
def test_only_mappings_are_merged_into_mappings(below, above, merged):
    assert merge_parameters(below, above) == merged


@dataclass(frozen=True)
class Choices:
    first: Union[None, int] = None  # noqa: UP007, RUF036
    second: int | str | None = None


def test_nothing_may_stand_anywhere_among_the_choices():
    found = read_parameters(Choices, {"first": 3, "second": "x"}, where="training")
    assert found == Choices(3, "x")
    assert read_parameters(Choices, {"first": None}, where="training") == Choices()


@dataclass(frozen=True)
class Ranged:
    rate: float = 0.5
    shares: tuple[float, ...] = (0.0, 1.0)
    limit: int | None = None

    def __post_init__(self) -> None:
        check_range(self, "rate", above=0, below=1)
        check_range(self, "shares", least=0, most=1)
        check_range(self, "limit", least=3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 0.0}, r"Expected rate above 0 and below 1 \(got 0.0\)"),
        ({"rate": 1.0}, "Expected rate above 0 and below 1"),
        ({"rate": math.nan}, "Expected rate above 0 and below 1"),
        ({"shares": (0.5, 1.5)}, r"of at least 0 and at most 1 \(got \(0.5, 1.5\)\)"),
        ({"limit": 2}, "Expected limit of at least 3"),
    ],
)
def test_values_out_of_range_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        Ranged(**values)
    assert Ranged(limit=3).limit == 3
