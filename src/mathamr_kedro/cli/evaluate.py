"""``mathamr evaluate``: score run files, and compare them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, get_args

import click
import numpy as np

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.formatting import format_score
from mathamr_kedro.cli._tables import print_table
from mathamr_kedro.evaluation.metrics import (
    Evaluation,
    Group,
    Protocol,
    Summary,
    evaluate_run,
    protocol_of,
)
from mathamr_kedro.evaluation.metrics.protocols import Averaging, Task
from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.evaluation.tables import (
    Layout,
    SeedResult,
    best_seed_table,
    format_p,
    list_columns,
)
from mathamr_kedro.evaluation.tables import Table as ResultTable
from mathamr_kedro.trec import (
    RUN_FORMS,
    BadLines,
    Run,
    VisualIds,
    read_qrels,
    read_run,
    read_topic_notes,
)

_FILE = click.Path(path_type=Path)
_ANCHORS = ("score", "floor", "shuffled", "ceiling")
_NUM_COMPARED = {"1": 4, "2": 4, "ntcir": 2, "trec": 5}
"""Number of measures of a comparison by default, by task."""
_EXAMPLES = """\b
Examples:
  mathamr evaluate run.tsv --qrels qrel_task1_2021_official.tsv --task 1
  mathamr evaluate run.tsv.gz --qrels qrels.tsv --task 2 --visual-ids latex_v3/
  mathamr evaluate run.tsv --qrels my_qrels.tsv --protocol trec
  mathamr evaluate baseline.tsv mine.tsv other.tsv --qrels qrels.tsv --task 1
"""


@click.command("evaluate", epilog=_EXAMPLES)
@click.argument("runs", type=_FILE, nargs=-1, required=True)
@click.option(
    "--qrels", type=_FILE, required=True,
    help="Judgments: 4 columns, or the 3 of BEIR with their header.",
)  # fmt: skip
@click.option(
    "--task", "--protocol", "task", type=click.Choice(get_args(Task)), required=True,
    help="ARQMath answers, ARQMath formulas, NTCIR-12 formula browsing, or trec: "
    "the plain protocol of trec_eval and BEIR for judgments of your own.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(RUN_FORMS),
    help="Form of the run, if it cannot be detected.",
)  # fmt: skip
@click.option(
    "--depth", type=click.IntRange(min=0), default=1000, show_default=True,
    help="Results per topic that count; 0: all.",
)  # fmt: skip
@click.option(
    "--visual-ids", type=_FILE, multiple=True, metavar="TSV",
    help="Formula index (files or folders) that gives formulas their visual ids.",
)  # fmt: skip
@click.option(
    "--use-rank", is_flag=True, help="Order by the rank column, not by the scores."
)
@click.option(
    "-m", "--measure", "measures", multiple=True,
    help="Measure, e.g. \"P'@5\", 'recall@100' or 'Bpref full', or as trec_eval "
    "writes it, e.g. 'ndcg_cut_10'; may be repeated.",
)  # fmt: skip
@click.option(
    "--average", type=click.Choice(get_args(Averaging)), default="judged",
    show_default=True,
    help="Mean over all judged topics, or over those with a relevant document.",
)  # fmt: skip
@click.option(
    "--bad-lines", type=click.Choice(["refuse", "skip", "as-trec-eval"]),
    default="refuse", show_default=True, help="What to do with broken lines.",
)  # fmt: skip
@click.option(
    "--topics-info", type=_FILE, metavar="CSV",
    help="Notes about topics: break down by category, difficulty and dependency.",
)  # fmt: skip
@click.option("--per-topic", is_flag=True, help="Show the scores of each topic.")
@click.option(
    "--baseline",
    help="Of several runs: the one to compare with, by name (default: the first).",
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
    "--output", type=click.Choice(["table", "json", "markdown", "latex"]),
    default="table", show_default=True,
    help="Form of the result; markdown and latex of several runs.",
)  # fmt: skip
def command(
    runs: tuple[Path, ...],
    qrels: Path,
    task: str,
    topics_info: Path | None,
    per_topic: bool,
    baseline: str | None,
    output: str,
    **more: Any,
) -> None:
    """Score a run file with diagnostics, or compare several RUNS.

    Each score of one run comes with three exact figures: the floor (all judged
    documents in a random order), the run's own results in a random order, and the ideal
    order.

    Several runs are compared with a baseline on every measure. Each run and measure is
    one test over the topics: paired t-test and paired randomisation test, both
    two-tailed; p-values are corrected over all tests.
    """
    several = len(runs) > 1
    if not several and output in ("markdown", "latex"):
        raise click.UsageError(f"--output {output} needs several runs to compare")
    protocol = protocol_of(task)
    if measures := more.pop("measures"):
        protocol = protocol.with_measures(measures)
    elif several:
        shown = protocol.measures[: _NUM_COMPARED[task]]
        protocol = replace(protocol, measures=shown)
    counted = {name: more.pop(name) for name in ("use_rank", "average")}
    protocol = replace(protocol, depth=more.pop("depth") or None, **counted)
    config = TestConfig(**{n: more.pop(n) for n in ("alpha", "test", "correction")})
    scored = _score_files(runs, qrels, protocol, **more)
    if several:
        evaluations = dict(zip(_names_of(runs, scored), scored, strict=True))
        _compare(evaluations, baseline, config, output)
        return
    [evaluation] = scored
    groups = evaluation.break_down(read_topic_notes(topics_info)) if topics_info else []
    if output == "json":
        click.echo(_as_json(evaluation, groups, per_topic))
    else:
        _show(evaluation, groups, per_topic)


def _score_files(
    paths: Sequence[Path],
    qrels_file: Path,
    protocol: Protocol,
    form: str | None,
    visual_ids: tuple[Path, ...],
    bad_lines: str,
) -> list[Evaluation]:
    """Read run files and score them by the same judgments."""
    mode: BadLines = bad_lines.replace("-", "_")  # type: ignore[assignment]
    qrels = read_qrels(qrels_file, protocol.grades)
    judged_ids = frozenset(chain.from_iterable(qrels.grades.values()))
    runs = [read_run(p, form, judged_ids, mode) for p in paths]
    _refuse_empty(runs, paths)
    index = None
    if visual_ids:
        lists = (run.documents(topic) for run in runs for topic in run.lists)
        formula_ids = set(chain.from_iterable(hits.ids for hits in lists))
        index = VisualIds.read(visual_ids, formula_ids, set(judged_ids))
    return [evaluate_run(run, qrels, protocol, index) for run in runs]


def _refuse_empty(runs: Sequence[Run], paths: Sequence[Path]) -> None:
    for run, path in zip(runs, paths, strict=True):
        if not run.lists:
            left = (
                f"{run.num_bad_lines:,} unreadable lines" if run.num_bad_lines else ""
            )
            raise MalformedInputError(
                f"Expected results in the run {str(path)!r} (got {left or 'none'}); "
                "lines are 'topic Q0 document rank score name'"
            )


def _topic_groups(evaluation: Evaluation) -> list[Group]:
    return [
        Group("topic", topic, 1, evaluation.summarise(np.arange(len(topics)) == row))
        for topics in [evaluation.topics]
        for row, topic in enumerate(topics)
    ]


def _as_json(evaluation: Evaluation, groups: list[Group], per_topic: bool) -> str:
    report: dict[str, Any] = {
        "run": evaluation.run_name,
        "task": evaluation.protocol.task,
        "topics": len(evaluation.topics),
        "depth": evaluation.protocol.depth,
        "average": evaluation.protocol.average,
        "use_rank": evaluation.protocol.use_rank,
        "measures": _plain(evaluation.summarise()),
        "findings": [asdict(finding) for finding in evaluation.findings],
    }
    if groups:
        report["groups"] = [
            {**group._asdict(), "summaries": _plain(group.summaries)}
            for group in groups
        ]
    if per_topic:
        report["per_topic"] = {
            group.value: _plain(group.summaries) for group in _topic_groups(evaluation)
        }
    return json.dumps(report, indent=2, ensure_ascii=False)


def _plain(summaries: dict[str, Summary]) -> dict[str, dict[str, float]]:
    return {name: summary._asdict() for name, summary in summaries.items()}


def _show(evaluation: Evaluation, groups: list[Group], per_topic: bool) -> None:
    protocol = evaluation.protocol
    depth = f"depth {protocol.depth}" if protocol.depth else "all results"
    print_table(
        ("measure", *_ANCHORS),
        [
            (name, *map(format_score, summary))
            for name, summary in evaluation.summarise().items()
        ],
        title=f"{evaluation.run_name}: {protocol.title}, "
        f"{len(evaluation.topics)} topics, {depth}",
        caption=f"floor: {protocol.candidates} in random order; shuffled: this run's "
        "results in random order; ceiling: ideal order",
    )
    for finding in evaluation.findings:
        sign = "!" if finding.level == "warning" else "-"
        click.echo(f"{sign} {finding}")
    if groups:
        _show_groups("By kind of topic", groups)
    if per_topic:
        _show_groups("By topic", _topic_groups(evaluation))


def _show_groups(title: str, groups: list[Group]) -> None:
    rows: list[Sequence[str] | None] = []
    for _, same in groupby(groups, key=lambda group: group.dimension):
        rows += [None] if rows else []
        rows += [
            (
                f"{group.dimension} {group.value}",
                str(group.num_topics),
                *(format_score(summary.score) for summary in group.summaries.values()),
            )
            for group in same
        ]
    print_table(("group", "topics", *groups[0].summaries), rows, title)


def _names_of(paths: Sequence[Path], scored: Sequence[Evaluation]) -> list[str]:
    """Return the names of the runs, or if two are the same, ends of their paths."""
    names = [evaluation.run_name for evaluation in scored]
    if len(set(names)) == len(names):
        return names
    for depth in range(1, max(len(p.parts) for p in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise click.UsageError("Expected different runs (one file is named twice).")


def _compare(
    evaluations: dict[str, Evaluation],
    baseline: str | None,
    config: TestConfig,
    output: str,
) -> None:
    """Test each run against the baseline on every measure; print the results."""
    first = next(iter(evaluations.values()))
    chosen = baseline or next(iter(evaluations))
    if chosen not in evaluations:
        raise click.BadParameter(
            f"expected one of {', '.join(evaluations)} (got {chosen!r})",
            param_hint="--baseline",
        )
    title = first.protocol.title
    layout = Layout(
        title=f"{title[:1].upper()}{title[1:]}, {len(first.topics)} topics",
        label_titles=("Run",),
        rows={name: name for name in evaluations},
        columns=list_columns((m.name for m in first.measures), decimals=4),
        baseline=chosen,
        select_by=first.measures[0].name,
    )
    results = {
        name: [SeedResult(seed=0, per_topic=_counted_scores(evaluation))]
        for name, evaluation in evaluations.items()
    }
    table = best_seed_table(layout, results, config)
    tests = table.tests or ()
    match output:
        case "json":
            rows = [test.to_record() for test in tests]
            click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        case "markdown":
            click.echo(table.to_markdown(), nl=False)
        case "latex":
            click.echo(table.to_latex(), nl=False)
        case _:
            _show_comparison(table, tests)


def _counted_scores(evaluation: Evaluation) -> dict[str, Any]:
    return {
        measure.name: evaluation.scores[evaluation.counted[:, i], i]
        for i, measure in enumerate(evaluation.measures)
    }


def _show_comparison(table: ResultTable, tests: Sequence[Comparison]) -> None:
    head = (
        "run", "mean", "difference", "95 % interval", "t", "p (t)", "p (random.)",
        "p (Bonf.)", "p (Holm)", "better/equal/worse",
    )  # fmt: skip
    for column in table.columns:
        own = [test for test in tests if test.measure == column.key]
        first = (f"{table.baseline}†", format_score(own[0].baseline_mean))
        rows = [first, *map(_cells, own)]
        print_table(head, rows, f"{column.title} ({table.title})")
    for note in table.notes:
        click.echo(note)


def _cells(test: Comparison) -> list[str]:
    mark = "*" if test.significant else ""
    p_values = (test.p_t, test.p_randomisation, test.p_bonferroni, test.p_holm)
    return [
        test.condition,
        format_score(test.mean) + mark,
        format_score(test.difference, signed=True),
        f"[{', '.join(format_score(end, signed=True) for end in test.interval)}]",
        f"{test.t:.2f}",
        *map(format_p, p_values),
        f"{test.wins}/{test.ties}/{test.losses}",
    ]
