"""Tables of an experiment: best seed with asterisks, and mean ± std over seeds.

Times and memory of different machines have no common mean. A condition whose seeds ran
on two machines gets a row for each beside its own::

    | Strategy              | nDCG'         | QPS        |
    |-----------------------|---------------|------------|
    | MaxSim                | 0.452 ± 0.013 | –          |    five seeds
    | MaxSim on A, 8 cores  | –             | 62.9 ± 4.1 |    three of them
    | MaxSim on B, 2 cores  | –             | 11.3 ± 0.2 |    two
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from mathamr_kedro.base.errors import InputError, suggest
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.stats.significance import (
    Comparison,
    FloatArray,
    TestConfig,
    compare_with_baseline,
)
from mathamr_kedro.evaluation.tables.table import (
    Column,
    Figure,
    Labels,
    Table,
    Values,
    split_labels,
)

_SPREAD = re.compile(r"mean ± std( over seeds)?")
"""What the titles of tables of means promise."""
PUBLISHED = "published, whole collection"
"""Last label of published rows."""


@dataclass(frozen=True)
class SeedResult:
    """Scores of one trained model."""

    seed: int
    per_topic: Mapping[str, FloatArray]
    """One score per topic by measure; topics in the same order everywhere."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Figures that are no mean over topics: time per epoch, memory, index size. A
    figure with the name of a measure is shown instead of its mean."""
    machines: Mapping[str, Machine] = field(default_factory=dict)
    """Where values were measured that depend on it, by their names: times, memory."""
    cell: str = ""
    system: str = ""
    """Of which evaluation, and which system of it, they are."""

    @cached_property
    def values(self) -> dict[str, float]:
        """Means of the measures that have topics, and figures."""
        scored = {name: own for name, own in self.per_topic.items() if np.size(own)}
        means = {name: float(np.mean(own)) for name, own in scored.items()}
        return means | dict(self.figures)

    def value(self, name: str) -> float:
        """Return a figure, or the mean of a measure over topics."""
        if name in self.values:
            return self.values[name]
        raise InputError(
            f"No value {name!r} for seed {self.seed}{suggest(name, self.values)}; "
            f"known: {', '.join(self.values)}"
        )

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> SeedResult:
        """Return the scores and figures of a record of :meth:`to_record`."""
        scores = {name: np.array(own) for name, own in record["scores"].items()}
        return cls(record["seed"], scores, record["figures"])

    def to_record(self) -> dict[str, Any]:
        """Return it as plain values, with the means of its measures."""
        return {
            "seed": self.seed,
            "scores": {
                name: scores.tolist() for name, scores in self.per_topic.items()
            },
            "means": {name: self.values.get(name) for name in self.per_topic},
            "figures": dict(self.figures),
            "machines": {name: m.name for name, m in self.machines.items()},
        }


Results = Mapping[str, Sequence[SeedResult]]
"""Results over seeds by condition."""


def select_best_seed(results: Sequence[SeedResult], by: str = "nDCG'") -> SeedResult:
    """Return the result with the highest value, of several the smallest seed."""
    if not results:
        raise InputError("Expected the result of at least one seed (got none)")
    return min(results, key=lambda result: (-result.value(by), result.seed))


@dataclass(frozen=True)
class Layout:
    """Rows and columns of a table, before there are results."""

    title: str
    label_titles: tuple[str, ...]
    rows: Mapping[str, Labels]
    """Labels by condition, in the order of the table."""
    columns: tuple[Column, ...]
    baseline: str | None = None
    """Condition that all others are tested against."""
    select_by: str = "nDCG'"
    """The best seed is the one with the highest value of this."""
    same_seed: bool = False
    """Take the baseline's best seed for all conditions: they share trained models."""
    notes: tuple[str, ...] = ()
    published: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    """What others published, by condition: a row above ours, named by the last label.
    """


def tabulate(layout: Layout, results: Results, config: TestConfig) -> Table:
    """Return the table of best seeds, or that of means if its title promises them.

    One of means never has asterisks (thesis 4.2).
    """
    shown = {row: results[row] for row in layout.rows if row in results}
    if layout.baseline is None or "±" in layout.title:
        return mean_table(layout, shown)
    return best_seed_table(layout, shown, config)


def best_seed_table(
    layout: Layout, results: Results, config: TestConfig | None = None
) -> Table:
    """Return the table of each condition's best seed, with asterisks and their tests.

    Only columns with one value per topic are tested; they and all conditions beside
    the baseline are one family for the correction. Times of another machine than the
    baseline's are not tested.
    """
    config = config or TestConfig()
    best = _select(layout, results)
    tests: list[Comparison] = []
    if layout.baseline in best:
        scores = _gather_tested(layout, best, best[layout.baseline])
        tests = compare_with_baseline(scores, layout.baseline, config)
    notes = (*layout.notes, *describe_tests(tests, config))
    layout = replace(layout, notes=(*notes, *_untested_notes(layout, tests)))
    shown = {name: [result] for name, result in best.items()}
    return replace(mean_table(layout, shown, tests), tests=tuple(tests))


def mean_table(
    layout: Layout, results: Results, tests: Sequence[Comparison] = ()
) -> Table:
    """Return the table of means and standard deviations over seeds.

    One seed has no deviation, and the title says that it is one. Seeds without a value
    do not count in its mean; a note says which rows rest on fewer seeds than others,
    and on which machines values were measured that depend on it. Published figures
    have a row above ours; what ``tests`` found significant is marked.
    """
    layout = _name_devices(layout, results)
    title = layout.title
    if all(len(found) <= 1 for found in results.values()):
        title = _SPREAD.sub("one seed", title)
    marked = {(t.condition, t.measure) for t in tests if t.significant}
    rows = [_list_rows(layout, name, results, marked) for name in layout.rows]
    notes = (*_seed_notes(layout, results), *_machine_notes(layout, results))
    return Table(
        title,
        layout.label_titles,
        layout.columns,
        dict(chain(*rows)),
        (*layout.notes, *notes),
        layout.rows.get(layout.baseline or ""),
    )


def mean_scores(results: Sequence[SeedResult]) -> dict[str, FloatArray]:
    """Return means over seeds by measure, one per topic.

    Measures that a seed lacks, or has for other topics, are skipped.
    """
    return {
        name: np.mean([r.per_topic[name] for r in results], axis=0)
        for name, first in (results[0].per_topic.items() if results else ())
        if all(np.shape(r.per_topic.get(name, ())) == first.shape for r in results)
    }


def describe_tests(tests: Sequence[Comparison], config: TestConfig) -> list[str]:
    """Return a note on what the marks of a table mean; none without tests."""
    if not tests:
        return []
    end = f"p < {config.alpha:g} ({config.describe(len(tests))})."
    if any(c.significant for c in tests):
        return [f"† Baseline. * Differs from it with {end}"]
    return [f"† Baseline. No condition differs from it with {end}"]


def _list_rows(
    layout: Layout, name: str, results: Results, marked: set[tuple[str, str]]
) -> Iterator[tuple[Labels, Values]]:
    """Yield a published row, ours, and one per machine if there are several."""
    labels, columns = layout.rows[name], layout.columns
    found = results.get(name, ())
    if name in layout.published:
        keys = (c.key for c in columns)
        values = dict(zip(keys, layout.published[name], strict=True))
        yield (*split_labels(labels)[:-1], PUBLISHED), values
        if not found:
            return
    machines = {c.key: _list_machines(found, c.key) for c in columns}
    mixed = [c for c in columns if len(machines[c.key]) > 1]
    whole = [c for c in columns if c not in mixed]
    yield (
        labels,
        {
            c.key: _summarise(found, c, (name, c.tested or c.key) in marked)
            for c in whole
        },
    )
    first, *others = split_labels(labels)
    for machine in dict.fromkeys(m for c in mixed for m in machines[c.key]):
        where = f"{first} on {machine.name}"
        cells = {}
        for c in mixed:
            there = [r for r in found if r.machines.get(c.key) == machine]
            cells[c.key] = _summarise(there, c)
        yield (where, *others) if others else where, cells


def _select(layout: Layout, results: Results) -> dict[str, SeedResult]:
    present = {name: found for name, found in results.items() if found}
    ordered = [name for name in layout.rows if name in present]
    if not layout.same_seed or layout.baseline not in present:
        return {n: select_best_seed(present[n], layout.select_by) for n in ordered}
    seed = select_best_seed(present[layout.baseline], layout.select_by).seed
    chosen = {n: [r for r in present[n] if r.seed == seed] for n in ordered}
    return {name: found[0] for name, found in chosen.items() if found}


def _gather_tested(
    layout: Layout, best: Mapping[str, SeedResult], baseline: SeedResult
) -> dict[str, dict[str, FloatArray]]:
    """Return what is tested, without times of another machine than the baseline's."""
    keys = [column.tested or column.key for column in layout.columns]
    return {
        name: {
            key: r.per_topic[key]
            for key in keys
            if key in r.per_topic and r.machines.get(key) == baseline.machines.get(key)
        }
        for name, r in best.items()
    }


def _list_machines(found: Sequence[SeedResult], key: str) -> list[Machine]:
    having = (r for r in found if key in r.values and key in r.machines)
    return list(dict.fromkeys(r.machines[key] for r in having))


def _name_devices(layout: Layout, results: Results) -> Layout:
    """Name in the titles of columns what was measured: a CPU or a GPU."""
    everything = [r for found in results.values() for r in found]
    columns = []
    for column in layout.columns:
        devices = [m.device for m in _list_machines(everything, column.key)]
        known = "/".join(dict.fromkeys(filter(None, devices)))
        title = column.title.replace("{device}", known).strip()
        columns.append(replace(column, title=title))
    return replace(layout, columns=tuple(columns))


def _summarise(
    found: Sequence[SeedResult], column: Column, marked: bool = False
) -> Figure | None:
    """Return mean and sample deviation (n - 1) over seeds; one seed has none."""
    key = column.key
    values = np.array([r.values[key] for r in found if key in r.values])
    if not values.size:
        return None
    has_std = column.show_std and values.size > 1
    std = float(values.std(ddof=1)) if has_std else None
    return Figure(float(values.mean()), std, marked)


def _untested_notes(layout: Layout, tests: Sequence[Comparison]) -> list[str]:
    tested = {c.measure for c in tests}
    return [
        f"{c.title} is not tested: there is no time of each query "
        "(evaluation.queries_per_batch 1 takes it), or it was taken on several "
        "machines."
        for c in layout.columns
        if tests and c.tested and c.tested not in tested
    ]


def _machine_notes(layout: Layout, results: Results) -> list[str]:
    """Name the machines of times and memory; columns of one place together."""
    titles: dict[tuple[Any, ...], list[str]] = {}
    for column in layout.columns:
        rows: dict[Machine, list[str]] = {}
        for name, labels in layout.rows.items():
            for machine in _list_machines(results.get(name, ()), column.key):
                rows.setdefault(machine, []).append(_join(labels))
        if rows:
            place = _describe_machines(rows), *map(tuple, rows.values())
            titles.setdefault(place, []).append(column.title)
    return [f"{', '.join(own)}: measured on {at}" for (at, *_), own in titles.items()]


def _describe_machines(rows: Mapping[Machine, Sequence[str]]) -> str:
    if len(rows) == 1:
        return f"{next(iter(rows)).name}."
    parts = "; ".join(f"{m.name} ({', '.join(names)})" for m, names in rows.items())
    return (
        f"{len(rows)} machines, which have no common mean: {parts}. For one, delete "
        "the cells of the others and run the experiment again there."
    )


def _seed_notes(layout: Layout, results: Results) -> list[str]:
    counts = {name: len(results[name]) for name in layout.rows if results.get(name)}
    max_count = max(counts.values(), default=0)
    return [
        f"{_join(layout.rows[name])}: {count} of {max_count} seeds."
        for name, count in counts.items()
        if count < max_count
    ]


def _join(labels: Labels) -> str:
    return " / ".join(split_labels(labels))
