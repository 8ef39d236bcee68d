"""``mathamr graphs``: hand the graphs of a collection on, and take over others'."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.shards import EndOfShards
from mathamr_kedro.base.types import PostId
from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.hints import complete_commands
from mathamr_kedro.integrations.graph_archive import (
    ArchivedFile,
    GraphArchive,
    format_failures,
    format_pairs,
    write_archive,
)
from mathamr_kedro.integrations.graph_import import ArchiveImport, KnownPosts
from mathamr_kedro.project import open_catalog

_GRAPHS = {"topics": "topic_math_graphs", "posts": "math_graphs"}
_FAILURES = {
    "failures/amr_topics": "amr_topic_failures",
    "failures/amr_posts": "amr_post_failures",
    "failures/topics": "topic_math_graph_failures",
    "failures/posts": "math_graph_failures",
}
_PAIRS = "pairs"
_DATASETS = {_PAIRS: "training_pairs", **_FAILURES, **_GRAPHS}
"""Tables of an archive by dataset, in the order of its files."""
_NOTES = {"parsing": "amr_statistics", "parser": "amr_parser"}
"""What the manifest says about the parsing, by dataset."""
_COMMENTS = ("comment_math_graph_failures", "comment_math_graphs")
"""Not in archives: formulas of comments are encoded alone."""
_LICENCE = "that of the collection; Math Stack Exchange posts (ARQMath): CC BY-SA"

_File = tuple[ArchivedFile, Callable[[], bytes]]


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    return ENV(DATA_ROOT(command))


@click.group(name="graphs")
def command() -> None:
    r"""Hand the math graphs of a collection on, and take over others'.

    Parsing ARQMath takes weeks; an archive of its graphs saves others from it.

    \b
      mathamr graphs export graphs.tar.gz --env arqmath
      mathamr graphs import graphs.tar.gz --env arqmath
    """


@command.command(name="export")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@_options
def _export(archive: Path, env: str | None, data_root: str | None) -> None:
    """Write the graphs of posts and topics, pair labels and failures to ARCHIVE.

    ARCHIVE is a .tar.gz file of PENMAN texts and tables. Run the stage graph_fusion
    first.
    """
    catalog: Any = open_catalog(env, data_root)
    chosen = {
        table: name
        for table, name in _DATASETS.items()
        if table not in _FAILURES or catalog[name].exists()
    }
    tables = {table: catalog.load(name) for table, name in chosen.items()}
    facts = {
        "mode": catalog.load("params:graph_fusion")["mode"],
        "made_by": f"mathamr-kedro {importlib.metadata.version('mathamr-kedro')}",
        "licence": _LICENCE,
        **{k: catalog.load(n) for k, n in _NOTES.items() if catalog[n].exists()},
        "fingerprints": {name: table.checksum for name, table in tables.items()},
    }
    accepted = _find_accepted(catalog, tables[_PAIRS])
    files = [
        *_list_tables(_PAIRS, tables[_PAIRS], ".tsv", accepted=accepted),
        *(f for t in _FAILURES if t in tables for f in _list_tables(t, tables[t])),
        *(f for t in _GRAPHS for f in _list_graphs(t, tables[t])),
    ]
    archive.parent.mkdir(parents=True, exist_ok=True)
    write_archive(archive, facts, files)
    pairs, posts, topics = (
        tables[t].counts.get("written", 0) for t in (_PAIRS, "posts", "topics")
    )
    click.echo(
        f"Wrote {archive}: {posts:,} graphs of posts, {topics:,} of topics, {pairs:,} "
        f"pairs, {archive.stat().st_size:,} bytes"
    )
    click.echo(f"Licence: {_LICENCE}")


@command.command(name="import")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@_options
def _import(archive: Path, env: str | None, data_root: str | None) -> None:
    """Take over the graphs of ARCHIVE as what graph_fusion writes.

    Where posts were ingested, theirs alone are taken. Nothing is parsed, and a killed
    import resumes.
    """
    catalog: Any = open_catalog(env, data_root)
    opened = GraphArchive(archive)
    _refuse_mode(opened, catalog.load("params:graph_fusion")["mode"])
    known = dict(_find_known(catalog))
    importing = ArchiveImport(opened, known)
    _save(catalog, importing.items(), 2 * len(opened.files))
    if not catalog[_DATASETS[_PAIRS]].exists():  # those of the ingestion stay
        _save(catalog, importing.pairs(), None)
    for key, name in _NOTES.items():
        if opened.manifest.get(key) is not None and not catalog[name].exists():
            catalog.save(name, opened.manifest[key])
    for name in _COMMENTS:
        if not catalog[name].exists():
            catalog[name].save(EndOfShards("archive"))
    for table in ArchiveImport.GRAPHS:
        click.echo(_describe(table, importing.describe(table)))
    if "posts" not in known:
        click.echo("No posts here yet; run the stage `ingestion` first.")
    stages = "preprocessing,training,indexing,evaluation,significance"
    command = complete_commands(f"`kedro run --pipelines {stages}`", env, data_root)
    click.echo(f"Go on with: {command}")


def _find_accepted(catalog: Any, pairs: Any) -> dict[PostId, PostId | None]:
    """Return the accepted answers by question."""
    if catalog["posts"].exists():
        columns = ["post_id", "accepted_answer_id"]
        return {
            post: answer
            for table in catalog.load("posts").tables(columns)
            for post, answer in zip(
                *(table[c].to_pylist() for c in columns), strict=True
            )
            if answer is not None
        }
    is_accepted = catalog.load("params:ingestion")["pairs"] == "accepted"
    return dict(pairs.records()) if is_accepted else {}


def _list_tables(
    name: str,
    table: Any,
    suffix: str = ".jsonl",
    accepted: Mapping[PostId, PostId | None] | None = None,
) -> Iterator[_File]:
    counts = table.counts_by_shard

    def read(file: Path) -> bytes:
        rows = table.read_rows(file)
        if accepted is not None:
            return format_pairs(rows, accepted)
        return format_failures(rows)

    for file in table.files():
        shard = file.stem
        place = f"{name}/{shard}{suffix}"
        yield ArchivedFile(name, shard, counts[shard], place), partial(read, file)


def _list_graphs(name: str, graphs: Any) -> Iterator[_File]:
    counts = graphs.counts_by_shard
    for shard, file in graphs.shards():
        place = f"{name}/{file.name}"
        yield ArchivedFile(name, shard, counts[shard], place), file.read_bytes


def _refuse_mode(archive: GraphArchive, mode: str) -> None:
    if archive.mode != mode:
        raise ConfigurationError(
            f"Expected graphs of graph_fusion.mode {mode!r} in {str(archive.path)!r} "
            f"(got {archive.mode!r}); set graph_fusion.mode in "
            "conf/<env>/parameters.yml, or choose another archive"
        )


def _find_known(catalog: Any) -> Iterator[tuple[str, KnownPosts]]:
    """Yield posts and topics that were ingested, by table of the archive."""
    if catalog["posts"].exists():
        posts, columns = catalog.load("posts"), ["post_id", "post_type"]
        types = {
            post: kind
            for table in posts.tables(columns)
            for post, kind in zip(*(table[c].to_pylist() for c in columns), strict=True)
        }
        yield "posts", KnownPosts(types, posts.checksum)
    if catalog["topics"].exists():
        topics = catalog.load("topics")
        ids = [
            i for t in topics.tables(["topic_id"]) for i in t["topic_id"].to_pylist()
        ]
        yield "topics", KnownPosts(dict.fromkeys(ids, "topic"), topics.checksum)


def _save(catalog: Any, items: Iterable[tuple[str, Any]], total: int | None) -> None:
    """Save shards of graphs and of failures; about as many as an archive has files."""
    for table, item in report_progress(items, "shards imported", total=total):
        catalog[_DATASETS[table]].save(item)


def _describe(table: str, counts: Mapping[str, int]) -> str:
    taken = counts.get("taken", 0) + counts.get("retyped", 0)
    reasons = {
        "elsewhere": f"of {table} that are not here, left out",
        "unreadable": "unreadable",
        "absent": f"{table} without a graph in the archive",
    }
    notes = [f"{counts[k]:,} {text}" for k, text in reasons.items() if counts.get(k)]
    return f"{table}: {taken:,} graphs" + "".join(f"; {note}" for note in notes)
