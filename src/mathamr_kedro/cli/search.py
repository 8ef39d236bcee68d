"""``mathamr search``: ask the index a question."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.cli._options import SYSTEM, WITH, in_environment, read_input

if TYPE_CHECKING:
    from mathamr_kedro.search import Answer, Result, Searcher
    from mathamr_kedro.systems import Target


_WARNINGS, _PARTS = 5, 12
"""Number of warnings, and of parts of a score, that are shown; JSON has all."""


@click.command(name="search")
@click.argument("text", required=False, type=read_input)
@click.option(
    "--formula",
    metavar="LATEX",
    type=read_input,
    help="Search for a formula instead; ?a, ?{name} in it stand for any operand.",
)
@click.option(
    "--like",
    metavar="POST_ID",
    help="Search for posts similar to this one, or for a topic such as A.1001.",
)
@SYSTEM
@WITH
@click.option(
    "--queries",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Search for all queries of a file: JSONL with _id and text, or TSV.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="TREC run file for the results of --queries.",
)
@click.option(
    "--top",
    type=click.IntRange(1, 10_000),
    show_default="10, with --queries 1000",
)
@click.option(
    "--type",
    "post_types",
    metavar="NAMES",
    multiple=True,
    help="What to return: types of post (question, answer, document) or kinds of "
    "statement, e.g. lemma,theorem (default: the types of indexing.yml).",
)
@in_environment
@click.option("--why", is_flag=True, help="Say why: in sentences, then in numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    text: str | None,
    formula: str | None,
    like: str | None,
    queries: Path | None,
    output: Path | None,
    top: int | None,
    post_types: tuple[str, ...],
    **more: Any,
) -> None:
    r"""Find posts for TEXT, formulas between dollars; - reads it from the input.

    \b
      mathamr search 'is $\sqrt p$ irrational for a prime $p$?' --why
      mathamr search --formula '\zeta(s) = \sum n^{-s}' --top 5
      mathamr search --formula '\sqrt{2}' --system mathamr_plus --with bm25_opt
      mathamr search --formula '?a^2 + ?b^2 = ?c^2'
      mathamr search --like 33701 --json
      mathamr search 'is $\sqrt p$ irrational for a prime $p$?' --with bm25
      mathamr search --queries queries.jsonl --output mine.run
    """
    if sum(value is not None for value in (text, formula, like, queries)) != 1:
        raise click.UsageError("Give one of TEXT, --formula, --like and --queries")
    if (queries is None) != (output is None):
        raise click.UsageError("--queries and --output belong together")
    if formula is not None and post_types:
        raise click.UsageError("--type chooses among posts found by TEXT or --like")
    shown = {name: more.pop(name) for name in ("as_json", "why")}
    names = [name.strip() for given in post_types for name in given.split(",")]
    types = tuple(filter(None, names)) or None
    if queries is not None and output is not None:
        # Loaded here: wrong options are refused at once.
        from mathamr_kedro.cli._batches import Batch  # noqa: PLC0415
        from mathamr_kedro.project.search import open_search  # noqa: PLC0415

        batch = Batch(queries, output, top or 1000, types)
        batch.search(partial(open_search, **more))
        return
    top = top or 10

    def ask(searcher: Searcher) -> Answer:
        if formula is not None:
            return searcher.search_formula(formula, top)
        if like is not None:
            return searcher.search_like(like, top, types)
        return searcher.search(text or "", top, types)

    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project.search import open_search  # noqa: PLC0415

    of_task_2 = like is not None and re.match(r"B\.\d|NTCIR12-", like)
    finds: Target = "formulas" if formula is not None or of_task_2 else "posts"
    _show(ask, partial(open_search, **more, finds=finds), **shown)


def _show(
    ask: Callable[[Searcher], Answer],
    load: Callable[[], Searcher],
    as_json: bool,
    why: bool,
) -> None:
    started = time.perf_counter()
    searcher = load()
    loaded = time.perf_counter()
    try:
        answer = ask(searcher)
        reasons: dict[str, Sequence[str]] = {}
        if why and answer.query is not None:
            tell = partial(searcher.list_reasons, answer.query)
            reasons = {r.post_id: tell(r.post_id) for r in answer.results}
    finally:
        searcher.close()
    took = time.perf_counter() - loaded
    for warning in answer.warnings[:_WARNINGS]:
        click.echo(f"warning: {warning}", err=True)
    if more := len(answer.warnings[_WARNINGS:]):
        click.echo(f"warning: {more:,} more like these", err=True)
    # Loaded by now.
    from mathamr_kedro.search.closeness import NOTHING_CLOSE  # noqa: PLC0415
    from mathamr_kedro.search.responses import to_json  # noqa: PLC0415

    if as_json:
        click.echo(to_json(answer.results))
        return
    if answer.did_you_mean:
        click.echo(f"did you mean: {answer.did_you_mean}")
    if answer.is_far:
        click.echo(NOTHING_CLOSE)
    for result in answer.results:
        click.echo(_format(result, reasons.get(result.post_id, ()), why))
    click.echo(
        f"{count_nouns(len(answer.results), 'post')} in {took:.2f} s, "
        f"after {loaded - started:.1f} s of loading",
        err=True,
    )


def _format(result: Result, reasons: Sequence[str], why: bool) -> str:
    """Return two lines, or all that is known."""
    from mathamr_kedro.search.explanation import (  # noqa: PLC0415 - loaded by now
        describe_parts,
    )

    head = click.style(f"{result.rank:3d}. {result.post_id}", bold=True)
    what = f"{result.post_type}  {result.title}"
    if result.statement is not None:
        what = result.statement.describe()
    score, second = f"{result.score:.4f}", result.snippet
    if result.closeness is not None:
        score = f"{result.closeness:.2f} {result.close}"
    if result.same is not None:
        score = f"{100 * result.same:.0f} % the same"
        second = f"{result.matches[0].post.caption}  in: {second}"
    if result.pattern is not None:
        second = f"{result.pattern.describe()}  in: {second}"
    lines = [f"{head}  {score}  {what}".rstrip()]
    lines += [second] if second else []
    if why:
        lines += [*reasons, f"score {result.score:.4f}, the sum of:"]
        lines += [*describe_parts(result.parts, result.matches, _PARTS), ""]
    return "\n     ".join(lines).rstrip(" ")
