"""Versions of the benchmark's result, one folder each, whole or not there.

::

    benchmark/
      2026-11-16T04.12.33.120Z/
        benchmark.md  figure.png  cost.png  and both _dark    for people
        table.csv                                     a line for each cell
        result.json                                   the same, and what was run
        scores.parquet                                benchmark, system, topic, ...
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.base.errors import MissingInputError, suggest
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import format_score
from mathamr_kedro.evaluation.stats import (
    Column,
    Figure,
    FloatArray,
    Row,
    Table,
    TestConfig,
    compare_with_baseline,
)
from mathamr_kedro.experiments.benchmark.choice import Choice
from mathamr_kedro.experiments.benchmark.report import BenchmarkReport

_RESULT = "result.json"
_SCORES = "scores.parquet"
_PAGE = "benchmark.md"
_SAME = 1e-9

Cell = tuple[str, str, str]
"""Benchmark, system and measure."""


class BenchmarkStore:
    """All versions below one folder."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def list_versions(self) -> list[str]:
        """Return the versions, the newest first."""
        found = self.base.glob(f"[!.]*/{_RESULT}")
        return sorted((file.parent.name for file in found), reverse=True)

    def save(
        self, version: str, report: BenchmarkReport, pictures: Mapping[str, bytes]
    ) -> Path:
        """Write a version.

        Args:
            version: its name.
            report: what it holds.
            pictures: files by name.
        """
        self.base.mkdir(parents=True, exist_ok=True)
        folder = self.base / version
        result = {"version": version, **report.describe()}
        with replace_folder(folder) as part:
            texts = {
                _PAGE: report.to_markdown(),
                "table.csv": report.to_csv(),
                _RESULT: json.dumps(result, indent=1, ensure_ascii=False) + "\n",
            }
            for name, text in texts.items():
                (part / name).write_text(text, encoding="utf-8")
            for name, content in pictures.items():
                (part / name).write_bytes(content)
            pq.write_table(_tabulate(report), part / _SCORES)
        return folder

    def read(self, version: str | None = None) -> dict[str, Any]:
        """Return what a version holds, but the scores by topic.

        Raises:
            MissingInputError: there is no such version.
        """
        text = (self._find(version) / _RESULT).read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    def read_page(self, version: str | None = None) -> str:
        """Return the page of a version; the newest where absent."""
        return (self._find(version) / _PAGE).read_text(encoding="utf-8")

    def compare(self, old: str, new: str | None = None) -> Table:
        """Return the cells that changed, each with a paired test over topics.

        The headline measures are compared, over the topics that both versions have.
        """
        before, after = self.read(old), self.read(new)
        first, second = self._read_scores(old), self._read_scores(new)
        headline = {
            (name, measure)
            for result in (before, after)
            for name, found in result["benchmarks"].items()
            for measure in found["headline"]
        }
        shown = [c for c in {**first, **second} if (c[0], c[2]) in headline]
        common = [c for c in shown if c in first and c in second]
        pairs = {c: _pair(first[c], second[c]) for c in common}
        changed = {
            c: p for c, p in pairs.items() if np.any(np.abs(p[1] - p[0]) > _SAME)
        }
        notes = [
            f"{len(changed)} of {len(common)} cells changed; the others are the same "
            "on every topic.",
            *_note_topics(first, second, common),
            *_note_missing(
                "Only in the old version", [c for c in shown if c not in second]
            ),
            *_note_missing(
                "Only in the new version", [c for c in shown if c not in first]
            ),
        ]
        config = TestConfig(**after["tests"])
        return _tabulate_changes((before, after), changed, config, notes)

    def choose(
        self, pattern: str, version: str | None = None, wanted: tuple[str, ...] = ()
    ) -> Choice:
        """Choose among the systems that a pattern names, by the first measures.

        Args:
            pattern: e.g. ``"mathamr_plus+bm25*"``.
            version: the newest where absent.
            wanted: benchmarks; all that have two such systems where empty.

        Raises:
            InputError: fewer than two benchmarks have two such systems in common.
        """
        result, scores = self.read(version), self._read_scores(version)
        sets: dict[str, dict[str, FloatArray]] = {}
        for (benchmark, system, measure), by_topic in scores.items():
            is_first = measure == result["benchmarks"][benchmark]["headline"][0]
            if is_first and fnmatchcase(system, pattern):
                if not wanted or benchmark in wanted:
                    values = np.array(list(by_topic.values()))
                    sets.setdefault(benchmark, {})[system] = values
        return Choice.among({name: by for name, by in sets.items() if len(by) > 1})

    def _find(self, version: str | None) -> Path:
        versions = self.list_versions()
        chosen = version or next(iter(versions), None)
        if chosen not in versions:
            raise MissingInputError(
                f"No version {chosen or 'at all'!r} of the benchmark in "
                f"{str(self.base)!r}{suggest(chosen or '', versions)}; known: "
                f"{', '.join(versions) or 'none'}; `mathamr benchmark` makes one"
            )
        return self.base / chosen

    def _read_scores(self, version: str | None) -> dict[Cell, dict[str, float]]:
        """Return the scores by topic of every cell."""
        table = pq.read_table(self._find(version) / _SCORES)
        columns = [table.column(name).to_pylist() for name in table.column_names]
        found: dict[Cell, dict[str, float]] = {}
        for benchmark, system, topic, measure, score in zip(*columns, strict=True):
            found.setdefault((benchmark, system, measure), {})[topic] = score
        return found


def _tabulate(report: BenchmarkReport) -> pa.Table:
    rows = [
        (s.benchmark.name, row, topic, measure, float(score))
        for s in report.scored
        for row, by_measure in s.systems.items()
        for measure, scores in by_measure.items()
        for topic, score in zip(s.topics, scores, strict=True)
        if not np.isnan(score)
    ]
    names = ("benchmark", "system", "topic_id", "measure", "score")
    kinds = (pa.string(), pa.string(), pa.string(), pa.string(), pa.float64())
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(c, k) for c, k in zip(columns, kinds, strict=True)]
    return pa.table(dict(zip(names, arrays, strict=True)))


def _pair(
    old: Mapping[str, float], new: Mapping[str, float]
) -> tuple[FloatArray, FloatArray]:
    topics = [topic for topic in old if topic in new]
    return np.array([old[t] for t in topics]), np.array([new[t] for t in topics])


def _note_topics(
    first: Mapping[Cell, Mapping[str, float]],
    second: Mapping[Cell, Mapping[str, float]],
    common: list[Cell],
) -> list[str]:
    other = dict.fromkeys(c[0] for c in common if first[c].keys() != second[c].keys())
    return [
        f"{name}: the versions score different topics; those of both count."
        for name in other
    ]


def _note_missing(what: str, cells: list[Cell]) -> list[str]:
    systems: dict[str, list[str]] = {}
    for benchmark, system, _ in cells:
        systems.setdefault(benchmark, []).append(system)
    parts = [f"{b} ({', '.join(dict.fromkeys(s))})" for b, s in systems.items()]
    return [f"{what}: {'; '.join(parts)}."] if parts else []


def _tabulate_changes(
    versions: tuple[Mapping[str, Any], Mapping[str, Any]],
    changed: Mapping[Cell, tuple[FloatArray, FloatArray]],
    config: TestConfig,
    notes: list[str],
) -> Table:
    old, new = (str(result["version"]) for result in versions)
    tested = {"\t".join(c): p for c, p in changed.items() if p[0].size > 1}
    found = compare_with_baseline(
        {
            "old": {name: pair[0] for name, pair in tested.items()},
            "new": {name: pair[1] for name, pair in tested.items()},
        },
        "old",
        config,
    )
    tests = {test.measure: test for test in found}
    rows = []
    for cell, pair in changed.items():
        test = tests.get("\t".join(cell))
        means = (float(pair[0].mean()), float(pair[1].mean()))
        texts: tuple[str | None, ...] = (None, None, None)
        if test is not None:
            ends = [format_score(end, signed=True) for end in test.interval]
            p = {"holm": test.p_holm, "bonferroni": test.p_bonferroni}.get(
                config.correction, test.p_t
            )
            wins = f"{test.wins}/{test.ties}/{test.losses}"
            texts = (f"[{', '.join(ends)}]", f"{p:.4f}", wins)
        is_marked = test is not None and test.significant
        change = Figure(means[1] - means[0], marked=is_marked)
        figures = (Figure(means[0]), Figure(means[1]), change, *texts)
        rows.append(Row((*cell, str(pair[0].size)), figures))
    columns = (
        Column("old", "old", 4), Column("new", "new", 4),
        Column("difference", "difference", 4), Column("interval", "interval"),
        Column("p", "p, corrected"), Column("wins", "better/equal/worse"),
    )  # fmt: skip
    if tests:
        name = {"t": "t-test", "randomisation": "randomisation test"}[config.test]
        notes.append(
            f"* p < {config.alpha:g} (two-tailed paired {name} over topics, correction "
            f"{config.correction} over {len(tests)} tests)."
        )
    labels = ("Benchmark", "System", "Measure", "Topics")
    return Table(f"{old} and {new}", labels, columns, tuple(rows), tuple(notes))
