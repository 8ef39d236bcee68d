"""``mathamr export beir``: a collection in the format of BEIR."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.project.catalog import LastRun
from mathamr_kedro.runs import (
    TASKS,
    BenchmarkFolder,
    TopicSet,
    list_topic_sets,
)
from mathamr_kedro.systems.base import TASK_1_TYPES
from mathamr_kedro.trec import Run

_SHARES = {"train": 70, "dev": 85, "test": 100}
"""Splits of queries made from links, each with the end of its share in per cent."""
_NEEDED = ("posts", "topics", "judgments", "training_pairs", "visual_index")


@click.command(name="beir")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder to write to; files of an earlier export are replaced.",
)  # fmt: skip
@click.option(
    "--task", type=click.IntRange(1, 2), default=1, show_default=True,
    help="1: posts for questions; 2: formulas, by visual id.",
)  # fmt: skip
@click.option("--split", default="test", show_default=True, help="Name of the qrels.")
@click.option(
    "--topic-set", metavar="NAME", multiple=True,
    help="Topics to write, e.g. ARQMath-1; may be repeated (default: all).",
)  # fmt: skip
@click.option(
    "--links", is_flag=True,
    help="Make a benchmark of statements: which ones does a proof cite?",
)  # fmt: skip
@in_environment
def command(
    output: Path,
    task: int,
    split: str,
    topic_set: tuple[str, ...],
    links: bool,
    **where: Any,
) -> None:
    r"""Write corpus, queries, qrels and runs in the format of BEIR and MTEB.

    Documents are what a search may return. Training pairs become qrels/train.tsv, and
    runs of the last evaluation are written for trec_eval and as JSON.

    With --links, queries are statements of own files, and the statements that their
    proofs cite are relevant: 70 % of the queries in qrels/train.tsv, 15 % each in
    dev.tsv and test.tsv, by a checksum of their ids.
    """
    catalog: Any = LastRun(**where).open(*_NEEDED)
    if links:
        _export_links(catalog, BenchmarkFolder(output))
        return
    sets = _choose_sets(catalog, task, topic_set)
    folder = BenchmarkFolder(output)
    posts, pairs = catalog.load("posts"), catalog.load("training_pairs")
    if task == 1:
        found = (p for p in posts.records() if p.post_type in TASK_1_TYPES)
        documents = folder.write_corpus(report_progress(found, "documents written"))
        taught = list(pairs.records())
    else:
        rows = catalog.load("returnable_formulas").records()
        latex = {row.visual_id: row.latex for row in rows}
        documents, taught = folder.write_formulas(latex), []
    topics: list[Topic] = [topic for s in sets for topic in s.topics]
    questions = {pair.question_id for pair in taught}
    asked = (p for p in posts.records() if p.post_id in questions) if taught else ()
    queries = folder.write_queries(topics, asked)
    grades = {t: by_id for s in sets for t, by_id in s.qrels.grades.items()}
    lines = folder.write_qrels(split, grades) if grades else 0
    if taught:
        folder.write_pairs("train", taught)
    runs = _join_runs(catalog, task, sets)
    for run in runs:
        folder.write_run(run)
    click.echo(
        f"Wrote {output}: {count_nouns(documents, 'document')}, {queries:,} queries, "
        f"{count_nouns(lines, 'judgment')}, {count_nouns(len(taught), 'training pair')}"
        f", {count_nouns(len(runs), 'run')}"
    )
    if folder.unfaithful:
        names = ", ".join(folder.unfaithful[:3])
        click.echo(
            f"warning: {count_nouns(len(folder.unfaithful), 'text')} would not be read "
            f"as they are ({names})", err=True,
        )  # fmt: skip


def _export_links(catalog: Any, folder: BenchmarkFolder) -> None:
    """Write statements, those whose proofs cite others as queries, and citations."""
    cited: dict[str, dict[str, int]] = {}
    for link in catalog.load("statement_links").records():
        cited.setdefault(link.post_id, {})[link.premise_id] = 1
    if not cited:
        raise MissingInputError(
            "No proof cites a statement in this collection; read LaTeX files by "
            "`kedro run --env own --params raw_root=FOLDER,unit=statement`"
        )
    posts = catalog.load("posts")
    found = report_progress(posts.records(), "documents written")
    documents = folder.write_corpus(found)
    asked = (post for post in posts.records() if post.post_id in cited)
    queries = folder.write_queries((), asked)
    by_split: dict[str, dict[TopicId, dict[str, int]]] = {s: {} for s in _SHARES}
    for name, grades in cited.items():
        by_split[_choose_split(name)][name] = grades
    lines = {name: folder.write_qrels(name, found) for name, found in by_split.items()}
    told = ", ".join(f"{count:,} links in {name}.tsv" for name, count in lines.items())
    click.echo(
        f"Wrote {folder.folder}: {count_nouns(documents, 'document')}, {queries:,} "
        f"queries, {told}"
    )


def _choose_split(name: str) -> str:
    """Return the split of a query, which depends on nothing but its id."""
    place = int(sha256(name.encode()).hexdigest()[:8], 16) % 100
    return next(split for split, end in _SHARES.items() if place < end)


def _choose_sets(catalog: Any, task: int, names: tuple[str, ...]) -> list[TopicSet]:
    patterns = catalog.load("params:evaluation").get("topic_sets") or {}
    topics, judgments = (catalog.load(name) for name in ("topics", "judgments"))
    index = catalog.load("visual_index")
    found = list_topic_sets(topics.records(), judgments.records(), patterns, index)
    found = [s for s in found if s.task == task]
    known = {s.name for s in found}
    if unknown := set(names) - known:
        raise ConfigurationError(
            f"No topic set {min(unknown)!r} in {TASKS[task]}; there are "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    return [s for s in found if not names or s.name in names]


def _join_runs(catalog: Any, task: int, sets: list[TopicSet]) -> list[Run]:
    """Return the runs of the last evaluation, those of all topic sets together."""
    if not catalog["runs"].exists():
        return []
    chosen, folder = {s.name for s in sets}, catalog.load("runs")
    lists: dict[str, dict[TopicId, Hits]] = {}
    for entry in folder.entries:
        if entry.task == task and entry.topic_set in chosen:
            lists.setdefault(entry.system, {}).update(folder.read(entry).lists)
    return [Run(name.replace("/", "-"), lists[name], task=task) for name in lists]
