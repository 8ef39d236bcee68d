"""A topic and a post, node by node, under each condition (Figure 4.1 of the thesis)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import PostId
from mathamr_kedro.experiments.examples import ExampleTexts, NodePair
from mathamr_kedro.experiments.grid import SYSTEM
from mathamr_kedro.experiments.results import ShownRun, strategy_of
from mathamr_kedro.search import Explanation, explain
from mathamr_kedro.search.explanation import caption_nodes
from mathamr_kedro.vectors import VectorStore

logger = logging.getLogger(__name__)


ReadVectors: TypeAlias = Callable[[str], tuple[VectorStore, VectorStore]]
"""By the checksum of an encoder: vectors of topics and of posts."""


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
    for name, labels in (
        (f"Topic {found.topic}", first.query_labels),
        (f"Post {found.post}", first.post_labels),
    ):
        parts.append("\n".join([f"{name}:", "", *(f"- {label}" for label in labels)]))
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
        caption_nodes(topic.text, topic.formula_map, query.kinds),
        caption_nodes(post.text, post.formula_map, entry.kinds)
        if post is not None
        else None,
    )
