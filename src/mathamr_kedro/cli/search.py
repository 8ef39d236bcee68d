"""``mathamr search``: ask the index a question."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.wording import count_nouns

if TYPE_CHECKING:
    from mathamr_kedro.search import Answer, Result, Searcher


@click.command(name="search")
@click.argument("text", required=False)
@click.option("--formula", metavar="LATEX", help="Search for a formula instead.")
@click.option(
    "--like",
    metavar="POST_ID",
    help="Search for posts similar to this one, or for a topic such as A.1001.",
)
@click.option(
    "--system",
    metavar="NAME",
    help="How posts are found: a strategy, baseline or fusion of the evaluation, "
    "e.g. maxsim-exact or bm25 (default: indexing.search.system).",
)
@click.option(
    "--with",
    "fuse_with",
    metavar="NAME",
    multiple=True,
    help="Average the scores with those of this system, e.g. bm25; may be repeated.",
)
@click.option("--top", type=click.IntRange(1, 10_000), default=10, show_default=True)
@click.option(
    "--type",
    "post_types",
    metavar="NAMES",
    multiple=True,
    help="What to return: types of post (question, answer, document) or kinds of "
    "statement, e.g. lemma,theorem (default: the types of indexing.yml).",
)
@ENV
@DATA_ROOT
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    text: str | None,
    formula: str | None,
    like: str | None,
    top: int,
    post_types: tuple[str, ...],
    as_json: bool,
    **where: Any,
) -> None:
    r"""Find posts for TEXT, formulas between dollars.

    \b
      mathamr search 'is $\sqrt p$ irrational for a prime $p$?'
      mathamr search --formula '\zeta(s) = \sum n^{-s}' --top 5
      mathamr search --like 33701 --json
      mathamr search 'is $\sqrt p$ irrational for a prime $p$?' --with bm25
    """
    if sum(value is not None for value in (text, formula, like)) != 1:
        raise click.UsageError("Give one of TEXT, --formula and --like")
    if formula is not None and (where["system"] or where["fuse_with"]):
        raise click.UsageError("--system and --with find posts by TEXT or --like")
    names = [name.strip() for given in post_types for name in given.split(",")]
    types = tuple(filter(None, names)) or None

    def ask(searcher: Searcher) -> Answer:
        if formula is not None:
            return searcher.search_formula(formula, top)
        if like is not None:
            return searcher.search_like(like, top, types)
        return searcher.search(text or "", top, types)

    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project_search import open_searcher  # noqa: PLC0415

    _show(ask, partial(open_searcher, **where), as_json)


def _show(
    ask: Callable[[Searcher], Answer], load: Callable[[], Searcher], as_json: bool
) -> None:
    started = time.perf_counter()
    searcher = load()
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
    found = {**result._asdict(), "matches": [m._asdict() for m in result.matches]}
    if result.statement is None:
        del found["statement"]
    return found


def _format(result: Result) -> str:
    head = click.style(f"{result.rank:3d}. {result.post_id}", bold=True)
    what = f"{result.post_type}  {result.title}"
    if result.statement is not None:
        what = _describe(result.statement)
    lines = [f"{head}  {result.score:.4f}  {what}".rstrip()]
    if result.snippet:
        lines.append(f"     {result.snippet}")
    lines += [
        f"     {m.similarity:6.3f}  {m.query}  ~  {m.post}" for m in result.matches
    ]
    return "\n".join(lines) + "\n"


def _describe(statement: Mapping[str, Any]) -> str:
    name = f"({statement['name']})" if statement["name"] else ""
    title = " ".join(filter(None, [statement["kind"], statement["number"], name]))
    place = ", ".join(filter(None, [title, statement["section"]]))
    used_by = statement["used_by"]
    return f"{place}; used by {count_nouns(used_by, 'statement')}" if used_by else place
