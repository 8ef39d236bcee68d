"""Typed queries from the posts of a data root."""

from __future__ import annotations

import pandas
import pytest

from tools.equality.queries import choose_queries


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "02_intermediate" / "posts"
    folder.mkdir(parents=True)
    mention = {"placeholder": "FORMULA_0", "latex": "x^2"}
    text = "Is FORMULA_0 convex everywhere? I believe so."
    rows = [
        {"post_id": f"{n:02}", "post_type": "question", "text": text,
         "formula_map": [mention]}
        for n in range(20)
    ]  # fmt: skip
    rows.append({**rows[0], "post_id": "99", "post_type": "example"})
    pandas.DataFrame(rows).to_parquet(folder / "posts-0.parquet")
    return tmp_path


def test_there_is_every_form_once(root):
    assert choose_queries(root, 5) == [
        ("text", "Is $x^2$ convex everywhere?"),
        ("text", "I believe so."),
        ("formula", "x^2"),
        ("text", "everywhere believe convex"),
        ("like", "04"),
    ]


def test_no_query_is_asked_twice_and_examples_are_no_queries(root):
    found = choose_queries(root, 50)
    assert len(set(found)) == len(found) == 8
    assert ("like", "99") not in found
