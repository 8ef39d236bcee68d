"""Queries that cannot be searched, and why; queries that would find themselves.

A formula without a tree has a vector all the same, one that is near to every blank
formula. Such a query is not searched: it counts as 0, and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TypeVar

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.base.types import PostId, TopicId
from mathamr_kedro.runs.topic_search import Search
from mathamr_kedro.runs.topic_sets import TASK_OF
from mathamr_kedro.systems.protocol import TreeLookup
from mathamr_kedro.systems.queries import find_query_formula
from mathamr_kedro.trec import Run

Q = TypeVar("Q")

_NO_VECTORS = "has no vectors: see what was left out of its graph in the report of AMR"


def find_blank_queries(
    topics: Iterable[Topic], trees_of: TreeLookup
) -> dict[TopicId, str]:
    """Return the topics of Task 2 whose formula shows nothing, with the reason.

    Args:
        topics: of all tasks.
        trees_of: finds the trees of a formula in the formula files, or else reads its
            LaTeX.
    """
    problems: dict[TopicId, str] = {}
    for topic in topics:
        if TASK_OF.get(topic.task) != 2:
            continue
        query = find_query_formula(topic)
        trees = trees_of(query)
        if trees is None or trees.is_blank:
            problems[topic.topic_id] = (
                f"formula {query.formula_id!r} has no tree: neither the formula files "
                f"nor its LaTeX ({query.latex!r}) show a symbol"
            )
    return problems


def list_unsearched(
    runs: Sequence[Run], topics: Sequence[Topic], blank: dict[TopicId, str]
) -> list[tuple[TopicId, str, str]]:
    """Return topics that systems did not search: topic, systems, reason."""
    found = []
    for topic in topics:
        systems = [r for r in runs if r.task == TASK_OF.get(topic.task)]
        missing = [r.name for r in systems if topic.topic_id not in r.lists]
        if missing or topic.topic_id in blank:
            who = "all systems" if len(missing) == len(systems) else ", ".join(missing)
            found.append((topic.topic_id, who, _explain(topic, blank)))
    return found


def _explain(topic: Topic, blank: dict[TopicId, str]) -> str:
    if topic.topic_id in blank:
        return blank[topic.topic_id]
    formula_id = topic.formula_id
    if formula_id and formula_id not in {m.formula_id for m in topic.formula_map}:
        return f"formula {formula_id!r} does not stand in its question"
    return _NO_VECTORS


def leave_out_queries(
    search: Search[Q], name_of: Callable[[Q], str], documents: Container[PostId]
) -> Search[Q]:
    """Return a search in which no query finds itself.

    Args:
        search: what is asked, for one more result where a query may be the first.
        name_of: id of a query.
        documents: ids of queries that are documents too.
    """

    def search_others(queries: Sequence[Q], depth: int) -> list[Hits | FormulaHits]:
        names = [name_of(query) for query in queries]
        deeper = depth + any(name in documents for name in names)
        found = []
        for name, hits in zip(names, search(queries, deeper), strict=True):
            if name in documents:
                others = [place for place, i in enumerate(hits.ids) if i != name]
                found.append(hits.take(others).top(depth))
            else:
                found.append(hits.top(depth))
        return found

    return search_others
