"""``mathamr import``: the graphs of an archive, instead of parsing texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.cli.export.graphs import DATASETS, NOTES, PAIRS
from mathamr_kedro.hints import complete_commands
from mathamr_kedro.integrations.graph_archive import GraphArchive
from mathamr_kedro.integrations.graph_import import ArchiveImport, KnownPosts
from mathamr_kedro.project import open_catalog


@click.command(name="import")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@ENV
@DATA_ROOT
def command(archive: Path, env: str | None, data_root: str | None) -> None:
    """Read the graphs of an ARCHIVE that `mathamr export graphs` wrote.

    They become what graph_fusion writes: nothing is parsed. If posts were ingested,
    only theirs are taken. A killed import resumes where it stopped.
    """
    catalog: Any = open_catalog(env, data_root)
    opened = GraphArchive(archive)
    _refuse_mode(opened, catalog.load("params:graph_fusion")["mode"])
    known = dict(_find_known(catalog))
    importing = ArchiveImport(opened, known)
    _save(catalog, importing.items(), 2 * len(opened.files))
    if not catalog[DATASETS[PAIRS]].exists():  # those of the ingestion stay
        _save(catalog, importing.pairs(), None)
    for key, name in NOTES.items():
        if opened.manifest.get(key) is not None and not catalog[name].exists():
            catalog.save(name, opened.manifest[key])
    for table in ArchiveImport.GRAPHS:
        click.echo(_describe(table, importing.describe(table)))
    if "posts" not in known:
        click.echo("No posts here yet; run the stage `ingestion` first.")
    stages = "preprocessing,training,indexing,evaluation,significance"
    following = complete_commands(f"`kedro run --pipelines {stages}`", env, data_root)
    click.echo(f"Continue with: {following}")


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
        catalog[DATASETS[table]].save(item)


def _describe(table: str, counts: Mapping[str, int]) -> str:
    taken = counts.get("taken", 0) + counts.get("retyped", 0)
    reasons = {
        "elsewhere": f"of {table} that are not here, skipped",
        "unreadable": "unreadable",
        "absent": f"{table} without a graph in the archive",
    }
    notes = [f"{counts[k]:,} {text}" for k, text in reasons.items() if counts.get(k)]
    return f"{table}: {taken:,} graphs" + "".join(f"; {note}" for note in notes)
