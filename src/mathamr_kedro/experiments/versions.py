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
from collections.abc import Iterator, Mapping, Sequence
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
    Column,
    Comparison,
    Figure,
    FloatArray,
    Row,
    SeedResult,
    Table,
    TestConfig,
    compare_with_baseline,
    summarise_seeds,
)
from mathamr_kedro.evaluation.stats.tables import MISSING

Values = Mapping[str, Any]


class ResultVersions:
    """All versions of one result.

    Args:
        folder: holds ``VERSION/result.json``.
    """

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
                "`mathamr experiments list` shows those that are there, `mathamr "
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
    """Return settings, data and software that differ between two results.

    Args:
        old: as ``Outcome.describe`` gives it.
        new: another version of the same result.
    """
    facts = [
        Change(name, before, after)
        for name, before, after in _pair_facts(old, new)
        if before != after
    ]
    return [*facts, *_compare_settings(old["settings"], new["settings"])]


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
    """Return what differs between two versions: settings, values, and their tests.

    A difference is tested over the topics that both have, where scores are the means
    of a version's seeds; all tests are one family for the correction.

    Args:
        old: a result as ``Outcome.describe`` gives it.
        new: another one of the same experiment.
        measure: one measure; all that they have where absent.
        config: how to test.

    Raises:
        ConfigurationError: neither has the measure.
    """
    config = config or TestConfig()
    pairs = list(_pair_values(old, new, measure))
    differing = [pair for pair in pairs if not pair.is_same]
    tests = _test_all(old, new, differing, config)
    changes = list_changes(old, new)
    notes = [
        *([] if changes else ["The settings of both are the same."]),
        *_describe_seeds(differing),
        *_describe_same(pairs, differing),
    ]
    table = _tabulate(differing, tests, config)
    title = f"{new['experiment']}: two versions"
    return VersionComparison(title, tuple(changes), tuple(notes), table)


class _Pair(NamedTuple):
    """A value of a row in both versions."""

    row: str
    measure: str
    old: Sequence[SeedResult]
    new: Sequence[SeedResult]

    @property
    def is_same(self) -> bool:
        old, new = (sorted(r.value(self.measure) for r in s) for s in self[2:])
        return len(old) == len(new) and np.allclose(old, new, rtol=1e-12, atol=1e-12)

    @property
    def figures(self) -> tuple[Figure | None, Figure | None, Figure | None]:
        """Means of both, and their difference."""
        spreads = [summarise_seeds(s, self.measure) if s else None for s in self[2:]]
        old, new = (None if s is None else Figure(s.mean, s.std) for s in spreads)
        change = Figure(new.value - old.value) if old and new else None
        return old, new, change

    @property
    def seeds(self) -> tuple[int, int]:
        """How many each mean is over."""
        return len(self.old), len(self.new)


def _pair_values(old: Values, new: Values, measure: str | None) -> Iterator[_Pair]:
    rows = dict.fromkeys([*old["rows"], *new["rows"]])
    both = {name: (_read_seeds(old, name), _read_seeds(new, name)) for name in rows}
    results = [r for versions in both.values() for found in versions for r in found]
    known = dict.fromkeys(key for r in results for key in (*r.per_topic, *r.figures))
    if measure is not None and measure not in known:
        raise ConfigurationError(
            f"Expected one of {', '.join(known)} as measure (got {measure!r})"
            f"{suggest(measure, known)}"
        )
    for name, versions in both.items():
        for key in known if measure is None else (measure,):
            having = [[r for r in found if r.has(key)] for found in versions]
            if any(having):
                yield _Pair(name, key, *having)


def _read_seeds(result: Values, row: str) -> list[SeedResult]:
    return [
        SeedResult(
            found["seed"],
            {key: np.asarray(v) for key, v in found["scores"].items()},
            {**found["means"], **found["figures"]},
        )
        for found in result["rows"].get(row, ())
    ]


def _test_all(
    old: Values, new: Values, pairs: Sequence[_Pair], config: TestConfig
) -> dict[tuple[str, str], Comparison]:
    """Test all differences as one family: a pair of a row and a measure is one test."""
    scores: dict[str, dict[str, FloatArray]] = {"old": {}, "new": {}}
    keys: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        found = _align_topics(old, new, pair)
        if found is not None:
            key = f"{pair.row}, {pair.measure}"
            keys[key] = pair.row, pair.measure
            scores["old"][key], scores["new"][key] = found
    return {
        keys[test.measure]: test
        for test in compare_with_baseline(scores, "old", config)
    }


def _align_topics(
    old: Values, new: Values, pair: _Pair
) -> tuple[FloatArray, FloatArray] | None:
    """Return the scores of the topics that both have; ``None`` where that is unknown.

    A measure that is undefined on a topic has no score for it.
    """
    if pair.measure == QUERY_SECONDS and len(_find_machines(old, new)) > 1:
        return None
    means = []
    for seeds in (pair.old, pair.new):
        found = [
            r.per_topic[pair.measure] for r in seeds if pair.measure in r.per_topic
        ]
        if not found or len({values.size for values in found}) > 1:
            return None
        means.append(np.mean(found, axis=0))
    first, second = means
    topics = [list(result["topics"]) for result in (old, new)]
    if topics[0] != topics[1]:
        if [first.size, second.size] != [len(names) for names in topics]:
            return None
        shared = [name for name in topics[1] if name in set(topics[0])]
        first = first[[topics[0].index(name) for name in shared]]
        second = second[[topics[1].index(name) for name in shared]]
    if first.size != second.size or first.size < 2:
        return None
    return first, second


def _find_machines(*results: Values) -> set[str | None]:
    """Return where queries were timed."""
    rows = (row for result in results for row in result["rows"].values())
    return {seed["machines"].get(QUERY_SECONDS) for row in rows for seed in row}


def _describe_seeds(pairs: Sequence[_Pair]) -> Iterator[str]:
    """Say once how many seeds there are, where that is the same in all rows."""
    counts = {pair.seeds for pair in pairs}
    if len(counts) == 1:
        old, new = counts.pop()
        each = f"{old} each" if old == new else f"{old} in the old, {new} in the new"
        yield f"Seeds: {each}."


def _describe_same(pairs: Sequence[_Pair], differing: Sequence[_Pair]) -> Iterator[str]:
    same = [pair for pair in pairs if pair.is_same]
    if same:
        moving = {pair.measure for pair in differing}
        still = dict.fromkeys(p.measure for p in same if p.measure not in moving)
        names = f", among them all of {', '.join(still)}" if still else ""
        yield f"{len(same)} of {len(pairs)} values are the same in both{names}."


def _tabulate(
    pairs: Sequence[_Pair],
    tests: Mapping[tuple[str, str], Comparison],
    config: TestConfig,
) -> Table:
    confidence = f"{100 * config.confidence:g} % interval"
    columns = [
        Column("old", "old", 4), Column("new", "new", 4),
        Column("difference", "difference", 4),
    ]  # fmt: skip
    if tests:
        columns += [
            Column("low", "from", 4, group=confidence),
            Column("high", "to", 4, group=confidence), Column("p", "p"),
            Column("corrected", "p corrected"),
        ]  # fmt: skip
    differs = len({pair.seeds for pair in pairs}) > 1
    columns += [Column("seeds", "seeds")] if differs else []
    rows = tuple(
        Row(
            (pair.row, pair.measure),
            (
                *_mark(pair, tests.get(pair[:2])),
                *(_show_test(tests.get(pair[:2]), config) if tests else ()),
                *([" / ".join(map(str, pair.seeds))] if differs else []),
            ),
        )
        for pair in pairs
    )
    notes = (_describe_tests(tests, config),) if tests else ()
    return Table("Values that differ", ("Row", "Measure"), (*columns,), rows, notes)


def _mark(pair: _Pair, test: Comparison | None) -> tuple[Figure | None, ...]:
    old, new, change = pair.figures
    if change is not None and test is not None:
        change = Figure(change.value, marked=test.significant)
    return old, new, change


def _show_test(
    test: Comparison | None, config: TestConfig
) -> tuple[Figure | str | None, ...]:
    if test is None:
        return (None,) * 4
    p = test.p_t if config.test == "t" else test.p_randomisation
    corrected = {"bonferroni": test.p_bonferroni, "holm": test.p_holm, "none": p}
    ends = (Figure(end) for end in test.interval)
    return *ends, _show_p(p), _show_p(corrected[config.correction])


def _show_p(p: float) -> str:
    return f"{p:.4f}" if p >= 1e-4 else f"{p:.0e}"


def _describe_tests(
    tests: Mapping[tuple[str, str], Comparison], config: TestConfig
) -> str:
    name = {"t": "t-test", "randomisation": "randomisation test"}[config.test]
    topics = {t.wins + t.ties + t.losses for t in tests.values()}
    size = f"{min(topics)}" if len(topics) == 1 else f"{min(topics)} to {max(topics)}"
    correction = "not corrected"
    if config.correction != "none":
        title = config.correction.capitalize()
        correction = f"{title} correction over {len(tests)} tests"
    return (
        f"* p < {config.alpha:g}: two-tailed paired {name} over {size} topics "
        f"(means over seeds), {correction}. Intervals by bootstrap over topics."
    )


def _pair_facts(old: Values, new: Values) -> Iterator[tuple[str, Any, Any]]:
    yield "topic set", old["topic_set"], new["topic_set"]
    yield "collection", _name_collection(old), _name_collection(new)
    yield "AMR parser", old.get("amr_parser"), new.get("amr_parser")
    yield "seeds", _list_seeds(old), _list_seeds(new)
    before, after = (result.get("versions", {}) for result in (old, new))
    for package in before.keys() & after.keys():
        yield f"version of {package}", before[package], after[package]


def _name_collection(result: Values) -> str:
    posts = result.get("posts")
    size = f" ({posts:,} posts)" if posts is not None else ""
    return f"{result['collection'][:6]}{size}"


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
