"""Counts of failures, with their places; cells of the report."""

from __future__ import annotations

import pyarrow as pa
import pytest

from mathamr_kedro.corpus.report import (
    count_failures,
    describe_formulas,
    describe_judgments,
    describe_posts,
)


def table(*rows):
    names = ("source", "place", "record_id", "reason", "detail", "kept")
    return pa.table(
        {n: list(c) for n, c in zip(names, zip(*rows, strict=True), strict=True)}
    )


def test_places_name_the_file_the_line_and_the_record_once():
    found = count_failures(
        [
            table(
                ("Posts.xml", "line 2", "17", "bad", "no body", False),
                ("Posts.xml", "17", "17", "bad", "no body", False),
                ("Posts.xml", "", "", "bad", "no id", False),
            )
        ]
    )
    assert found["bad"]["places"] == [
        "Posts.xml, line 2, 17: no body",
        "Posts.xml, 17: no body",
        "Posts.xml: no id",
    ]


def test_dropped_records_are_named_before_those_that_went_on():
    rows = [("a", str(n), "", "odd", "x", n % 2 == 0) for n in range(30)]
    found = count_failures([table(*rows[:3]), table(*rows[3:])])
    assert (found["odd"]["kept"], found["odd"]["left_out"]) == (15, 15)
    named = [*range(1, 30, 2), 0, 2, 4, 6, 8]
    assert found["odd"]["places"] == [f"a, {n}: x" for n in named]


def test_posts_are_counted_by_type_with_the_spread_of_their_formulas():
    tables = [
        pa.table({"post_type": [kind], "formula_map": [["x"] * number]})
        for kind, number in (("question", 2), ("answer", 0), ("answer", 31))
    ]
    found = describe_posts(tables)
    assert found["posts"] == {"total": 3, "answer": 2, "question": 1}
    assert found["formulas_in_texts"] == 33
    spread = {"mean": 15.5, "median": 15.5, "p90": pytest.approx(27.9), "max": 31}
    assert found["formulas_per_post"]["answer"] == spread
    assert found["formulas_per_post"]["all"]["mean"] == 11.0
    counts = found["formula_histogram"]
    assert {number: n for number, n in counts.items() if n} == {
        "0": 1,
        "2": 1,
        "30+": 1,
    }
    assert [*counts] == [*map(str, range(30)), "30+"]


def test_a_collection_without_posts_counts_none():
    found = describe_posts([])
    nothing = {"mean": 0.0, "median": 0.0, "p90": 0.0, "max": 0}
    assert found["posts"] == {"total": 0} and found["formulas_in_texts"] == 0
    assert found["formulas_per_post"] == {"all": nothing}
    assert set(found["formula_histogram"].values()) == {0}


def test_formulas_are_counted_with_what_is_known_of_each():
    columns = ("visual_id", "latex", "presentation", "content")
    rows = [("1", "x", " ", ""), ("2", "y", "<a/>", ""), ("1", "", "<b/>", "<c/>")]
    tables = [pa.table({n: [v] for n, v in zip(columns, r, strict=True)}) for r in rows]
    assert describe_formulas(tables, [pa.table({"visual_id": ["2", "2"]})]) == {
        "rows": 3,
        "with_latex": 2,
        "with_presentation": 2,
        "with_content": 1,
        "returnable": 2,
        "visual_ids": 2,
        "returnable_visual_ids": 1,
    }


def test_judgments_are_counted_by_file():
    columns = ("source", "task", "topic_id", "doc_id", "grade")
    rows = [
        ("a.tsv", "task1", "A.1", "7", 3),
        ("a.tsv", "task1", "A.1", "8", 0),
        ("a.tsv", "task1", "A.2", "7", 0),
        ("b.tsv", "task2", "B.1", "9", 1),
    ]
    values = zip(*rows, strict=True)
    table = {n: list(v) for n, v in zip(columns, values, strict=True)}
    found = describe_judgments(pa.table(table))
    assert found["a.tsv"] == {
        "task": "task1", "judgments": 3, "topics": 2, "documents": 2,
        "grades": {"0": 2, "3": 1},
    }  # fmt: skip
    assert (found["b.tsv"]["task"], found["b.tsv"]["judgments"]) == ("task2", 1)
