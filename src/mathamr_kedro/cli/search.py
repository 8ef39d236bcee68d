"""``mathamr search``: ask the index a question."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.cli._options import SYSTEM, WITH, in_environment, read_input

if TYPE_CHECKING:
    from mathamr_kedro.search import Answer, Explanation, Searcher
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
@click.option("--json", "as_json", is_flag=True, help="Print what the server answers.")
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
    explained: list[Explanation] = []
    try:
        response, found = ask(searcher)
        if why:
            tell = partial(searcher.explain_found, found)
            explained = [tell(result.post_id) for result in response.results]
    finally:
        searcher.close()
    took = time.perf_counter() - loaded
    for warning in response.warnings[:_WARNINGS]:
        click.echo(f"warning: {warning}", err=True)
    if more := len(response.warnings[_WARNINGS:]):
        click.echo(f"warning: {more:,} more like these", err=True)
    if as_json:
        click.echo(response.to_json())
        return
    for note in response.list_notes():
        click.echo(note)
    for result, reasons in zip_longest(response.results, explained):
        head, *lines = str(result).splitlines()
        click.echo("\n".join([click.style(head, bold=True), *lines]))
        if reasons is not None:
            click.echo("\n".join(_list_reasons(reasons)) + "\n")
    click.echo(
        f"{count_nouns(len(response.results), 'post')} in {took:.2f} s, "
        f"after {loaded - started:.1f} s of loading",
        err=True,
    )


def _list_reasons(found: Explanation) -> Iterator[str]:
    from mathamr_kedro.search.explanation import (  # noqa: PLC0415 - loaded by now
        describe_parts,
    )

    score = f"score {found.total:.4f}, the sum of:"
    lines = describe_parts(found.parts, found.terms, _PARTS)
    for line in (*found.reasons, score, *lines):
        yield f"   {line}"
