"""``mathamr compare``: are the differences between runs more than chance?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mathamr_kedro.base.formatting import format_score
from mathamr_kedro.cli._scoring import (
    Request,
    make_console,
    score_files,
    scoring_options,
)
from mathamr_kedro.evaluation.metrics import Evaluation
from mathamr_kedro.evaluation.stats import (
    Column,
    Comparison,
    Layout,
    SeedResult,
    TestConfig,
    best_seed_table,
)
from mathamr_kedro.evaluation.stats import Table as ResultTable

_NUM_MEASURES = {"1": 4, "2": 4, "ntcir": 2, "trec": 5}
_EXAMPLE = """\b
Example:
  mathamr compare baseline.tsv mine.tsv other.tsv --qrels qrels.tsv --task 1
"""


@click.command("compare", epilog=_EXAMPLE)
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True)
@scoring_options
@click.option(
    "--baseline", help="Run to compare with, by name; the first one if absent."
)
@click.option(
    "--alpha", type=click.FloatRange(0, 1), default=0.05, show_default=True,
    help="Level of significance.",
)  # fmt: skip
@click.option(
    "--test", type=click.Choice(["t", "randomisation"]), default="t", show_default=True,
    help="Test that decides; both are shown.",
)  # fmt: skip
@click.option(
    "--correction", type=click.Choice(["bonferroni", "holm", "none"]),
    default="bonferroni", show_default=True, help="For several tests; all are shown.",
)  # fmt: skip
@click.option(
    "--samples", type=click.IntRange(min=100), default=10_000, show_default=True,
    help="Draws of the randomisation test and of the bootstrap.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option(
    "--output", type=click.Choice(["table", "json", "csv", "markdown", "latex"]),
    default="table", show_default=True, help="Form of the result.",
)  # fmt: skip
def command(
    runs: tuple[Path, ...],
    baseline: str | None,
    alpha: float,
    test: Any,
    correction: Any,
    samples: int,
    seed: int,
    output: str,
    **options: Any,
) -> None:
    """Compare RUNS with a baseline on every measure.

    Each run and measure is one test over the topics: paired t-test and paired
    randomisation test, both two-tailed; p-values are corrected over all tests.
    Findings about the single runs are shown by `mathamr evaluate`.
    """
    if len(runs) < 2:
        raise click.UsageError("Expected at least two runs to compare.")
    request = Request(**options)
    protocol = request.protocol(_NUM_MEASURES[request.task])
    scored = score_files(runs, request, protocol)
    evaluations = dict(zip(_names_of(runs, scored), scored, strict=True))
    chosen = baseline or next(iter(evaluations))
    if chosen not in evaluations:
        raise click.BadParameter(
            f"expected one of {', '.join(evaluations)} (got {chosen!r})",
            param_hint="--baseline",
        )
    config = TestConfig(
        alpha=alpha, test=test, correction=correction, num_samples=samples, seed=seed
    )
    table, tests = _compare(evaluations, chosen, config)
    _write(output, table, tests)


def _names_of(paths: Sequence[Path], scored: Sequence[Evaluation]) -> list[str]:
    """Return the names of the runs, or where two are the same, ends of their paths."""
    names = [evaluation.run_name for evaluation in scored]
    if len(set(names)) == len(names):
        return names
    for depth in range(1, max(len(p.parts) for p in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise click.UsageError("Expected different runs (one file is named twice).")


def _compare(
    evaluations: dict[str, Evaluation], baseline: str, config: TestConfig
) -> tuple[ResultTable, list[Comparison]]:
    first = next(iter(evaluations.values()))
    layout = Layout(
        title=f"{_capitalise(first.protocol.title)}, {len(first.topics)} topics",
        label_titles=("Run",),
        rows={name: (name,) for name in evaluations},
        columns=tuple(Column(m.name, m.name, decimals=4) for m in first.measures),
        baseline=baseline,
        select_by=first.measures[0].name,
    )
    results = {
        name: [SeedResult(seed=0, per_topic=_counted_scores(evaluation))]
        for name, evaluation in evaluations.items()
    }
    return best_seed_table(layout, results, config)


def _capitalise(title: str) -> str:
    return title[:1].upper() + title[1:]


def _counted_scores(evaluation: Evaluation) -> dict[str, Any]:
    return {
        measure.name: evaluation.scores[evaluation.counted[:, i], i]
        for i, measure in enumerate(evaluation.measures)
    }


def _write(output: str, table: ResultTable, tests: list[Comparison]) -> None:
    match output:
        case "json":
            rows = [{**c._asdict(), "interval": list(c.interval)} for c in tests]
            click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        case "csv":
            click.echo(_as_csv(tests), nl=False)
        case "markdown":
            click.echo(table.to_markdown(), nl=False)
        case "latex":
            click.echo(table.to_latex(), nl=False)
        case _:
            _show(table, tests, make_console())


def _as_csv(tests: list[Comparison]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [name for name in Comparison._fields if name != "interval"]
    writer.writerow([*names, "interval_low", "interval_high"])
    for test in tests:
        writer.writerow([*(getattr(test, name) for name in names), *test.interval])
    return text.getvalue()


def _show(table: ResultTable, tests: list[Comparison], console: Console) -> None:
    for column in table.columns:
        grid = Table(title=escape(f"{column.title} ({table.title})"))
        grid.add_column("run")
        for title in ("mean", "difference", "95 % interval", "t", "p (t)"):
            grid.add_column(title, justify="right")
        for title in ("p (random.)", "p (Bonf.)", "p (Holm)", "better/equal/worse"):
            grid.add_column(title, justify="right")
        for row in table.rows:
            if row.is_baseline:
                mean = next(t.baseline_mean for t in tests if t.measure == column.key)
                grid.add_row(escape(row.labels[0]) + "†", format_score(mean))
        for test in tests:
            if test.measure == column.key:
                grid.add_row(*_cells(test))
        console.print(grid)
    for note in table.notes:
        console.print(escape(note), soft_wrap=True, highlight=False)


def _cells(test: Comparison) -> list[str]:
    mark = "*" if test.significant else ""
    p_values = (test.p_t, test.p_randomisation, test.p_bonferroni, test.p_holm)
    return [
        escape(test.condition),
        format_score(test.mean) + mark,
        format_score(test.difference, signed=True),
        f"[{', '.join(format_score(end, signed=True) for end in test.interval)}]",
        f"{test.t:.2f}",
        *(f"{p:.4f}" if p >= 1e-4 else f"{p:.0e}" for p in p_values),
        f"{test.wins}/{test.ties}/{test.losses}",
    ]
