"""The cells of an experiment: every condition with every seed.

A cell is named by a hash of the parameters that decide its result. Two conditions of
two experiments that come down to the same parameters are one cell and run once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.experiments.definition import CELL_STAGES, Experiment
from mathamr_kedro.files import fingerprint

Values = Mapping[str, Any]

_HOW_IT_RUNS = (
    ("preprocessing", "workers"),
    ("training", "compute"),
    ("training", "tracking"),
    ("training", "steps"),
    ("training", "checkpoint_seconds"),
    ("training", "log_seconds"),
    ("indexing", "encoding"),
    ("indexing", "engine", "device"),
)
"""Parameters that decide where and how fast a cell runs, not what comes out."""


@dataclass(frozen=True)
class Cell:
    """One condition with one seed."""

    condition: str
    seed: int
    changes: Values
    """Parameters that differ from those of the environment, by stage."""
    parameters: Values
    """All parameters of the stages of a cell."""

    @property
    def key(self) -> str:
        """Hash of the parameters that decide the result."""
        return describe_key(self.parameters)

    @property
    def preparation(self) -> str:
        """Hash of the preprocessing: equal ones share their graphs."""
        return fingerprint(_select(self.parameters, ("preprocessing",)))

    @property
    def training(self) -> str:
        """Hash of preprocessing and training: equal ones share their encoder."""
        return fingerprint(_select(self.parameters, ("preprocessing", "training")))

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.condition}, seed {self.seed}"


def list_cells(
    experiment: Experiment, parameters: Values, seeds: Sequence[int] | None = None
) -> list[Cell]:
    """Return the cells, one seed after the other.

    So a run that is stopped early has all conditions with the first seeds, and the
    cells that run at the same time mostly share nothing that they would wait for.

    Args:
        experiment: what to run.
        parameters: all parameters of the environment.
        seeds: some of the experiment's seeds; all where absent.
    """
    chosen = experiment.seeds if seeds is None else seeds
    return [
        _make_cell(condition, experiment.conditions[condition], seed, parameters)
        for seed, condition in product(chosen, experiment.conditions)
    ]


def describe_key(parameters: Values) -> str:
    """Return the hash of the parameters that decide the result of a cell."""
    return fingerprint(_select(parameters, CELL_STAGES))


def merge(below: Values, above: Values) -> dict[str, Any]:
    """Return ``below`` with the values of ``above``, mapping by mapping.

    >>> merge({"loss": {"beta": 1, "tau": 2}}, {"loss": {"beta": 0}})
    {'loss': {'beta': 0, 'tau': 2}}
    """
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        is_nested = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(old, value) if is_nested else value  # type: ignore[arg-type]
    return merged


def _make_cell(condition: str, changes: Values, seed: int, parameters: Values) -> Cell:
    own = merge(changes, {"training": {"seed": seed}})
    missing = [stage for stage in CELL_STAGES if stage not in parameters]
    if missing:
        raise ConfigurationError(
            f"Expected parameters of the stages {', '.join(CELL_STAGES)} "
            f"(no {missing[0]!r}) (conf/base/parameters/{missing[0]}.yml)"
        )
    whole = merge({stage: parameters[stage] for stage in CELL_STAGES}, own)
    return Cell(condition, seed, own, whole)


def _select(parameters: Values, stages: Sequence[str]) -> dict[str, Any]:
    return {
        stage: _strip(parameters[stage], (stage,))
        for stage in stages
        if stage in parameters
    }


def _strip(value: Any, place: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return dict(_strip_items(value, place))
    if isinstance(value, list | tuple):
        return [_strip(item, place) for item in value]
    # YAML says 1 or 1.0; both are one value.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _strip_items(values: Values, place: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        inner = (*place, str(key))
        if inner not in _HOW_IT_RUNS:
            yield str(key), _strip(value, inner)
