"""What an experiment is: conditions that differ in few parameters, and their seeds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.parameters import read_parameters

CELL_STAGES = ("preprocessing", "training", "indexing", "evaluation")
"""Stages whose parameters a condition may change; what stands before is shared."""

GROUP = "experiment"
"""Top key in the parameters (``conf/<env>/parameters/experiment.yml``)."""


@dataclass(frozen=True)
class Experiment:
    """Conditions, what they are compared with, and how often each is trained."""

    name: str
    conditions: dict[str, dict[str, Any]]
    """Parameters by stage that a condition changes, by the name of its row."""
    baseline: str
    """Row that all others are tested against."""
    tables: tuple[str, ...] = ()
    """Numbers of the thesis' tables; without them the tables have a plain form."""
    seeds: tuple[int, ...] = (42, 43, 44, 45, 46)
    """Seeds of training: five each (thesis 4.2)."""
    rows: Literal["conditions", "strategies"] = "conditions"
    """What the rows of the tables are."""
    strategies: tuple[str, ...] = ()
    """Names of the retrieval strategies (``evaluation.strategies``) that the tables
    show; empty: every cell has one."""
    task: int = 1
    measures: tuple[str, ...] = ("nDCG'", "MAP'", "P'@10", "Bpref")
    """Measures that are tested and shown; the first one chooses the best seed."""

    def __post_init__(self) -> None:
        if not self.conditions:
            raise ConfigurationError("Expected at least one condition (got none)")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ConfigurationError(
                f"Expected different seeds, at least one (got {list(self.seeds)!r})"
            )
        if not self.measures:
            raise ConfigurationError("Expected at least one measure (got none)")
        _expect(self.baseline, self.row_names, "baseline")
        for condition, changes in self.conditions.items():
            for stage in changes:
                _expect(stage, CELL_STAGES, f"a stage in condition {condition!r}")
        for number in self.tables:
            _expect(number, _list_tables(), "a table of the thesis")

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of all rows."""
        return tuple(self.conditions if self.rows == "conditions" else self.strategies)


def read_experiment(parameters: Mapping[str, Any]) -> Experiment | None:
    """Return the experiment that the parameters state, if they state one.

    Args:
        parameters: all parameters of an environment.
    """
    values = parameters.get(GROUP)
    return read_parameters(Experiment, values, where=GROUP) if values else None


def _list_tables() -> Collection[str]:
    # scipy takes a second to load; a run without an experiment need not wait for it.
    from mathamr_kedro.stats.thesis_tables import LAYOUTS  # noqa: PLC0415

    return LAYOUTS


def _expect(value: str, choices: Collection[str], what: str) -> None:
    if value not in choices:
        raise ConfigurationError(
            f"Expected one of {list(choices)} as {what} (got {value!r})"
            f"{suggest(value, choices)}"
        )
