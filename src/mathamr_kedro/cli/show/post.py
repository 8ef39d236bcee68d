"""``mathamr show post``: a post as the pipelines see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Failure, Post, Statement
from mathamr_kedro.cli._options import in_environment

_MAX_LINKS = 10


@click.command(name="post")
@click.argument("post")
@in_environment
def command(post: str, env: str | None, data_root: str | None) -> None:
    r"""Show POST as the pipelines see it: clean text, formulas, tags.

    POST is the id of an ingested post (or of a topic, such as A.1001), or a file:
    Markdown, HTML, LaTeX or JSONL.

    \b
      mathamr show post 33701
      mathamr show post notes/primes.md
    """
    # Loaded here: the help needs no catalog.
    from mathamr_kedro.project.catalog import open_catalog  # noqa: PLC0415

    console = Console()
    if Path(post).is_file():
        for found in _read_file(Path(post)):
            _show(found, console)
    else:
        catalog = open_catalog(env, data_root)
        _show(_find(post, catalog), console)
        _show_statement(post, catalog, console)


def _find(post_id: str, catalog: Any) -> Post:
    found = catalog.load("posts").find("post_id", post_id)
    if found is not None:
        return found
    topic = catalog.load("topics").find("topic_id", post_id)
    if topic is None:
        raise MissingInputError(
            f"No post, topic or file {post_id!r}; ingested posts are listed by "
            "`kedro ipython` → catalog.load('posts').to_pandas(['post_id'])"
        )
    return Post(
        post_id=topic.topic_id,
        post_type="question",
        thread_id=topic.topic_id,
        tags=topic.tags,
        title=topic.title,
        text=topic.text,
        formula_map=topic.formula_map,
    )


def _read_file(path: Path) -> list[Post]:
    # Loaded here: an ingested post needs no reader of files.
    from mathamr_kedro.cli.index import read_posts  # noqa: PLC0415

    found = list(read_posts([path], None))
    posts = [post for post in found if isinstance(post, Post)]
    for problem in found:
        if isinstance(problem, Failure):
            message = f"{problem.source}, {problem.place}: {problem.detail}"
            if not posts:
                raise MissingInputError(message)
            click.echo(message, err=True)
    return posts


def _show_statement(post_id: str, catalog: Any, console: Console) -> None:
    """Show a statement's number, place and proof, and what uses it."""
    if not catalog["statements"].exists():
        return
    row: Statement | None = catalog.load("statements").find("post_id", post_id)
    if row is None:
        return
    name = f" ({row.name})" if row.name else ""
    console.print()
    console.print(f"[bold]{escape(f'{row.kind} {row.number or str()}'.strip() + name)}")
    for part, value in (("section", row.section), ("chapter", row.chapter)):
        if value:
            console.print(f"{part} {escape(value)}", highlight=False)
    console.print(f"in {escape(row.source)}, {row.place}", highlight=False)
    links = list(catalog.load("statement_links").select("premise_id", [post_id]))
    cited = list(catalog.load("statement_links").select("post_id", [post_id]))
    for title, keys in (
        ("its proof uses", [link.premise_id for link in cited]),
        ("used by", [link.post_id for link in links]),
    ):
        if keys:
            shown = ", ".join(keys[:_MAX_LINKS])
            more = f" and {len(keys) - _MAX_LINKS} more" * (len(keys) > _MAX_LINKS)
            console.print(f"{title} {escape(shown)}{more}", highlight=False)
    if row.proof:
        console.print(f"proof: {row.proof}", markup=False, highlight=False)


def _show(post: Post, console: Console) -> None:
    kind = post.post_type.capitalize()
    console.rule(f"[bold]{kind} {escape(post.post_id)}")
    if post.parent_id:
        console.print(f"answers [bold]{escape(post.parent_id)}")
    if post.accepted_answer_id:
        console.print(f"accepted answer [bold]{escape(post.accepted_answer_id)}")
    if post.tags:
        console.print(f"tags [cyan]{escape(', '.join(post.tags))}")
    console.print()
    console.print(post.text or "(no text)", markup=False, highlight=False)
    console.print()
    table = Table("placeholder", "formula id", "visual id", "LaTeX", box=None)
    for m in post.formula_map:
        table.add_row(
            m.placeholder, escape(m.formula_id), escape(m.visual_id), escape(m.latex)
        )
    console.print(table if post.formula_map else "no formulas")
