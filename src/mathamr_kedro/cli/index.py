"""``mathamr index``: sync an index with a folder, add posts, delete them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.records import Failure, Post
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.own_files import OwnCollection, Unit
from mathamr_kedro.corpus.raw import RawPost

if TYPE_CHECKING:
    from mathamr_kedro.systems.updates import Addition, UpdatableIndex

_MAX_SHOWN = 10


@click.group(name="index")
def command() -> None:
    r"""Sync the index with a folder; add posts, delete them, show its status.

    \b
      mathamr index sync notes --env own --watch
      mathamr index add notes/primes.md faq.jsonl
      mathamr index delete primes.md#2
      mathamr index status
    """


@command.command(name="sync")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--watch", is_flag=True, help="Sync after each change, until Ctrl+C.")
@click.option(
    "--unit",
    type=click.Choice(get_args(Unit)),
    help="What a document is (default: as the environment says).",
)
@in_environment
def _sync(
    folder: Path, watch: bool, unit: str | None, env: str | None, data_root: str | None
) -> None:
    """Bring the index up to date with the files of FOLDER.

    Ids are those of `kedro run`, which is run if there is no index yet. Afterwards only
    posts that changed are encoded; those whose files or sections are gone are deleted.
    """
    # Loaded here: the other commands need no session.
    from mathamr_kedro.project.sync import FolderSync  # noqa: PLC0415

    sync = FolderSync(folder, env, data_root, unit)
    for found in sync.watch() if watch else [sync.run()]:
        if found is None:
            click.echo("indexed the folder")
            continue
        _report(found)
        if not found.added and not found.deleted:
            click.echo("nothing has changed")


@command.command(name="add")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder that ids start from (default: the folder of each file).",
)
@in_environment
def _add(
    files: tuple[Path, ...], root: Path | None, env: str | None, data_root: str | None
) -> None:
    """Add Markdown, HTML, LaTeX, text or JSONL FILES from anywhere.

    The id of a document is its path below its folder, with #n for the n-th section, or
    the "id" of a JSONL record. A post with an id that exists is replaced. They stay
    when the stages run again. A whole folder: `mathamr index sync`.
    """
    posts = list(read_posts(files, root))
    found = _open(env, data_root).add(posts)
    _report(found)
    if not found.added:
        click.echo("Nothing was added.", err=True)
        sys.exit(1)
    click.echo(f"{found.formulas} formulas in them")


def _report(found: Addition) -> None:
    for failure in found.failures:
        where = " ".join(filter(None, (failure.source, failure.place)))
        verb = "cut" if failure.kept else "skipped"
        name = where or failure.record_id
        click.echo(f"{verb} {name}: {failure.detail} ({failure.reason})", err=True)
    old = found.replaced
    new = tuple(key for key in found.added if key not in set(old))
    for verb, keys in (("added", new), ("replaced", old), ("deleted", found.deleted)):
        if keys:
            click.echo(f"{verb} {count_nouns(len(keys), 'post')}: {_list(keys)}")


@command.command(name="delete")
@click.argument("ids", nargs=-1, required=True)
@in_environment
def _delete(ids: tuple[str, ...], env: str | None, data_root: str | None) -> None:
    """Delete the posts with these IDS."""
    _open(env, data_root).delete(ids)
    click.echo(f"deleted {count_nouns(len(ids), 'post')}")


@command.command(name="status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@in_environment
def _status(as_json: bool, env: str | None, data_root: str | None) -> None:
    """Describe the index."""
    found = _open(env, data_root).status()
    if as_json:
        click.echo(json.dumps(found._asdict(), indent=2))
        return
    changes = f"{found.added:,} added, {found.deleted:,} deleted by hand"
    rows = [
        ("encoder", found.encoder),
        ("posts", f"{found.posts:,} ({changes})"),
        ("formulas", f"{found.formulas:,}"),
    ]
    if found.waiting:
        waiting = count_nouns(found.waiting, "added post")
        rows.append(("waiting", f"{waiting}: the next search encodes them again"))
    for name, value in rows:
        click.echo(f"{name:<11} {value}")


def _open(env: str | None, data_root: str | None) -> UpdatableIndex:
    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project.search import open_updatable_index  # noqa: PLC0415

    return open_updatable_index(env, data_root)


def read_posts(files: Iterable[Path], root: Path | None) -> Iterator[Post | Failure]:
    """Read files as the environment ``own`` does."""
    clean = PostCleaner()
    for path in files:
        yield from clean.clean_all(_read_raw(path, root))


def _read_raw(path: Path, root: Path | None) -> Iterator[RawPost | Failure]:
    path = path.resolve()
    base = path.parent if root is None else root.resolve()
    if not path.is_relative_to(base):
        raise click.UsageError(f"{str(path)!r} is not below --root {str(base)!r}")
    yield from OwnCollection(base, "statement").read_file(path)


def _list(ids: Iterable[str]) -> str:
    shown = list(ids)
    more = f" and {len(shown) - _MAX_SHOWN:,} more" if len(shown) > _MAX_SHOWN else ""
    return ", ".join(shown[:_MAX_SHOWN]) + more
