"""``mathamr search``: ask the index a question."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from mathamr_kedro.graph import FORMULA_TYPE, POST_TYPES

if TYPE_CHECKING:
    from mathamr_kedro.search import Answer, Result, Searcher


@click.command(name="search")
@click.argument("text", required=False)
@click.option("--formula", metavar="LATEX", help="Search for a formula instead.")
@click.option("--like", metavar="POST_ID", help="Search for posts similar to this one.")
@click.option("--top", type=click.IntRange(1, 10_000), default=10, show_default=True)
@click.option(
    "--type",
    "post_types",
    multiple=True,
    type=click.Choice([t for t in POST_TYPES if t not in ("topic", FORMULA_TYPE)]),
    help="Types of post to return; may be repeated (default: those of indexing.yml).",
)
@click.option("--env", help="Environment of conf/ (default: the embedded sample).")
@click.option("--data-root", help="Another folder for what the stages wrote.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    text: str | None,
    formula: str | None,
    like: str | None,
    top: int,
    post_types: tuple[str, ...],
    env: str | None,
    data_root: str | None,
    as_json: bool,
) -> None:
    r"""Find posts for TEXT, formulas between dollars.

    \b
      mathamr search 'why is $\sqrt2$ irrational'
      mathamr search --formula '\zeta(s) = \sum n^{-s}' --top 5
      mathamr search --like 33701 --json
    """
    if sum(value is not None for value in (text, formula, like)) != 1:
        raise click.UsageError("Give one of TEXT, --formula and --like")
    types = post_types or None

    def ask(searcher: Searcher) -> Answer:
        if formula is not None:
            return searcher.search_formula(formula, top)
        if like is not None:
            return searcher.search_like(like, top, types)
        return searcher.search(text or "", top, types)

    _show(ask, env, data_root, as_json)


def _show(
    ask: Callable[[Searcher], Answer],
    env: str | None,
    data_root: str | None,
    as_json: bool,
) -> None:
    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project_search import open_searcher  # noqa: PLC0415

    started = time.perf_counter()
    searcher = open_searcher(env, data_root)
    loaded = time.perf_counter()
    try:
        answer = ask(searcher)
    finally:
        searcher.close()
    took = time.perf_counter() - loaded
    for warning in answer.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        results = [_to_dict(result) for result in answer.results]
        click.echo(json.dumps(results, indent=2, ensure_ascii=False))
        return
    for result in answer.results:
        click.echo(_format(result))
    click.echo(
        f"{len(answer.results)} posts in {took:.2f} s, "
        f"after {loaded - started:.1f} s of loading",
        err=True,
    )


def _to_dict(result: Result) -> dict[str, object]:
    return {**result._asdict(), "matches": [m._asdict() for m in result.matches]}


def _format(result: Result) -> str:
    head = click.style(f"{result.rank:3d}. {result.post_id}", bold=True)
    lines = [f"{head}  {result.score:.4f}  {result.post_type}  {result.title}".rstrip()]
    if result.snippet:
        lines.append(f"     {result.snippet}")
    lines += [
        f"     {m.similarity:6.3f}  {m.query}  ~  {m.post}" for m in result.matches
    ]
    return "\n".join(lines) + "\n"
