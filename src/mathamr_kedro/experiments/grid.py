"""An experiment, and its cells: every condition with every seed.

A cell is named by a hash of the parameters that decide its result. Two conditions of
two experiments that come down to the same parameters are one cell and run once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import merge_parameters, read_parameters
from mathamr_kedro.evaluation.metrics.measures import parse_measure
from mathamr_kedro.evaluation.tables import LAYOUTS

Values = Mapping[str, Any]

CELL_STAGES = ("preprocessing", "training", "indexing", "evaluation")
"""Stages whose parameters a condition may change; those before are shared."""

SYSTEM = "mathamr_plus"
"""Name of our vectors in tables and run files; with several strategies,
``mathamr_plus/<strategy>``."""

SYSTEMS = "systems"
"""Parameters of systems of other papers, which a condition may change too."""

SHARED_STAGES = ("ingestion", "amr_parsing", "graph_fusion")
"""Stages before those of a cell, which all cells of a collection share."""

GROUP = "experiment"
"""Top key of an experiment in the parameters (``conf/experiments/NAME.yml``)."""

_NUM_MEASURES = 4
"""In a table, as in those of the thesis."""

_HOW_IT_RUNS = (
    ("amr_parsing", "discard"),
    ("amr_parsing", "workers"),
    ("graph_fusion", "workers"),
    ("preprocessing", "workers"),
    ("training", "compute"),
    ("training", "steps"),
    ("training", "checkpoint_seconds"),
    ("training", "log_seconds"),
    ("indexing", "encoding"),
    ("indexing", "search"),
    ("indexing", "engine", "device"),
    ("indexing", "engine", "server", "url"),
    ("indexing", "engine", "server", "prefer_grpc"),
)
"""Parameters that decide where and how fast a cell runs, not what comes out."""


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
    system: str = SYSTEM
    """Whose results are compared: our vectors, or a system of another paper; the
    strategies of such a system are its parts."""
    task: int = 1
    measures: tuple[str, ...] = ("nDCG'", "MAP'", "P'@10", "Bpref")
    """Measures that are tested and shown, those of them that are among
    ``evaluation.measures``; the first one chooses the best seed. If none are stated:
    the first four of ``evaluation.measures``."""

    def __post_init__(self) -> None:
        if not self.conditions:
            raise ConfigurationError("Expected at least one condition (got none)")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ConfigurationError(
                f"Expected different seeds, at least one (got {list(self.seeds)!r})"
            )
        if not self.measures:
            raise ConfigurationError("Expected at least one measure (got none)")
        for name in self.measures:
            parse_measure(name)
        _expect(self.baseline, self.row_names, "baseline")
        for condition, changes in self.conditions.items():
            for stage in changes:
                _expect(
                    stage,
                    (*CELL_STAGES, SYSTEMS),
                    f"a stage in condition {condition!r}",
                )
        for number in self.tables:
            _expect(number, LAYOUTS, "a table of the thesis")

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of all rows."""
        return tuple(self.conditions if self.rows == "conditions" else self.strategies)


def read_experiment(parameters: Mapping[str, Any]) -> Experiment | None:
    """Return the experiment that the parameters state, if they state one."""
    values = parameters.get(GROUP)
    if not values:
        return None
    measures = parameters.get("evaluation", {}).get("measures")
    if measures:
        stated = values.get("measures", list(measures)[:_NUM_MEASURES])
        # One experiment runs over ARQMath and NTCIR-12, whose measures differ.
        known = [name for name in stated if name in measures]
        values = {**values, "measures": known or stated}
    return read_parameters(Experiment, values, where=GROUP)


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
        return checksum(_select(self.parameters, ("preprocessing",)))

    @property
    def training(self) -> str:
        """Hash of preprocessing and training: equal ones share their encoder."""
        return checksum(_select(self.parameters, ("preprocessing", "training")))

    @property
    def other_trainings(self) -> list[str]:
        """Hashes of what decides the weights of its other systems."""
        seed = self.parameters["training"].get("seed")
        systems = self.parameters.get(SYSTEMS) or {}
        return [
            checksum(name, seed, _strip((values or {}).get("model"), (SYSTEMS, name)))
            for name, values in systems.items()
        ]

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
    """
    chosen = experiment.seeds if seeds is None else seeds
    return [
        _make_cell(condition, experiment.conditions[condition], seed, parameters)
        for seed, condition in product(chosen, experiment.conditions)
    ]


def list_settings(parameters: Values) -> dict[str, Any]:
    """Return what decides a result as dotted names and plain values.

    Seeds are skipped, and what decides only where and how fast it runs. Items of a
    list that have names are named by them.

    >>> list_settings({"training": {"loss": {"beta": 1.0}, "steps": "auto"}})
    {'training.loss.beta': 1}
    >>> list_settings({"evaluation": {"fusions": [{"name": "both", "folds": 5}]}})
    {'evaluation.fusions[both].name': 'both', 'evaluation.fusions[both].folds': 5}
    """
    groups = (*SHARED_STAGES, *CELL_STAGES, SYSTEMS)
    known = [group for group in groups if parameters.get(group)]
    leaves = dict(list_leaves(_select(parameters, known), ""))
    leaves.pop("training.seed", None)
    return leaves


def describe_key(parameters: Values) -> str:
    """Return the hash of the parameters that decide the result of a cell."""
    # Without other systems the name is what it was before there were any.
    groups = (*CELL_STAGES, SYSTEMS) if parameters.get(SYSTEMS) else CELL_STAGES
    return checksum(_select(parameters, groups))


def list_leaves(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield dotted names and plain values; items with names are named by them."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from list_leaves(inner, f"{place}.{key}" if place else key)
    elif value and isinstance(value, list) and isinstance(value[0], Mapping):
        for number, inner in enumerate(value):
            yield from list_leaves(inner, f"{place}[{inner.get('name', number)}]")
    else:
        yield place, list(value) if isinstance(value, tuple) else value


def refuse_shared_trainings(cells: Sequence[Cell], command: str) -> None:
    """Refuse an experiment whose conditions or seeds come down to one encoder.

    A released encoder (``training.start_from``) has its shape, graphs and vocabularies;
    with ``num_epochs`` 0 nothing is learnt at all. Conditions that differ only in such
    settings would compare it with itself. Conditions that search one encoder in several
    ways share their training by intent.

    Raises:
        ConfigurationError: two cells that should be trained apart are not.
    """
    seen: dict[str, Cell] = {}
    for cell in cells:
        training = cell.parameters["training"]
        encoder = training.get("start_from")
        if encoder is None or cell.parameters.get(SYSTEMS):  # those are trained
            continue
        is_trained = training.get("num_epochs") != 0
        counts = {k: v for k, v in training.items() if is_trained and k != "model"}
        pairs = cell.parameters["preprocessing"].get("pairs") if is_trained else None
        first = seen.setdefault(checksum(encoder, counts, pairs), cell)
        if first.training == cell.training:
            continue
        encoder = f"the released encoder {encoder!r}{'' if is_trained else ' as it is'}"
        if first.condition == cell.condition:
            raise ConfigurationError(
                f"Expected one seed if nothing is trained (got {first.seed} and "
                f"{cell.seed}, both {encoder}); `{command}` trains an encoder for each "
                f"seed, --seeds {first.seed} searches with the released one"
            )
        one, other = (dict(list_leaves(c.changes, "")) for c in (first, cell))
        differing = [n for n in one | other if one.get(n) != other.get(n)]
        raise ConfigurationError(
            f"Expected conditions with encoders of their own (got {first.condition!r} "
            f"and {cell.condition!r}, both {encoder}, which leaves no "
            f"choice of {', '.join(differing)}); run `{command}`, "
            "which trains from nothing"
        )


def _make_cell(condition: str, changes: Values, seed: int, parameters: Values) -> Cell:
    own = merge_parameters(changes, {"training": {"seed": seed}})
    missing = [stage for stage in CELL_STAGES if stage not in parameters]
    if missing:
        raise ConfigurationError(
            f"Expected parameters of the stages {', '.join(CELL_STAGES)} "
            f"(no {missing[0]!r}) (conf/base/parameters/{missing[0]}.yml)"
        )
    groups = [*CELL_STAGES, *([SYSTEMS] if SYSTEMS in parameters else [])]
    whole = merge_parameters({group: parameters[group] for group in groups}, own)
    return Cell(condition, seed, own, whole)


def _select(parameters: Values, stages: Sequence[str]) -> dict[str, Any]:
    return {
        stage: _strip(parameters[stage], (stage,))
        for stage in stages
        if stage in parameters
    }


def _strip(value: Any, place: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return {
            str(key): _strip(inner, (*place, str(key)))
            for key, inner in value.items()
            if (*place, str(key)) not in _HOW_IT_RUNS
        }
    if isinstance(value, list | tuple):
        return [_strip(item, place) for item in value]
    # 1 and 1.0 in YAML are the same value.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _expect(value: str, choices: Collection[str], what: str) -> None:
    if value not in choices:
        raise ConfigurationError(
            f"Expected one of {list(choices)} as {what} (got {value!r})"
            f"{suggest(value, choices)}"
        )
