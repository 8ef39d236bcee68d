"""Counts of failures, with their places; cells of the report."""

from __future__ import annotations

import pyarrow as pa
import pytest

from mathamr_kedro.corpus.report import _code
from mathamr_kedro.corpus.statistics import count_failures


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
    rows = [("a", str(n), "", "odd", "x", n % 2 == 0) for n in range(6)]
    found = count_failures([table(*rows[:3]), table(*rows[3:])], max_examples=4)
    assert (found["odd"]["kept"], found["odd"]["left_out"]) == (3, 3)
    assert found["odd"]["places"] == ["a, 1: x", "a, 3: x", "a, 5: x", "a, 0: x"]


@pytest.mark.parametrize("length", [1, 10, 10_000])
def test_code_is_cut_to_one_width_and_marked(length):
    longest = max(len(_code("x" * n)) for n in range(1, 400))
    shown = _code("x" * length)
    assert len(shown) == min(length + 2, longest)
    assert shown.endswith("…`") == (length > longest - 2)
