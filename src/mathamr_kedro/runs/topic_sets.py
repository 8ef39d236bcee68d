"""Topic sets: topics with their judgments, the units over which means are taken.

::

    topics      A.1 ... A.100   A.201 ... A.300   NTCIR12-MathWiki-1   A.9001
    topic set   ARQMath-1       ARQMath-2         NTCIR-12             own
    part        ARQMath-1/questions_above_50: those that are mostly formulas
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.records import Judgment, Post, Topic
from mathamr_kedro.base.types import FormulaId, Grade, TopicId, VisualId
from mathamr_kedro.corpus import EDITIONS, year_of_topic
from mathamr_kedro.systems.base import TASK_1_TYPES
from mathamr_kedro.text import measure_math_share
from mathamr_kedro.trec import Qrels, Run, TopicNotes

OWN = "own"
"""Name of the set of topics that are not the lab's."""

TASKS = {1: "task1", 2: "task2"}

NTCIR12 = "ntcir12"
"""Task of topics of NTCIR-12: formulas as in Task 2, judged by formula."""

TASK_OF = {"task1": 1, "task2": 2, NTCIR12: 2}
"""Our task for each kind of topic."""

_NTCIR12_TITLE, _NTCIR12_TOPIC = "NTCIR-12", "NTCIR12-"

Grades = dict[TopicId, dict[str, Grade]]
Patterns = Mapping[str, Sequence[str]]
"""Name of a topic set to patterns of topic ids, e.g. ``{"odd": ["B.*[13579]"]}``."""

ReadTables = Callable[[Sequence[str]], Iterable[pa.Table]]
"""Yields tables with the columns that are asked for."""


@dataclass(frozen=True)
class TopicSet:
    """Topics of one task that are scored together."""

    task: int
    name: str
    topics: tuple[Topic, ...]
    qrels: Qrels
    """Empty if nothing is judged: there are runs then, but no scores."""

    @property
    def notes(self) -> TopicNotes:
        """The organisers' notes about the topics."""
        return {
            t.topic_id: {
                "category": t.category or "",
                "difficulty": t.difficulty or "",
                "dependency": t.dependency or "",
            }
            for t in self.topics
        }

    def choose(self, run: Run) -> Run:
        """Return the part of a run that is about these topics."""
        chosen = {
            t.topic_id: run.lists[t.topic_id]
            for t in self.topics
            if t.topic_id in run.lists
        }
        return replace(
            run, lists=chosen, topic_set=self.name, seconds=0.0, query_seconds={}
        )

    def split_by_formulas(
        self, shares: Iterable[float], documents: Iterable[Post], relevant_from: int
    ) -> list[TopicSet]:
        """Return the parts with so large a share of formulas (MaRF, Tables 3 and 4).

        ::

            questions_above_50    topics more than half of whose tokens are formulas
            answers_above_50      topics with a relevant document of that kind; only
                                  documents of that kind are judged

        Args:
            shares: that must be exceeded.
            documents: those that are judged.
            relevant_from: the lowest grade of a relevant document.
        """
        asked = {
            t.topic_id: measure_math_share(t.text, t.formula_map) for t in self.topics
        }
        found = {
            p.post_id: measure_math_share(p.text, p.formula_map) for p in documents
        }
        grades = self.qrels.grades
        parts = []
        for share in shares:
            questions = {t: g for t, g in grades.items() if asked.get(t, 0) > share}
            answers = {
                t: {d: g for d, g in by_id.items() if found.get(d, 0) > share}
                for t, by_id in grades.items()
            }
            answers = {
                t: by_id
                for t, by_id in answers.items()
                if max(by_id.values(), default=0) >= relevant_from
            }
            for kind, kept in (("questions", questions), ("answers", answers)):
                name = f"{self.name}/{kind}_above_{100 * share:g}"
                topics = tuple(t for t in self.topics if t.topic_id in kept)
                parts.append(TopicSet(self.task, name, topics, Qrels(kept)))
        return [part for part in parts if part.qrels.grades]

    def find_candidates(
        self, read_posts: ReadTables, read_formulas: ReadTables
    ) -> tuple[frozenset[str], int]:
        """Return the judged documents that could be returned, and how many could."""
        judged = pa.array(sorted({i for g in self.qrels.grades.values() for i in g}))
        found: set[str] = set()
        if self.task == 1:
            number, types = 0, pa.array(TASK_1_TYPES)
            for table in read_posts(["post_id", "post_type"]):
                asked = table.filter(pc.is_in(table["post_type"], value_set=types))
                number += asked.num_rows
                kept = pc.is_in(asked["post_id"], value_set=judged)
                found.update(asked["post_id"].filter(kept).to_pylist())
            return frozenset(found), number
        visuals: set[str] = set()
        by_formula = any(topic.task == NTCIR12 for topic in self.topics)
        column = "formula_id" if by_formula else "visual_id"
        for table in read_formulas([column]):
            visuals.update(table[column].unique().to_pylist())
        return frozenset(visuals.intersection(judged.to_pylist())), len(visuals)


def list_topic_sets(
    topics: Iterable[Topic],
    judgments: Iterable[Judgment],
    patterns: Patterns | str,
    visual_id_of: Callable[[FormulaId], VisualId | None],
) -> list[TopicSet]:
    """Group topics and judgments.

    A judged topic that is not among the topics counts as long as its set has others:
    no system can answer it.

    Args:
        topics: of all tasks.
        judgments: of all tasks.
        patterns: topic sets by pattern, or one name for all topics; by edition if
            it is empty.
        visual_id_of: turns judged formulas into visual ids.

    Raises:
        MalformedInputError: two files judge a document differently.
        ConfigurationError: no topic belongs to a set that is asked for.
    """
    if isinstance(patterns, str):
        patterns = {patterns: ("*",)}
    by_task: dict[int, list[Topic]] = {task: [] for task in TASKS}
    for topic in topics:
        if topic.task in TASK_OF:
            by_task[TASK_OF[topic.task]].append(topic)
    grades = _read_grades(judgments, visual_id_of)
    sets = [
        TopicSet(task, name, members, Qrels(_choose(grades[task], name, patterns)))
        for task in TASKS
        for name, members in _group(by_task[task], patterns).items()
    ]
    for name in patterns:
        if not any(found.name == name for found in sets):
            raise ConfigurationError(
                f"No topic belongs to the topic set {name!r}, patterns "
                f"{list(patterns[name])!r} (evaluation.topic_sets)"
            )
    return sets


def _names_of(topic_id: TopicId, patterns: Patterns) -> list[str]:
    if not patterns and topic_id.startswith(_NTCIR12_TOPIC):
        return [_NTCIR12_TITLE]
    if not patterns:
        return [EDITIONS.get(year_of_topic(topic_id), OWN)]
    return [
        name
        for name, wanted in patterns.items()
        if any(fnmatchcase(topic_id, pattern) for pattern in wanted)
    ]


def _group(topics: Sequence[Topic], patterns: Patterns) -> dict[str, tuple[Topic, ...]]:
    groups: dict[str, list[Topic]] = {}
    for topic in topics:
        for name in _names_of(topic.topic_id, patterns):
            groups.setdefault(name, []).append(topic)
    return {name: tuple(members) for name, members in sorted(groups.items())}


def _choose(grades: Grades, name: str, patterns: Patterns) -> Grades:
    return {t: by_id for t, by_id in grades.items() if name in _names_of(t, patterns)}


def _read_grades(
    judgments: Iterable[Judgment],
    visual_id_of: Callable[[FormulaId], VisualId | None],
) -> dict[int, Grades]:
    found: dict[str, Grades] = {}
    sources: dict[tuple[str, TopicId, str], str] = {}
    for judgment in judgments:
        topic, document = judgment.topic_id, judgment.doc_id
        by_id = found.setdefault(judgment.task, {}).setdefault(topic, {})
        grade = by_id.setdefault(document, judgment.grade)
        source = sources.setdefault((judgment.task, topic, document), judgment.source)
        if grade != judgment.grade:
            raise MalformedInputError(
                f"Two grades for document {document!r} of topic {topic!r}: {grade} in "
                f"{source!r}, {judgment.grade} in {judgment.source!r}; list one of the "
                "files in 'qrels' of conf/<env>/catalog.yml"
            )
    instances = found.get("task2_formulas", {})
    visuals = {
        formula: visual
        for by_id in instances.values()
        for formula in by_id
        if (visual := visual_id_of(formula)) is not None
    }
    # Judgments of visual ids are the official ones; those of formulas fill the gaps.
    by_formula = Qrels(instances).judge_visual_ids(visuals)[0].grades
    of_formulas = {t: dict(g) for t, g in by_formula.items()}
    return {
        1: found.get("task1", {}),
        2: of_formulas | found.get("task2", {}) | found.get(NTCIR12, {}),
    }
