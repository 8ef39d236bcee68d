"""``mathamr inspect``: a post as the pipelines see it."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mathamr_kedro.corpus import OwnCollection, PostCleaner
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.project import open_catalog
from mathamr_kedro.records import Failure, Post


@click.command(name="inspect")
@click.argument("post")
@click.option("--env", help="Environment of conf/ (default: the embedded sample).")
@click.option("--data-root", help="Another folder for what the stages wrote.")
def command(post: str, env: str | None, data_root: str | None) -> None:
    r"""Show POST as the pipelines see it: clean text, formulas, tags.

    POST is the id of an ingested post (or of a topic, such as A.1001), or a file:
    Markdown, HTML, LaTeX or JSONL.

    \b
      mathamr inspect 33701
      mathamr inspect notes/primes.md
    """
    console = Console()
    if Path(post).is_file():
        for found in _read_file(Path(post)):
            _show(found, console)
    else:
        _show(_find(post, env, data_root), console)


def _find(post_id: str, env: str | None, data_root: str | None) -> Post:
    catalog = open_catalog(env, data_root)
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
        topic.topic_id, "question", topic.topic_id, None, None, None, None,
        topic.tags, topic.title, topic.text, topic.formula_map,
    )  # fmt: skip


def _read_file(path: Path) -> list[Post]:
    clean = PostCleaner()
    posts = []
    for raw in OwnCollection(path.parent).read_file(path):
        if isinstance(raw, Failure):
            raise MissingInputError(f"{raw.source}: {raw.reason}: {raw.detail}")
        post, _ = clean(raw)
        if post is not None:
            posts.append(post)
    return posts


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
