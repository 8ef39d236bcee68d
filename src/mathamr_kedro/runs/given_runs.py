"""Given run files as systems, and formulas named as NTCIR-12 judges them.

::

    our systems     one formula of each visual id       Prime_zeta_function:28
    NTCIR-12        every formula of every article      Prime_zeta_function:28
                                                        Prime_number:3   (the same)

Topics of NTCIR-12 are judged by formulas, not by visual ids: equal-looking formulas are
listed once for each occurrence, with one score. Given files are in TREC's or ARQMath's
format; they may contain formulas that this collection lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import FormulaId, PostId, TopicId, VisualId
from mathamr_kedro.evaluation.metrics import sort_as_trec_eval
from mathamr_kedro.runs.topic_sets import NTCIR12, TASK_OF, ReadTables
from mathamr_kedro.trec import Run, read_run

_NO_POST = "-"
"""Post of a formula that the collection does not have."""


class FormulaNames:
    """Formulas of a collection by visual id."""

    def __init__(
        self, read_tables: ReadTables, visual_ids: Collection[VisualId]
    ) -> None:
        self._of: dict[VisualId, list[tuple[FormulaId, PostId]]] = {}
        wanted = pa.array(sorted(visual_ids), pa.string())
        for table in read_tables(["visual_id", "formula_id", "post_id"]):
            kept = table.filter(pc.is_in(table["visual_id"], value_set=wanted))
            for row in kept.to_pylist():
                found = self._of.setdefault(row["visual_id"], [])
                found.append((row["formula_id"], row["post_id"]))
        for found in self._of.values():
            found.sort(key=lambda names: (len(names[0]), names[0]))

    def expand(self, hits: FormulaHits, depth: int) -> FormulaHits:
        """Return all formulas with the visual ids of a list, as formulas are judged."""
        named = [
            (formula, score, post)
            for visual, score in zip(hits.visual_ids, hits.scores, strict=True)
            for formula, post in self._of.get(visual, ())
        ][:depth]
        ids = [formula for formula, _, _ in named]
        scores = np.array([score for _, score, _ in named])
        return FormulaHits(ids, scores, ids, [post for _, _, post in named])

    def name(self, hits: Hits) -> FormulaHits:
        """Return a formula for each visual id; an unknown one has no post."""
        first = [self._of.get(v, [(v, _NO_POST)])[0] for v in hits.ids]
        formulas, posts = [f for f, _ in first], [p for _, p in first]
        return FormulaHits(formulas, hits.scores, hits.ids, posts)


def name_judged_formulas(
    runs: Iterable[Run], topics: Iterable[Topic], read_tables: ReadTables, depth: int
) -> list[Run]:
    """Return runs whose lists for topics of NTCIR-12 name all formulas."""
    asked = {t.topic_id for t in topics if t.task == NTCIR12}
    given = list(runs)
    lists = {
        (run.name, topic): hits
        for run in given
        for topic, hits in run.lists.items()
        if topic in asked and isinstance(hits, FormulaHits)
    }
    names = _read_names(read_tables, (hits.visual_ids for hits in lists.values()))
    renamed = {place: names.expand(hits, depth) for place, hits in lists.items()}
    return [_replace_lists(run, renamed) for run in given]


def _read_names(
    read_tables: ReadTables, lists: Iterable[Sequence[VisualId]]
) -> FormulaNames:
    visuals = {visual for ids in lists for visual in ids}
    return FormulaNames(read_tables if visuals else lambda columns: (), visuals)


def _replace_lists(run: Run, lists: Mapping[tuple[str, TopicId], FormulaHits]) -> Run:
    """Return a run with other lists for some topics."""
    named = {t: lists.get((run.name, t), hits) for t, hits in run.lists.items()}
    return replace(run, lists=named)


def read_given_runs(
    files: Mapping[str, str],
    topics: Sequence[Topic],
    visual_id_of: Callable[[FormulaId], VisualId | None],
    read_tables: ReadTables,
    depth: int,
) -> list[Run]:
    """Read run files; each becomes a system for its topics.

    Args:
        files: names of systems to files.
        topics: of all tasks.
        visual_id_of: turns formulas into visual ids, if a file of Task 2 names them.
        read_tables: yields the formulas that may be returned.
        depth: results of a topic.

    Raises:
        MissingInputError: a file is missing.
        ConfigurationError: it has none of the topics.
    """
    kinds = {topic.topic_id: topic.task for topic in topics}
    found: list[Run] = []
    for name, file in files.items():
        run = read_run(Path(file).expanduser(), bad_lines="as_trec_eval")
        known = [topic for topic in run.lists if kinds.get(topic) in TASK_OF]
        if not known:
            raise ConfigurationError(
                f"Expected topics of the collection in {file!r} (got "
                f"{', '.join(list(run.lists)[:3]) or 'none'}) "
                f"(evaluation.run_files.{name})"
            )
        for task in sorted({TASK_OF[kinds[topic]] for topic in known}):
            lists = {
                topic: _read_list(run, topic, kinds[topic], visual_id_of).top(depth)
                for topic in known
                if TASK_OF[kinds[topic]] == task
            }
            found.append(
                replace(
                    run, name=name, lists=lists, task=task, ranks={},
                    holds_instances=False,
                )
            )  # fmt: skip
    # As our own systems do, name a formula of each visual id.
    visuals = {
        (run.name, topic): hits
        for run in found
        for topic, hits in run.lists.items()
        if run.task == 2 and not isinstance(hits, FormulaHits)
    }
    names = _read_names(read_tables, (hits.ids for hits in visuals.values()))
    renamed = {place: names.name(hits) for place, hits in visuals.items()}
    return [_replace_lists(run, renamed) for run in found]


def _read_list(
    run: Run,
    topic: TopicId,
    kind: str,
    visual_id_of: Callable[[FormulaId], VisualId | None],
) -> Hits:
    """Return a list of judged ids in the order of trec_eval, without repeats."""
    hits = sort_as_trec_eval(run.documents(topic))
    ids = hits.ids
    if run.holds_instances:
        # An unknown formula keeps its place, under a name that is never judged.
        ids = [visual_id_of(i) or f"unknown-formula-{i}" for i in ids]
    first: dict[str, float] = {}
    for document, score in zip(ids, hits.scores.tolist(), strict=True):
        first.setdefault(document, score)
    names, scores = list(first), np.array(list(first.values()))
    if kind != NTCIR12:
        return Hits(names, scores)
    articles = [name.rpartition(":")[0] or _NO_POST for name in names]
    return FormulaHits(names, scores, names, articles)
