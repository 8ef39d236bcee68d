"""``mathamr experiments dominance``: scores on topics whose formulas outweigh words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.formatting import format_score
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli._tables import print_table
from mathamr_kedro.evaluation.metrics import (
    Group,
    MathDominance,
    Protocol,
    evaluate_run,
)
from mathamr_kedro.project.catalog import LastRun
from mathamr_kedro.runs import TopicSet, list_topic_sets
from mathamr_kedro.text import measure_math_share
from mathamr_kedro.trec import Run, read_run

_MEASURES = ("nDCG'", "MAP'", "P'@10")
_TITLES = {"query": "Formulas in questions",
           "answer": "Formulas in relevant answers"}  # fmt: skip
_PUBLISHED: dict[str, dict[str, tuple[tuple[Any, ...], ...]]] = {
    "query": {
        "BERT": (("all", 0.4161, 0.1619, 0.2426), (">50 %", 0.4143, 0.1616, 0.2585),
                 (">60 %", 0.3816, 0.1526, 0.2418), (">70 %", 0.3316, 0.1461, 0.2562)),
        "MaRF": (("all", 0.4935, 0.1912, 0.2945), (">50 %", 0.5003, 0.2019, 0.3013),
                 (">60 %", 0.4921, 0.1896, 0.2922), (">70 %", 0.4894, 0.1942, 0.2938)),
    },
    "answer": {
        "BERT": (("all", 0.6032), (">50 %", 0.5772),
                 (">60 %", 0.5716), (">70 %", 0.5224)),
        "MaRF": (("all", 0.6807), (">50 %", 0.6754),
                 (">60 %", 0.6739), (">70 %", 0.6902)),
    },
}  # fmt: skip
"""Tables 3 and 4 of MaRF, over the whole collection (ARQMath-3)."""
_NEEDED = ("posts", "topics", "judgments", "visual_index")
_EXAMPLES = """\b
Examples:
  mathamr experiments dominance --env demo
  mathamr experiments dominance --env demo --systems bm25,mathamr_plus
  mathamr experiments dominance RUN --env demo --above 0.3,0.5
"""


@click.command("dominance", epilog=_EXAMPLES)
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--systems", default="", metavar="A,B", help="Some of the evaluation's systems."
)
@click.option(
    "--above", default="0.5,0.6,0.7", show_default=True, metavar="SHARES",
    help="Shares of formulas among all tokens that a text must exceed.",
)  # fmt: skip
@click.option(
    "--output", type=click.Choice(["table", "json"]), default="table",
    show_default=True, help="Form of the result.",
)  # fmt: skip
@in_environment
def command(
    runs: tuple[Path, ...], systems: str, above: str, output: str, **where: Any
) -> None:
    """Break scores down by how much of a question or an answer is formulas.

    Two tables for each topic set of Task 1, with the systems of the last evaluation and
    those of the files RUNS: scores over the questions with a large share of formulas,
    and recall of the relevant answers with one.
    """
    # It loads torch, which the help need not wait for.
    from mathamr_kedro.pipelines.evaluation import (  # noqa: PLC0415
        EvaluationConfig,
    )

    catalog: Any = LastRun(**where).open(*_NEEDED)
    thresholds = tuple(_read_share(part) for part in above.split(",") if part.strip())
    chosen = {name.strip() for name in systems.split(",") if name.strip()}
    config = EvaluationConfig.read(catalog.load("params:evaluation"))
    protocol = config.choose_protocol(1).with_measures(_MEASURES)
    sets = [s for s in _list_sets(catalog) if s.qrels.grades]
    if not sets:
        raise MissingInputError(
            "Expected judged topics of Task 1 in this environment (got none)"
        )
    shares = _measure_posts(catalog, sets)
    found: dict[str, dict[str, list[Group]]] = {}
    for topics in sets:
        asked = {
            t.topic_id: measure_math_share(t.text, t.formula_map) for t in topics.topics
        }
        dominance = MathDominance(asked, shares, thresholds)
        found[topics.name] = {
            run.name: _break_down(run, topics, dominance, protocol)
            for run in _list_runs(catalog, topics, chosen, runs)
        }
    if not any(found.values()):
        raise MissingInputError(
            "Expected runs of Task 1 (got none); run the stage 'evaluation', or name "
            "run files"
        )
    if output == "json":
        click.echo(json.dumps(_as_plain(found), indent=2, ensure_ascii=False))
        return
    for name, by_system in found.items():
        for kind, title in _TITLES.items():
            _show(f"{title} ({name})", kind, by_system)


def _break_down(
    run: Run, topics: TopicSet, dominance: MathDominance, protocol: Protocol
) -> list[Group]:
    lists = {t: h for t, h in run.lists.items() if t in topics.qrels.grades}
    judged = replace(run, lists=lists)
    evaluation = evaluate_run(judged, topics.qrels, protocol)
    recall = dominance.by_document(judged, topics.qrels, protocol)
    return [*dominance.by_query(evaluation), *recall]


def _list_sets(catalog: Any) -> list[TopicSet]:
    patterns = catalog.load("params:evaluation").get("topic_sets") or {}
    topics, judgments = (catalog.load(name) for name in ("topics", "judgments"))
    index = catalog.load("visual_index")
    found = list_topic_sets(topics.records(), judgments.records(), patterns, index)
    return [s for s in found if s.task == 1]


def _measure_posts(catalog: Any, sets: list[TopicSet]) -> dict[str, float]:
    """Return the share of formulas of every judged post."""
    judged = {d for s in sets for by_id in s.qrels.grades.values() for d in by_id}
    posts = catalog.load("posts").select("post_id", judged)
    return {p.post_id: measure_math_share(p.text, p.formula_map) for p in posts}


def _list_runs(
    catalog: Any, topics: TopicSet, systems: set[str], files: tuple[Path, ...]
) -> Iterator[Run]:
    if catalog["runs"].exists():
        folder = catalog.load("runs")
        for entry in folder.entries:
            is_asked = not systems or entry.system in systems
            if (entry.task, entry.topic_set) == (1, topics.name) and is_asked:
                yield folder.read(entry)
    for file in files:
        run = read_run(file)
        if run.lists.keys() & topics.qrels.grades.keys():
            yield run


def _read_share(text: str) -> float:
    try:
        return float(text)
    except ValueError as exc:
        raise click.BadParameter(
            f"expected numbers such as 0.5,0.7 (got {text!r})", param_hint="--above"
        ) from exc


def _as_plain(found: dict[str, dict[str, list[Group]]]) -> dict[str, Any]:
    return {
        topic_set: {
            system: [
                {"share_of": g.dimension, "above": g.value, "topics": g.num_topics,
                 "scores": {n: s.score for n, s in g.summaries.items()}}
                for g in groups
            ]
            for system, groups in by_system.items()
        }
        for topic_set, by_system in found.items()
    }  # fmt: skip


def _show(title: str, kind: str, by_system: dict[str, list[Group]]) -> None:
    shown = {s: [g for g in gs if g.dimension == kind] for s, gs in by_system.items()}
    names = next((list(g.summaries) for gs in shown.values() for g in gs), [])
    rows: list[Sequence[str] | None] = []
    for system, groups in shown.items():
        for place, group in enumerate(groups):
            scores = [format_score(s.score) for s in group.summaries.values()]
            cells = scores if group.num_topics else ["-"] * len(scores)
            label = "" if place else system
            rows.append((label, group.value, str(group.num_topics), *cells))
        rows.append(None)
    for system, lines in _PUBLISHED[kind].items():
        for place, (share, *values) in enumerate(lines):
            label = "" if place else f"{system} (published, whole collection)"
            rows.append((label, share, "", *map(format_score, values)))
    print_table(("system", "share", "topics", *names), rows, title, labels=2)
