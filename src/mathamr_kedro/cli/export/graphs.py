"""``mathamr export graphs``: an archive of graphs, which ``mathamr import`` reads.

Parsing ARQMath takes weeks; an archive of its graphs saves others from it.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.files import make_folder
from mathamr_kedro.base.types import PostId
from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.integrations.graph_archive import (
    ArchivedFile,
    format_failures,
    format_pairs,
    write_archive,
)
from mathamr_kedro.project import open_catalog

_GRAPHS = {"topics": "topic_math_graphs", "posts": "math_graphs"}
_FAILURES = {
    "failures/amr_topics": "amr_topic_failures",
    "failures/amr_posts": "amr_post_failures",
    "failures/topics": "topic_math_graph_failures",
    "failures/posts": "math_graph_failures",
}
PAIRS = "pairs"
DATASETS = {PAIRS: "training_pairs", **_FAILURES, **_GRAPHS}
"""Tables of an archive by dataset, in the order of its files."""
NOTES = {"parsing": "amr_statistics", "parser": "amr_parser"}
"""What the manifest says about the parsing, by dataset."""
_LICENCE = "that of the collection; Math Stack Exchange posts (ARQMath): CC BY-SA"

_File = tuple[ArchivedFile, Callable[[], bytes]]


@click.command(name="graphs")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@ENV
@DATA_ROOT
def command(archive: Path, env: str | None, data_root: str | None) -> None:
    """Write the graphs of posts and topics, pair labels and failures to ARCHIVE.

    ARCHIVE is a .tar.gz file of PENMAN texts and tables. Run the stage graph_fusion
    first.
    """
    catalog: Any = open_catalog(env, data_root)
    chosen = {
        table: name
        for table, name in DATASETS.items()
        if table not in _FAILURES or catalog[name].exists()
    }
    tables = {table: catalog.load(name) for table, name in chosen.items()}
    facts = {
        "mode": catalog.load("params:graph_fusion")["mode"],
        "made_by": f"mathamr-kedro {importlib.metadata.version('mathamr-kedro')}",
        "licence": _LICENCE,
        **{k: catalog.load(n) for k, n in NOTES.items() if catalog[n].exists()},
        "fingerprints": {name: table.checksum for name, table in tables.items()},
    }
    accepted = _find_accepted(catalog, tables[PAIRS])
    files = [
        *_list_tables(PAIRS, tables[PAIRS], ".tsv", accepted=accepted),
        *(f for t in _FAILURES if t in tables for f in _list_tables(t, tables[t])),
        *(f for t in _GRAPHS for f in _list_graphs(t, tables[t])),
    ]
    make_folder(archive.parent)
    write_archive(archive, facts, files)
    pairs, posts, topics = (
        tables[t].counts.get("written", 0) for t in (PAIRS, "posts", "topics")
    )
    click.echo(
        f"Wrote {archive}: {posts:,} graphs of posts, {topics:,} of topics, {pairs:,} "
        f"pairs, {archive.stat().st_size:,} bytes"
    )
    click.echo(f"Licence: {_LICENCE}")


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
