"""``mathamr evaluate``: score anybody's run file."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
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
from mathamr_kedro.evaluation.metrics import Evaluation, Group, Summary
from mathamr_kedro.trec import read_topic_notes

_ANCHORS = ("score", "floor", "shuffled", "ceiling")
_EXAMPLES = """\b
Examples:
  mathamr evaluate run.tsv --qrels qrel_task1_2021_official.tsv --task 1
  mathamr evaluate run.tsv.gz --qrels qrels.tsv --task 2 --visual-ids latex_v3/
  mathamr evaluate run.tsv --qrels my_qrels.tsv --protocol trec
"""


@click.command("evaluate", epilog=_EXAMPLES)
@click.argument("run", type=click.Path(path_type=Path))
@scoring_options
@click.option(
    "--topics-info", type=click.Path(path_type=Path), metavar="CSV",
    help="Notes about topics: break down by category, difficulty and dependency.",
)  # fmt: skip
@click.option("--per-topic", is_flag=True, help="Show the scores of each topic.")
@click.option(
    "--output", type=click.Choice(["table", "json", "csv"]), default="table",
    show_default=True, help="Form of the result.",
)  # fmt: skip
def command(
    run: Path, topics_info: Path | None, per_topic: bool, output: str, **options: Any
) -> None:
    """Score the run file RUN and say what is odd about it.

    Beside each score stand three exact figures: the floor (all judged documents in a
    random order), the run's own results in a random order, and the ideal order.
    """
    request = Request(**options)
    [evaluation] = score_files([run], request, request.protocol())
    groups = evaluation.break_down(read_topic_notes(topics_info)) if topics_info else []
    if output == "json":
        click.echo(_as_json(evaluation, groups, per_topic))
    elif output == "csv":
        click.echo(_as_csv(evaluation, groups, per_topic), nl=False)
    else:
        _show(evaluation, groups, per_topic, make_console())


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


def _as_csv(evaluation: Evaluation, groups: list[Group], per_topic: bool) -> str:
    everything = Group("all", "", len(evaluation.topics), evaluation.summarise())
    shown = [everything, *groups, *(_topic_groups(evaluation) if per_topic else [])]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "group", "value", "topics", "measure", *_ANCHORS])
    for group in shown:
        for name, summary in group.summaries.items():
            cells = [
                evaluation.run_name,
                group.dimension,
                group.value,
                group.num_topics,
            ]
            writer.writerow([*cells, name, *map(repr, summary)])
    return text.getvalue()


def _show(
    evaluation: Evaluation, groups: list[Group], per_topic: bool, console: Console
) -> None:
    protocol = evaluation.protocol
    depth = f"depth {protocol.depth}" if protocol.depth else "all results"
    table = Table(
        title=f"{escape(evaluation.run_name)}: {protocol.title}, "
        f"{len(evaluation.topics)} topics, {depth}",
        caption=f"floor: {protocol.candidates} in random order; shuffled: this run's "
        "results in random order; ceiling: ideal order",
    )
    table.add_column("measure")
    for anchor in _ANCHORS:
        table.add_column(
            anchor, justify="right", style="bold" if anchor == "score" else ""
        )
    for name, summary in evaluation.summarise().items():
        table.add_row(name, *map(format_score, summary))
    console.print(table)
    for finding in evaluation.findings:
        sign = "[yellow]![/]" if finding.level == "warning" else "[dim]-[/]"
        examples = f" ({', '.join(finding.examples)})" if finding.examples else ""
        text = escape(finding.message + examples)
        console.print(f"{sign} {text}", soft_wrap=True, highlight=False)
    if groups:
        console.print(_group_table("By kind of topic", groups))
    if per_topic:
        console.print(_group_table("By topic", _topic_groups(evaluation)))


def _group_table(title: str, groups: list[Group]) -> Table:
    table = Table(title=title)
    table.add_column("group")
    table.add_column("topics", justify="right")
    for name in groups[0].summaries:
        table.add_column(name, justify="right")
    before = groups[0].dimension
    for group in groups:
        if group.dimension != before:
            table.add_section()
            before = group.dimension
        scores = (format_score(summary.score) for summary in group.summaries.values())
        table.add_row(
            f"{group.dimension} {escape(group.value)}", str(group.num_topics), *scores
        )
    return table
