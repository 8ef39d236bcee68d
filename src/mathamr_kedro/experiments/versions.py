"""Versions of a result, how two of them differ, and whether that is chance.

::

    significance/
      formula_modes/  systems/  benchmark/
        result.json/
          2026-11-16T04.12.33.120Z/
            result.json                 of ``describe``: settings, scores, tests, tables
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.files import write_text
from mathamr_kedro.evaluation.stats import (
    QUERY_SECONDS,
    Comparison,
    FloatArray,
    TestConfig,
    compare_with_baseline,
)
from mathamr_kedro.evaluation.tables import MISSING, Column, Figure, Row, Table

Values = Mapping[str, Any]

_CHANGES = 4
"""Changes of a version that its summary names."""


class ResultVersions:
    """All versions of one result."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def list(self) -> list[str]:
        """Return the names of the versions, the newest first."""
        found = self.folder.glob(f"*/{self.folder.name}")
        return sorted((file.parent.name for file in found), reverse=True)

    def write(self, version: str, result: Values) -> None:
        """Add a version."""
        file = self.folder / version / self.folder.name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(result, indent=1, ensure_ascii=False) + "\n")

    def read(self, version: str | None = None) -> dict[str, Any]:
        """Return a version; the newest if absent.

        Raises:
            MissingInputError: there is no such version.
            MalformedInputError: it is of an older release.
        """
        versions = self.list()
        chosen = version or next(iter(versions), None)
        if chosen not in versions:
            raise MissingInputError(
                f"No version {chosen or 'at all'!r} of the result "
                f"{self.folder.parent.name!r}{suggest(chosen or '', versions)}; "
                "`mathamr experiments list` lists the existing ones, `mathamr "
                "experiments run` makes one"
            )
        file = self.folder / chosen / self.folder.name
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if not {"settings", "collections"} & found.keys():
            raise MalformedInputError(
                f"Expected settings in {str(file)!r} (got a result of an older "
                "release); delete its folder, `kedro run --pipelines significance` "
                "writes a new version"
            )
        return found


def list_collections(result: Values) -> Values:
    """Return the parts of a result: those of a benchmark by name, or the only one."""
    parts: Values = result.get("collections", {result.get("experiment", ""): result})
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


def list_changes(old: Values, new: Values) -> list[Change]:
    """Return settings, data and software that differ between two results."""
    facts = [
        Change(name, before, after)
        for name, before, after in _pair_facts(old, new)
        if before != after
    ]
    return [*facts, *_compare_settings(old["settings"], new["settings"])]


def summarise_version(result: Values) -> tuple[str, str, str, str]:
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


def describe_changes(before: Values | None, result: Values) -> str:
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


def _describe_data(part: Values) -> str:
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
            rows = tuple(
                Row((c.label,), (_show(c.old), _show(c.new))) for c in self.changes
            )
            columns = (Column("old", "old"), Column("new", "new"))
            table = Table("Settings that differ", ("Setting",), columns, rows)
            parts.append(table.to_markdown().strip())
        parts += self.notes
        if self.values.rows:
            parts.append(self.values.to_markdown().strip())
        return "\n\n".join(parts) + "\n"


def compare_versions(
    old: Values,
    new: Values,
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
    old: Values, new: Values, measure: str | None
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


def _read_scores(result: Values, row: str) -> dict[str, FloatArray]:
    """Return the means over seeds by measure, one per topic."""
    seeds = [found["scores"] for found in result["rows"].get(row, ())]
    return {
        name: np.mean([scores[name] for scores in seeds], axis=0)
        for name in (seeds[0] if seeds else ())
        if len({len(scores.get(name, ())) for scores in seeds}) == 1
    }


def _align_topics(
    old: Values, new: Values, first: FloatArray, second: FloatArray
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
    confidence = f"{100 * config.confidence:g} % interval"
    columns = (
        Column("old", "old", 4), Column("new", "new", 4),
        Column("difference", "difference", 4),
        Column("low", "from", 4, group=confidence),
        Column("high", "to", 4, group=confidence), Column("p", "p"),
        Column("corrected", "p corrected"), Column("topics", "topics"),
    )  # fmt: skip
    rows = []
    for key, (first, second) in pairs.items():
        test = tests.get(key)
        means = float(first.mean()), float(second.mean())
        marked = test is not None and test.significant
        shown = [*map(Figure, means), Figure(means[1] - means[0], marked=marked)]
        rows.append(Row(key, (*shown, *_show_test(test, config), str(first.size))))
    how = config.describe(len(tests)).replace("topics,", "topics (means over seeds),")
    note = f"* p < {config.alpha:g}: {how}. Intervals by bootstrap over topics."
    notes = (note,) if tests else ()
    return Table("Values that differ", ("Row", "Measure"), columns, tuple(rows), notes)


def _show_test(
    test: Comparison | None, config: TestConfig
) -> tuple[Figure | str | None, ...]:
    if test is None:
        return (None,) * 4
    p = test.p_t if config.test == "t" else test.p_randomisation
    corrected = {"bonferroni": test.p_bonferroni, "holm": test.p_holm, "none": p}
    values = (p, corrected[config.correction])
    shown = (f"{v:.4f}" if v >= 1e-4 else f"{v:.0e}" for v in values)
    return *map(Figure, test.interval), *shown


def _pair_facts(old: Values, new: Values) -> Iterator[tuple[str, Any, Any]]:
    yield "topic set", old["topic_set"], new["topic_set"]
    yield "collection", _describe_data(old), _describe_data(new)
    yield "AMR parser", old.get("amr_parser"), new.get("amr_parser")
    yield "seeds", _list_seeds(old), _list_seeds(new)
    before, after = (result.get("versions", {}) for result in (old, new))
    for package in before.keys() & after.keys():
        yield f"version of {package}", before[package], after[package]


def _list_seeds(result: Values) -> list[int]:
    return sorted({found["seed"] for row in result["rows"].values() for found in row})


def _compare_settings(old: Values, new: Values) -> list[Change]:
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
