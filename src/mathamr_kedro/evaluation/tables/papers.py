"""Tables of other papers: their rows and columns, what they report, what is found here.

A table is stated beside the parameters of its system (``significance.papers``)::

    "003.2":
      title: "SSEmb, Table 2: ablations"
      task: 2
      columns: ["nDCG'@10", "P'@10"]
      baseline: SSEmb
      rows:
        SSEmb: {published: [0.7343, 0.6803], ours: ssemb}   # a system, or a condition
        StructEmb: {published: [0.6762, 0.6211], ours: subs_attr}

and becomes::

    | Method    | Result                      | nDCG'@10       |
    | SSEmb     | published, whole collection | 0.7343         |
    | SSEmb†    | here                        | 0.7012 ± .0021 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.stats.significance import (
    Comparison,
    FloatArray,
    TestConfig,
    TopicScores,
    compare_with_baseline,
)
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    Results,
    SeedResult,
    describe_tests,
    mean_scores,
    mean_table,
)
from mathamr_kedro.evaluation.tables.table import Column, Table

HERE = "here"


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper, with what corresponds to it here."""

    published: tuple[float | None, ...] = ()
    """Figures in the order of the columns; empty: the paper has no such row."""
    ours: str | Mapping[str, str] | None = None
    """A system, or a condition of the experiment; by heading if columns have some
    (``{Original: bm25, RRF: bm25+ssemb}``); ``None``: it is not at hand."""


@dataclass(frozen=True)
class PaperTable:
    """A result table of a paper."""

    title: str
    task: int
    columns: tuple[str, ...]
    """Measures or costs; with a heading, ``"RRF: P'@10"``."""
    rows: Mapping[str, PaperRow]
    """By name, in the order of the paper."""
    baseline: str | None = None
    """Row that ours are tested against, if the paper tests; or a heading, against
    which those beside it are tested."""
    decimals: int = 3
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, row in self.rows.items():
            if row.published and len(row.published) != len(self.columns):
                raise ConfigurationError(
                    f"Expected {len(self.columns)} published figures in row {name!r}, "
                    f"one for each column (got {len(row.published)})"
                )
        known = [*self.rows, *(c.rpartition(": ")[0] for c in self.columns)]
        if self.baseline is not None and self.baseline not in known:
            raise ConfigurationError(
                f"Expected one of {known} as baseline (got {self.baseline!r})"
            )

    def fill(self, results: Results, config: TestConfig) -> Table | None:
        """Return the table with its tests; ``None`` if nothing of it was found here.

        Ours are means over seeds; what is tested are the scores of each topic, averaged
        over seeds, so no seed is chosen by the topics that it is tested on.
        """
        columns = tuple(map(self._read_column, self.columns))
        own = {name: _join(row, results) for name, row in self.rows.items()}
        keys = {c.key for c in columns}
        own = {n: f for n, f in own.items() if any(keys & r.values.keys() for r in f)}
        if not own:
            return None
        tests = self._test(own, columns, config)
        published = {n: row.published for n, row in self.rows.items() if row.published}
        shown = {n: (n, HERE) for n in self.rows if n in own or n in published}
        layout = Layout(
            self.title, ("Method", "Result"), shown, columns, self.baseline,
            notes=self.notes, published=published,
        )  # fmt: skip
        marks = map(_turn_test, tests) if self._has_heading(columns) else tests
        table = mean_table(layout, own, list(marks))
        absent = [n for n, row in self.rows.items() if row.ours and n not in own]
        notes = [*table.notes, *describe_tests(tests, config)]
        if absent:
            notes.append(f"Not run here: {', '.join(absent)}.")
        return replace(table, notes=tuple(notes), tests=tuple(tests) or None)

    def _test(
        self, own: Results, columns: Sequence[Column], config: TestConfig
    ) -> list[Comparison]:
        means = {name: mean_scores(found) for name, found in own.items()}
        scores = {
            name: {c.key: found[c.key] for c in columns if c.key in found}
            for name, found in means.items()
        }
        if self._has_heading(columns):
            scores = _turn(scores)
        if self.baseline not in scores:
            return []
        return compare_with_baseline(scores, self.baseline, config)

    def _has_heading(self, columns: Sequence[Column]) -> bool:
        """Return whether a heading is the baseline of those beside it."""
        return any(c.group == self.baseline for c in columns)

    def _read_column(self, name: str) -> Column:
        group, _, title = name.rpartition(": ")
        return Column(name, title, decimals=self.decimals, group=group)


def _join(row: PaperRow, results: Results) -> Sequence[SeedResult]:
    """Return ours over seeds; scores of several systems under their headings."""
    if not isinstance(row.ours, Mapping):
        return results.get(row.ours or "", ())
    parts = {
        heading: {r.seed: r for r in results.get(name, ())}
        for heading, name in row.ours.items()
    }
    return [
        SeedResult(
            seed,
            {
                f"{heading}: {measure}": scores
                for heading, found in parts.items()
                for measure, scores in found[seed].per_topic.items()
            },
        )
        for seed in sorted(set.intersection(*map(set, parts.values())))
    ]


def _turn(scores: TopicScores) -> dict[str, dict[str, FloatArray]]:
    """Return scores by heading, then by row and measure, as ``"row: measure"``."""
    found: dict[str, dict[str, FloatArray]] = {}
    for row, values in scores.items():
        for key, own in values.items():
            heading, _, measure = key.rpartition(": ")
            found.setdefault(heading, {})[f"{row}: {measure}"] = own
    return found


def _turn_test(test: Comparison) -> Comparison:
    """Return a test of headings as one of the row, where its mark is."""
    row, _, title = test.measure.rpartition(": ")
    return test._replace(condition=row, measure=f"{test.condition}: {title}")
