"""Systems of other papers are asked for the topics of their tasks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import Topic
from mathamr_kedro.pipelines.evaluation.searches import search_by_systems

TOPICS = [
    Topic(name, "task1", 2020, "", (), "a prime", (), *[None] * 5)
    for name in ("A.1", "A.2")
]


def rank(topics, depth):
    ids = ["p", "A.1", "q", "A.2"][:depth]
    return [Hits(ids, np.arange(len(ids), 0, -1.0)) for _ in topics]


def refuse(topics, depth):
    raise AssertionError("asked without a topic")


def search(leave_out_query=True, indexed=("marf",)):
    """Ask for two topics, the first of which is a document as well."""
    table = pa.table({"post_id": ["p", "A.1", "q"]})
    opened = {2: {"marf/formulas": refuse}, 1: {"marf": rank, "marf/other": rank}}
    systems = {"m/1": SimpleNamespace(open=lambda sources: opened)}
    return search_by_systems(
        SimpleNamespace(records=lambda: TOPICS),
        SimpleNamespace(tables=lambda columns: [table]),
        {},
        SimpleNamespace(open=systems.__getitem__),
        "sources",
        {"marf": {"folder": "m/1"}},
        dict.fromkeys(indexed),
        {"leave_out_query": leave_out_query, "depth": 3},
    )


@pytest.mark.parametrize(
    ("leave_out_query", "found"),
    [(True, ["p", "q", "A.2"]), (False, ["p", "A.1", "q"])],
)
def test_a_topic_that_is_a_document_does_not_find_itself(leave_out_query, found):
    runs = search(leave_out_query)
    assert [(run.task, run.name) for run in runs] == [(1, "marf"), (1, "marf/other")]
    for run in runs:
        assert run.lists["A.1"].ids == found
        assert run.lists["A.2"].ids == ["p", "A.1", "q"]  # no document


def test_where_nothing_was_indexed_nothing_is_asked():
    assert search(indexed=()) == []
