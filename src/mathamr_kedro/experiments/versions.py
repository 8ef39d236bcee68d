"""How two versions of an experiment's result differ, and whether that is chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, suggest
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
from mathamr_kedro.experiments.changes import Change

Values = Mapping[str, Any]

_NOT_RECORDED = (
    "The settings of one version are not recorded: it is of an older release. `kedro "
    "run --pipelines significance` with its parameters writes one that has them."
)


class _Versions(NamedTuple):
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
            parts.append(Change.tabulate(self.changes).to_markdown().strip())
        parts += self.notes
        if self.values.rows:
            parts.append(self.values.to_markdown().strip())
        return "\n\n".join(parts) + "\n"


def compare_versions(
    old: Values,
    new: Values,
    measure: str | None = None,
    config: TestConfig | None = None,
) -> _Versions:
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
    changes = Change.list(old, new)
    notes = [
        *_describe_changes(changes, Change.are_recorded(old, new)),
        *_describe_seeds(differing),
        *_describe_same(pairs, differing),
    ]
    table = _tabulate(differing, tests, config)
    title = f"{new['experiment']}: two versions"
    return _Versions(title, tuple(changes), tuple(notes), table)


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
    """Return the seeds of a row; without scores by topic where none are recorded."""
    return [
        SeedResult(
            found["seed"],
            {key: np.asarray(v) for key, v in found.get("scores", {}).items()},
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
    topics = [list(result.get("topics", ())) for result in (old, new)]
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


def _describe_changes(changes: Sequence[Change], are_recorded: bool) -> Iterator[str]:
    if not are_recorded:
        yield _NOT_RECORDED
    elif not changes:
        yield "The settings of both are the same."


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
