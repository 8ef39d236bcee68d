"""How two versions of a result differ, and whether that is chance.

A version is what ``describe_results`` wrote: settings, scores by topic, tests, tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.evaluation.stats import (
    QUERY_SECONDS,
    Comparison,
    FloatArray,
    TestConfig,
    compare_with_baseline,
)
from mathamr_kedro.evaluation.tables.scores import SeedResult, mean_scores
from mathamr_kedro.evaluation.tables.table import (
    MISSING,
    Column,
    Figure,
    Labels,
    Table,
    Values,
    format_p,
    list_columns,
)

Version = Mapping[str, Any]

_CHANGES = 4
"""Changes of a version that its summary names."""


def list_collections(result: Version) -> Version:
    """Return the parts of a result: those of a benchmark by name, or the only one."""
    parts: Version = result.get("collections", {result.get("experiment", ""): result})
    return parts


class Change(NamedTuple):
    """A setting or fact that two versions do not share."""

    name: str
    old: Any
    new: Any
    conditions: tuple[str, ...] = ()
    """Those that it concerns; empty: all."""

    def __str__(self) -> str:
        """Return ``training.num_epochs 7 → 3``."""
        return f"{self.label} {_show(self.old)} → {_show(self.new)}"

    @property
    def label(self) -> str:
        """Its name, with the conditions that it concerns."""
        where = ", ".join(self.conditions)
        return f"{where}: {self.name}" if where else self.name


def list_changes(old: Version, new: Version) -> list[Change]:
    """Return settings, data and software that differ between two results."""
    facts = [
        Change(name, before, after)
        for name, before, after in _pair_facts(old, new)
        if before != after
    ]
    return [*facts, *_compare_settings(old["settings"], new["settings"])]


def summarise_version(result: Version) -> tuple[str, str, str, str]:
    """Return collection, rows, seeds and cells of a version."""
    parts = list_collections(result).values()
    rows = dict.fromkeys(row for part in parts for row in part["rows"])
    seeds = {s["seed"] for part in parts for row in part["rows"].values() for s in row}
    done = sum(len(part["cells"]) for part in parts)
    missing = sum(len(part["missing"]) for part in parts)
    return (
        "; ".join(f"{part['topic_set']} ({_describe_data(part)})" for part in parts),
        ", ".join(rows),
        ", ".join(map(str, sorted(seeds))),
        f"{done} of {done + missing}" if done else str(len(parts)),
    )


def describe_changes(before: Version | None, result: Version) -> str:
    """Describe what a version changed, compared with the one before it."""
    if before is None:
        return "the first"
    old, new = list_collections(before), list_collections(result)
    changes = list(
        dict.fromkeys(
            str(change)
            for part in new
            if part in old
            for change in list_changes(old[part], new[part])
        )
    )
    more = len(changes) - _CHANGES
    named = [*changes[:_CHANGES], *([f"{more} more"] if more > 0 else [])]
    return "; ".join(named) or "nothing: the same settings"


def _describe_data(part: Version) -> str:
    posts = part.get("posts")
    size = f", {posts:,} posts" if posts is not None else ""
    return f"{part['collection'][:6]}{size}"


class VersionComparison(NamedTuple):
    """Two versions beside one another."""

    title: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    """What holds for all values, said once."""
    values: Table

    def to_markdown(self) -> str:
        """Return settings that differ, what is the same, and the values with tests."""
        parts = [f"**{self.title}**"]
        if self.changes:
            rows = {
                c.label: {"old": _show(c.old), "new": _show(c.new)}
                for c in self.changes
            }
            columns, labels = list_columns(("old", "new")), ("Setting",)
            table = Table("Settings that differ", labels, columns, rows)
            parts.append(table.to_markdown().strip())
        parts += self.notes
        if self.values.rows:
            parts.append(self.values.to_markdown().strip())
        return "\n\n".join(parts) + "\n"


def compare_versions(
    old: Version,
    new: Version,
    measure: str | None = None,
    config: TestConfig | None = None,
) -> VersionComparison:
    """Return what differs between two versions: settings, scores, and their tests.

    A difference is tested over the topics that both have, on means over the seeds of a
    version; all tests are one family for the correction.
    """
    config = config or TestConfig()
    pairs = dict(_pair_scores(old, new, measure))
    differing = {key: p for key, p in pairs.items() if not np.allclose(*p, atol=1e-12)}
    tests = _test_all(differing, config)
    changes = list_changes(old, new)
    notes = [] if changes else ["The settings of both are the same."]
    notes.append(
        f"{len(pairs) - len(differing)} of {len(pairs)} values are the same in both."
    )
    only = {
        "old": [row for row in old["rows"] if row not in new["rows"]],
        "new": [row for row in new["rows"] if row not in old["rows"]],
    }
    notes += [f"Only in the {k} version: {', '.join(v)}." for k, v in only.items() if v]
    values = _tabulate(differing, tests, config)
    title = f"{new['experiment']}: two versions"
    return VersionComparison(title, tuple(changes), tuple(notes), values)


_Key = tuple[str, str]
"""A row and a measure."""
_Pair = tuple[FloatArray, FloatArray]
"""Scores of the same topics in both versions."""


def _pair_scores(
    old: Version, new: Version, measure: str | None
) -> Iterator[tuple[_Key, _Pair]]:
    both = [
        (_read_scores(old, row), _read_scores(new, row), row) for row in new["rows"]
    ]
    # Times differ from run to run.
    known = {m: None for first, *_ in both for m in first if m != QUERY_SECONDS}
    if measure is not None and measure not in known:
        raise ConfigurationError(
            f"Expected one of {', '.join(known)} as measure (got {measure!r})"
            f"{suggest(measure, known)}"
        )
    for first, second, row in both:
        for name in known if measure is None else (measure,):
            if name in first and name in second:
                pair = _align_topics(old, new, first[name], second[name])
                if pair is not None:
                    yield (row, name), pair


def _read_scores(result: Version, row: str) -> dict[str, FloatArray]:
    """Return the means over seeds by measure, one per topic."""
    return mean_scores([SeedResult.read(own) for own in result["rows"].get(row, ())])


def _align_topics(
    old: Version, new: Version, first: FloatArray, second: FloatArray
) -> _Pair | None:
    """Return the scores of the topics that both have; ``None`` if that is unknown.

    A measure that is undefined on a topic has no score for it.
    """
    topics = [list(result["topics"]) for result in (old, new)]
    if topics[0] != topics[1]:
        if [first.size, second.size] != [len(names) for names in topics]:
            return None
        shared = [name for name in topics[1] if name in set(topics[0])]
        first = first[[topics[0].index(name) for name in shared]]
        second = second[[topics[1].index(name) for name in shared]]
    return (first, second) if first.size == second.size and first.size else None


def _test_all(
    pairs: Mapping[_Key, _Pair], config: TestConfig
) -> dict[_Key, Comparison]:
    """Test all differences as one family: a row and a measure is one test."""
    names = {", ".join(key): key for key, (first, _) in pairs.items() if first.size > 1}
    scores = {
        version: {name: pairs[key][place] for name, key in names.items()}
        for place, version in enumerate(("old", "new"))
    }
    found = compare_with_baseline(scores, "old", config)
    return {names[test.measure]: test for test in found}


def _tabulate(
    pairs: Mapping[_Key, _Pair], tests: Mapping[_Key, Comparison], config: TestConfig
) -> Table:
    interval = f"{100 * config.confidence:g} % interval"
    columns = (
        *list_columns(("old", "new", "difference"), decimals=4),
        Column("low", "from", 4, group=interval),
        Column("high", "to", 4, group=interval),
        *list_columns(("p", "p corrected", "topics")),
    )
    rows: dict[Labels, Values] = {}
    for key, (first, second) in pairs.items():
        old, new = float(first.mean()), float(second.mean())
        rows[key] = {
            "old": old, "new": new, "difference": new - old, "topics": str(first.size)
        }  # fmt: skip
        if key in tests:
            test = tests[key]
            p, corrected = map(format_p, test.p_values(config))
            rows[key] = {
                **rows[key], "p": p, "p corrected": corrected,
                "difference": Figure(new - old, marked=test.significant),
                "low": test.interval.low, "high": test.interval.high,
            }  # fmt: skip
    how = config.describe(len(tests)).replace("topics,", "topics (means over seeds),")
    note = f"* p < {config.alpha:g}: {how}. Intervals by bootstrap over topics."
    notes = (note,) if tests else ()
    return Table("Values that differ", ("Row", "Measure"), columns, rows, notes)


def _pair_facts(old: Version, new: Version) -> Iterator[tuple[str, Any, Any]]:
    yield "topic set", old["topic_set"], new["topic_set"]
    yield "collection", _describe_data(old), _describe_data(new)
    yield "AMR parser", old.get("amr_parser"), new.get("amr_parser")
    yield "seeds", _list_seeds(old), _list_seeds(new)
    before, after = (result.get("versions", {}) for result in (old, new))
    for package in before.keys() & after.keys():
        yield f"version of {package}", before[package], after[package]


def _list_seeds(result: Version) -> list[int]:
    return sorted({found["seed"] for row in result["rows"].values() for found in row})


def _compare_settings(old: Version, new: Version) -> list[Change]:
    """Return the settings that differ; one that does in all conditions once."""
    conditions = [name for name in new["conditions"] if name in old["conditions"]]
    found: dict[tuple[str, str, str], tuple[Change, list[str]]] = {}
    for condition in conditions:
        before, after = (
            {**result["shared"], **result["conditions"][condition]}
            for result in (old, new)
        )
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                change = Change(name, before.get(name), after.get(name))
                key = name, repr(change.old), repr(change.new)
                found.setdefault(key, (change, []))[1].append(condition)
    return [
        change._replace(conditions=() if len(where) == len(conditions) else (*where,))
        for change, where in found.values()
    ]


def _show(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_show(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "[]"
    return MISSING if value is None else str(value)
