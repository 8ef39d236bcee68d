"""Examples beside the tables, as in the thesis' Appendices A to C.

::

    judged     a topic, and a judged document of each grade          Appendix A
    results    a topic, and the first results of each row or system  Appendices B, C
    pair       a topic and a post, node by node                      Figure 4.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.records import CleanText, FormulaMention, Post, Topic
from mathamr_kedro.base.types import PostId, TopicId, VisualId
from mathamr_kedro.experiments.cells import KEPT, read_results
from mathamr_kedro.experiments.grid import SYSTEM
from mathamr_kedro.experiments.results import ShownRun, choose_topic_set, strategy_of
from mathamr_kedro.runs import TopicSet
from mathamr_kedro.search import Explanation, explain
from mathamr_kedro.search.explanation import restore_formulas
from mathamr_kedro.vectors import VectorStore

logger = logging.getLogger(__name__)

_LONGEST = 2000
"""Letters of a post that are shown."""
_GRADES = {3: "high", 2: "medium", 1: "low", 0: "not relevant"}

ReadVectors: TypeAlias = Callable[[str], tuple[VectorStore, VectorStore]]
"""By the checksum of an encoder: vectors of topics and of posts."""


@dataclass(frozen=True)
class NodePair:
    """A topic and a post whose nodes are compared."""

    topic: TopicId = "A.301"
    post: PostId = "591846"


@dataclass(frozen=True)
class ExamplesConfig:
    """Which examples are shown; the thesis' ones by default."""

    judged: tuple[TopicId, ...] = ("A.302", "B.308")
    """Topics shown with a judged document of each grade (Appendix A)."""
    results: tuple[TopicId, ...] = ("A.301", "B.301")
    """Topics shown with the first results of each row (Appendices B and C)."""
    top: int = 3
    """Results of a topic."""
    only_judged: bool = False
    """Only results that were judged (Table 3 of Amador & Zanibbi)."""
    pair: NodePair = field(default_factory=NodePair)
    """Compared node by node (Figure 4.1)."""

    def __post_init__(self) -> None:
        if not 1 <= self.top <= KEPT:
            raise ConfigurationError(
                f"Expected 1 to {KEPT} results, as many as are recorded (got "
                f"{self.top!r}) (significance.examples.top)"
            )


@dataclass(frozen=True)
class ExampleTexts:
    """Topics with their judgments, and where texts are found."""

    topic_sets: Sequence[TopicSet]
    find_posts: Callable[[Collection[PostId]], Mapping[PostId, Post]]
    find_latex: Callable[[Collection[VisualId]], Mapping[VisualId, str]]

    def find_topic(self, wanted: TopicId) -> tuple[Topic, TopicSet] | None:
        """Return a topic with its set; or else a judged one of the same task.

        If the collection has other topics, the first one with a relevant document in
        the last edition replaces it; ``None``: nothing is judged.
        """
        for found in self.topic_sets:
            for topic in found.topics:
                if topic.topic_id == wanted:
                    return topic, found
        task = 2 if wanted.startswith("B") else 1
        own = [s for s in self.topic_sets if s.task == task]
        judged = {s.name: s for s in own if any(_list_judged(s))}
        if not judged:
            return None
        chosen = judged[choose_topic_set(list(judged), None)]
        return next(_list_judged(chosen)), chosen

    def describe(self, task: int, documents: Iterable[str]) -> dict[str, str]:
        """Return the words of posts, or the LaTeX of formulas, that exist."""
        keys = list(dict.fromkeys(documents))
        if task == 2:
            return {key: f"$${v.strip()}$$" for key, v in self.find_latex(keys).items()}
        posts = self.find_posts(keys)
        return {k: _quote(p.text, p.formula_map) for k, p in posts.items()}


def write_examples(
    title: str, shown: Sequence[ShownRun], texts: ExampleTexts, config: ExamplesConfig
) -> str:
    """Return the page of an experiment's examples, as Markdown."""
    parts = [f"# Examples: {title}"]
    if config.judged:
        parts += ["## Judged documents", _JUDGED_NOTE]
        for wanted in config.judged:
            parts += _show_example(wanted, texts, _show_judged)
    if config.results:
        parts += ["## First results", _RESULTS_NOTE]
        show = partial(_show_results, shown=shown, config=config)
        examples: dict[str, list[str]] = {}  # of several wanted ones that are replaced
        for wanted in config.results:
            head, *example = _show_example(wanted, texts, show)
            examples.setdefault(head, example)
        parts += [part for head, found in examples.items() for part in (head, *found)]
    return "\n\n".join(parts) + "\n"


_JUDGED_NOTE = (
    "Of each grade the judged document with the smallest id that the collection has, "
    "as in Appendix A of the thesis."
)
_RESULTS_NOTE = (
    "Of each row the run of its best seed, as in Appendices B and C of the thesis."
)


def _show_example(
    wanted: TopicId, texts: ExampleTexts, show: Callable[..., Iterator[str]]
) -> Iterator[str]:
    """Yield a topic, and what ``show(topic, its set, texts)`` has to say about it."""
    found = texts.find_topic(wanted)
    if found is None:
        yield f"### Topic {wanted}\n\nNo topic of its task has judgments."
        return
    topic, chosen = found
    yield from _show_topic(wanted, topic)
    yield from show(topic, chosen, texts)


def _show_judged(topic: Topic, chosen: TopicSet, texts: ExampleTexts) -> Iterator[str]:
    grades = chosen.qrels.grades.get(topic.topic_id, {})
    words = texts.describe(chosen.task, grades)
    for grade, meaning in _GRADES.items():
        having = [d for d, g in grades.items() if g == grade]
        known = sorted((d for d in having if d in words), key=lambda d: (len(d), d))
        head = f"**Relevance {grade} ({meaning})"
        if known:
            yield f"{head}, {_name(chosen.task, known[0])}**"
            yield words[known[0]]
        else:
            yield f"{head}**: none in the collection, {len(having)} judged."


def _show_results(
    topic: Topic,
    chosen: TopicSet,
    texts: ExampleTexts,
    shown: Sequence[ShownRun],
    config: ExamplesConfig,
) -> Iterator[str]:
    grades = chosen.qrels.grades.get(topic.topic_id, {})
    for run in shown:
        results = read_results(
            run.cell.results,
            run.system,
            topic.topic_id,
            config.top,
            grades if config.only_judged else None,
        )
        if not results:  # a strategy for posts has no formulas, and the reverse
            continue
        yield f"#### {run.label} (seed {run.cell.record.seed})"
        yield _list_scores(run, chosen, topic.topic_id)
        words = texts.describe(chosen.task, [r.document for r in results])
        for result in results:
            grade = grades.get(result.document)
            relevance = "not judged" if grade is None else f"relevance {grade}"
            yield (
                f"**Rank {result.rank}, {_name(chosen.task, result.document)}, "
                f"{relevance}, score {result.score:.3f}**"
            )
            yield words.get(result.document, "(not in the collection)")


def _show_topic(wanted: TopicId, topic: Topic) -> Iterator[str]:
    title = restore_formulas(topic.title, topic.formula_map)
    yield f"### Topic {topic.topic_id}: {' '.join(title.split())}".rstrip(": ")
    if wanted != topic.topic_id:
        yield f"{wanted} is not among the topics here; this one replaces it."
    yield _quote(topic.text.removeprefix(topic.title), topic.formula_map)
    if topic.formula_id is not None and topic.latex:
        yield f"Query formula `{topic.formula_id}`: ${topic.latex}$"
    if topic.tags:
        yield f"Tags: {', '.join(topic.tags)}"


def _list_scores(run: ShownRun, chosen: TopicSet, topic_id: TopicId) -> str:
    scored = run.cell.scores.to_pandas()
    own = scored[
        (scored["task"] == chosen.task)
        & (scored["topic_set"] == chosen.name)
        & (scored["system"] == run.system)
        & (scored["topic_id"] == topic_id)
    ]
    pairs = zip(own["measure"], own["score"], strict=True)
    found = ", ".join(f"{name} {score:.4f}" for name, score in pairs)
    return f"On this topic: {found or 'no judgments'}."


def _list_judged(chosen: TopicSet) -> Iterator[Topic]:
    """Yield topics with a relevant document, in their order."""
    for topic in chosen.topics:
        grades = chosen.qrels.grades.get(topic.topic_id, {})
        if any(grade > 1 for grade in grades.values()):
            yield topic


def _quote(text: str, formula_map: Sequence[FormulaMention]) -> str:
    words = " ".join(restore_formulas(text, formula_map).split())
    return "> " + (words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…")


def _name(task: int, document: str) -> str:
    return f"post {document}" if task == 1 else f"visual id {document}"


def compare_nodes(
    shown: Sequence[ShownRun],
    texts: ExampleTexts,
    wanted: NodePair,
    read: ReadVectors,
) -> dict[str, Explanation]:
    """Compare the nodes of a topic with those of a post under each condition.

    If the collection lacks the wanted topic or post, a judged topic and its most
    relevant post replace them.

    Returns:
        By label; empty if nothing is judged or no vectors are left.
    """
    found = texts.find_topic(wanted.topic)
    if found is None:
        return {}
    topic, chosen = found
    stores = {label: _open(label, run, read) for label, run in _list_cells(shown)}
    opened = {label: pair for label, pair in stores.items() if pair is not None}
    grades = chosen.qrels.grades.get(topic.topic_id, {})
    ranked = sorted(grades, key=lambda d: (-grades[d], len(d), d))
    asked = [wanted.post, *ranked] if topic.topic_id == wanted.topic else ranked
    for post in asked:
        if opened and all(post in posts.places for _, posts in opened.values()):
            break
    else:
        return {}
    return {
        label: _compare(topic, post, pair, texts)
        for label, pair in opened.items()
        if topic.topic_id in pair[0].places
    }


def write_pair(wanted: NodePair, explanations: Mapping[str, Explanation]) -> str:
    """Return the section of the page that goes with the figure, as Markdown."""
    parts = ["## Node by node"]
    if not explanations:
        parts.append("No judged topic and post with vectors to compare.")
        return "\n\n".join(parts) + "\n"
    first = next(iter(explanations.values()))
    found = NodePair(first.query_key, first.post_key)
    parts.append(
        f"Cosines between the nodes of topic {found.topic} (rows) and of post "
        f"{found.post} (columns), as in Figure 4.1 of the thesis; the best partner of "
        "each row is framed. A small spread: nodes that can hardly be told apart."
    )
    if found != wanted:
        parts.append(
            f"The collection lacks topic {wanted.topic} or post {wanted.post}; these "
            "replace them."
        )
    parts.append("![Similarities of nodes](node_pair.png)")
    rows = [
        f"| {label} | {e.score:.3f} | {e.similarity.mean():.3f} "
        f"| {e.similarity.std():.3f} |"
        for label, e in explanations.items()
    ]
    head = ["| Condition | MaxSim | Mean cosine | Spread |", "|---|---:|---:|---:|"]
    parts.append("\n".join(head + rows))
    for name, nodes in (
        (f"Topic {found.topic}", first.query_nodes),
        (f"Post {found.post}", first.post_nodes),
    ):
        parts.append("\n".join([f"{name}:", "", *(f"- {node}" for node in nodes)]))
    return "\n\n".join(parts) + "\n"


def _list_cells(shown: Sequence[ShownRun]) -> list[tuple[str, ShownRun]]:
    """Return a run of each encoder: strategies and baselines have no vectors of own."""
    own = [run for run in shown if strategy_of(run.system) is not None]
    found: dict[str, list[ShownRun]] = {}
    for run in own:
        found.setdefault(run.cell.folder.name, []).append(run)
    return [
        (runs[0].label if len(runs) == 1 else SYSTEM, runs[0])
        for runs in found.values()
    ]


def _open(
    label: str, run: ShownRun, read: ReadVectors
) -> tuple[VectorStore, VectorStore] | None:
    mark = run.cell.record.encoder.get("vectors")
    try:
        return read(str(mark)) if mark else None
    except MissingInputError as problem:
        logger.warning("no picture of %s: %s", label, problem)
        return None


def _compare(
    topic: Topic,
    post_id: PostId,
    stores: tuple[VectorStore, VectorStore],
    texts: ExampleTexts,
) -> Explanation:
    (query,) = stores[0].read([topic.topic_id]).entries()
    (entry,) = stores[1].read([post_id]).entries()
    post = texts.find_posts([post_id]).get(post_id)
    return explain(
        query,
        entry,
        CleanText(topic.text, topic.formula_map),
        CleanText(post.text, post.formula_map) if post is not None else None,
    )
