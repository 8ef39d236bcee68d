"""The suite of the benchmark, and the evaluations that its tables are made of.

```
conf/benchmarks.yml   collections: an environment's topic set, measures, a reference
   │ cells            the evaluation of each environment, recorded like any other
   ▼
CollectionScores      its systems, for the tables of the benchmark
```
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import yaml

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.tables import SeedResult
from mathamr_kedro.evaluation.tables.benchmark import Benchmark, CollectionScores
from mathamr_kedro.experiments.cells import FinishedCell
from mathamr_kedro.experiments.outcomes import describe_cell
from mathamr_kedro.experiments.results import strategy_of

_OF_TRAINED = ("index_megabytes", "training_seconds")
"""Costs of systems with a training and an index of their own; 0: not here."""


def read_suite(file: Path) -> dict[str, Benchmark]:
    """Read the collections of the benchmark by name, in the order of the file.

    Raises:
        MissingInputError: there is no such file.
        ConfigurationError: an entry has an unknown, missing or ill-typed key.
    """
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError as exc:
        raise MissingInputError(
            f"No benchmark suite {str(file)!r}; conf/benchmarks.yml of the project is "
            "one (docs/benchmarks.md)"
        ) from exc
    except yaml.YAMLError as exc:
        raise ConfigurationError(f"Expected YAML in {str(file)!r} ({exc})") from exc
    if not isinstance(entries, dict):
        raise ConfigurationError(
            f"Expected benchmarks by name in {str(file)!r} (got {entries!r})"
        )
    found = {}
    for name, values in entries.items():
        try:
            entry = read_parameters(Benchmark, values, where=f"benchmarks.{name}")
        except ConfigurationError as exc:
            # The suite is no file of parameters of a stage.
            guessed = "conf/<env>/parameters/benchmarks.yml"
            raise ConfigurationError(str(exc).replace(guessed, str(file))) from exc
        found[str(name)] = replace(entry, name=str(name))
    return found


def read_collection(benchmark: Benchmark, cell: FinishedCell) -> CollectionScores:
    """Read the scores of an evaluation on the topic set of a benchmark.

    Raises:
        MissingInputError: it has no such topic set or measure.
        ConfigurationError: two systems have the same row.
    """
    task, topic_set = benchmark.task, benchmark.topic_set
    scored = cell.read_scores(task, topic_set)
    absent = [m for m in benchmark.measures if m not in scored.floors]
    if not scored.systems or absent:
        known = ", ".join(scored.floors) or "no scores"
        raise MissingInputError(
            f"Expected scores of {topic_set} (task {task}) by "
            f"{', '.join(absent or benchmark.measures)} in the evaluation of "
            f"{benchmark.environment!r} (got {known})"
        )
    asked = cell.record.parameters.get("evaluation", {})
    optional = asked.get("optional_baselines", ()) if task == 1 else ()
    trained = {
        system
        for system in scored.systems
        if strategy_of(system) is not None or cell.costs(task).is_other_paper(system)
    }
    rows: dict[str, str] = {}
    for system in scored.systems:
        row = benchmark.rows.get(system, system)
        if row in rows:
            raise ConfigurationError(
                f"Expected one system for the row {row!r} of {benchmark.name!r} "
                f"(got {rows[row]!r} and {system!r}); change 'rows' of the suite"
            )
        rows[row] = system
    systems = {
        row: _choose(scored.systems[system], benchmark, system in trained)
        for row, system in rows.items()
    }
    return CollectionScores(
        benchmark,
        replace(
            scored,
            systems=systems,
            floors={m: scored.floors[m] for m in benchmark.measures},
            ceilings={m: scored.ceilings[m] for m in benchmark.measures},
        ),
        {
            **describe_cell(cell, topic_set),
            "cell": cell.folder.name,
            "not_available": [n for n in optional if n not in scored.systems],
        },
    )


def _choose(found: SeedResult, benchmark: Benchmark, is_trained: bool) -> SeedResult:
    """Return what the tables of the benchmark show of a system."""
    figures, machines = {}, {}
    if "QPS" in found.figures:
        figures["milliseconds"] = 1000 / found.figures["QPS"]
        machines["milliseconds"] = found.machines["QPS"]
        for name in _OF_TRAINED if is_trained else ():
            if found.figures.get(name):
                figures[name] = found.figures[name]
    scores = {m: found.per_topic[m] for m in benchmark.measures}
    return SeedResult(found.seed, scores, figures, machines)
