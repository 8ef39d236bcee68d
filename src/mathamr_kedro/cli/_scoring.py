"""Options and file reading that ``evaluate`` and ``compare`` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.evaluation.metrics import (
    Evaluation,
    Protocol,
    evaluate_run,
    protocol_of,
)
from mathamr_kedro.evaluation.metrics.protocols import Task
from mathamr_kedro.trec import (
    RUN_FORMS,
    BadLines,
    Names,
    Qrels,
    Run,
    VisualIds,
    read_qrels,
    read_run,
    read_text,
)

_FILE = click.Path(path_type=Path)

_OPTIONS = (
    click.option(
        "--qrels", type=_FILE, required=True,
        help="Judgments: 4 columns, or the 3 of BEIR with their header.",
    ),
    click.option(
        "--task", "--protocol", "task", type=click.Choice(get_args(Task)),
        required=True,
        help="ARQMath answers, ARQMath formulas, NTCIR-12 formula browsing, or trec: "
        "the plain protocol of trec_eval and BEIR for judgments of your own.",
    ),
    click.option(
        "--format", "form", type=click.Choice(RUN_FORMS),
        help="Form of the run, where it cannot be told.",
    ),
    click.option(
        "--depth", type=click.IntRange(min=0), default=1000, show_default=True,
        help="Results per topic that count; 0: all.",
    ),
    click.option(
        "--visual-ids", type=_FILE, multiple=True, metavar="TSV",
        help="Formula index (files or folders) that gives formulas their visual ids.",
    ),
    click.option(
        "--formula-qrels", is_flag=True,
        help="The qrels judge formula ids: turn them into visual ids, highest grade.",
    ),
    click.option(
        "--corpus-ids", type=_FILE,
        help="All ids a system could return, one per line or in the first column.",
    ),
    click.option(
        "--use-rank", is_flag=True, help="Order by the rank column, not by the scores."
    ),
    click.option(
        "-m", "--measure", "measures", multiple=True,
        help="Measure, e.g. \"P'@5\", 'recall@100' or 'Bpref full', or as trec_eval "
        "writes it, e.g. 'ndcg_cut_10'; may be repeated.",
    ),
    click.option(
        "--average", type=click.Choice(["judged", "relevant"]), default="judged",
        show_default=True,
        help="Mean over all judged topics, or over those with a relevant document.",
    ),
    click.option(
        "--bad-lines", type=click.Choice(["refuse", "skip", "as-trec-eval"]),
        default="refuse", show_default=True, help="What to do with broken lines.",
    ),
    click.option(
        "--names", type=click.Choice(["nfc", "as-written"]), default="nfc",
        show_default=True, help="Compare names as NFC Unicode, or byte by byte.",
    ),
)  # fmt: skip


def scoring_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a click command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True)
class Request:
    """What the shared options say."""

    qrels: Path
    task: str
    form: str | None
    depth: int
    visual_ids: tuple[Path, ...]
    formula_qrels: bool
    corpus_ids: Path | None
    use_rank: bool
    measures: tuple[str, ...]
    average: Any
    bad_lines: str
    names: str

    def protocol(self, default_measures: int | None = None) -> Protocol:
        """Return how to score; only the first default measures where a number says."""
        protocol = protocol_of(self.task)
        if self.measures:
            protocol = protocol.with_measures(self.measures)
        elif default_measures is not None:
            protocol = replace(protocol, measures=protocol.measures[:default_measures])
        return replace(
            protocol,
            depth=self.depth or None,
            use_rank=self.use_rank,
            average=self.average,
        )


def score_files(
    paths: Sequence[Path], request: Request, protocol: Protocol
) -> list[Evaluation]:
    """Read run files and score them by the same judgments."""
    names: Names = "nfc" if request.names == "nfc" else "as_written"
    bad_lines: BadLines = request.bad_lines.replace("-", "_")  # type: ignore[assignment]
    qrels = read_qrels(request.qrels, protocol.grades, names)
    judged_ids = frozenset(chain.from_iterable(qrels.grades.values()))
    runs = [read_run(p, request.form, judged_ids, bad_lines, names) for p in paths]
    _refuse_empty(runs, paths)
    visual_ids = None
    if request.visual_ids:
        visual_ids = _look_up(runs, qrels, request)
        if request.formula_qrels:
            qrels, _ = qrels.judge_visual_ids(visual_ids.of_formula)
    elif request.formula_qrels:
        raise click.UsageError("--formula-qrels needs the formula index (--visual-ids)")
    corpus_ids = _read_ids(request.corpus_ids, names) if request.corpus_ids else None
    return [evaluate_run(r, qrels, protocol, visual_ids, corpus_ids) for r in runs]


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


def make_console() -> Console:
    """Return a console that does not wrap tables where the output is a file or pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=200)


def _look_up(runs: Sequence[Run], qrels: Qrels, request: Request) -> VisualIds:
    lists = (run.documents(topic) for run in runs for topic in run.lists)
    formula_ids = set(chain.from_iterable(hits.ids for hits in lists))
    judged = set(chain.from_iterable(qrels.grades.values()))
    if not request.formula_qrels:
        return VisualIds.read(request.visual_ids, formula_ids, judged)
    return VisualIds.read(request.visual_ids, formula_ids | judged)


def _read_ids(path: Path, names: Names) -> frozenset[str]:
    lines = read_text(path, names).split("\n")
    return frozenset(line.split("\t")[0].strip() for line in lines) - {""}
