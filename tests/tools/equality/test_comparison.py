from __future__ import annotations

import pandas
import pytest

from tools.equality.comparison import compare_answers, compare_roots, compare_runs

LINES = ("A.1\tQ0\t17\t1\t0.9\tours", "A.1\tQ0\t4\t2\t0.5\tours")


def write_root(folder, lines=LINES, score=0.25, system="ours", where="runs/v1/task1"):
    runs = folder / "07_model_output" / where
    runs.mkdir(parents=True)
    text = "".join(f"{line}\n" for line in lines).replace("ours", system)
    (runs / "a.trec").write_text(text)
    row = {"system": system, "topic_id": "A.1", "measure": "MAP", "score": score}
    pandas.DataFrame([row]).to_parquet(folder / "07_model_output" / "scores.parquet")
    return folder


def test_the_same_bytes_are_identical_wherever_they_lie(tmp_path):
    old = write_root(tmp_path / "old")
    new = write_root(tmp_path / "new", where="ours/runs")
    found = compare_roots(old, new, {})
    assert found.outcomes == {"identical": 2}


def test_a_sum_in_another_order_is_equal(tmp_path):
    old = write_root(tmp_path / "old")
    new = write_root(tmp_path / "new", [LINES[0], LINES[1].replace("0.5", "0.5000001")])
    found = compare_roots(old, new, {})
    assert found.outcomes == {"identical": 1, "equal": 1}


def test_what_differs_is_said(tmp_path):
    old = write_root(tmp_path / "old")
    new = write_root(tmp_path / "new", [LINES[0], LINES[1].replace("0.5", "0.51")], 0.3)
    found = compare_roots(old, new, {})
    assert found.outcomes == {"different": 2}
    assert "rank 2: 4 0.5, then 4 0.51" in found.notes[0]
    assert "1 of 1 rows" in found.notes[1]


def test_systems_may_have_new_names(tmp_path):
    old = write_root(tmp_path / "old")
    new = write_root(tmp_path / "new", system="theirs")
    assert compare_roots(old, new, {}).outcomes == {"different": 3}
    found = compare_roots(old, new, {"ours": "theirs"})
    assert found.outcomes == {"equal": 1, "identical": 1}


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ([("a", 1.0), ("b", 1.0)], [("b", 1.0), ("a", 1.0)], True),
        ([("a", 1.0), ("b", 0.9)], [("b", 1.0), ("a", 0.9)], False),
        ([("a", 1.0), ("b", 0.9)], [("a", 1.0), ("c", 0.9)], True),  # the last one
        ([("a", 1.0), ("b", 0.9)], [("c", 1.0), ("b", 0.9)], False),
        ([("a", 1.0), ("b", 0.9)], [("a", 1.0)], False),
        ([("a", 40.0)], [("a", 40.00002)], True),
        ([("a", 0.4)], [("a", 0.400002)], False),
    ],
)
def test_ties_may_change_places(old, new, is_same):
    assert (compare_runs({"A.1": old}, {"A.1": new}) is None) == is_same


def test_answers_are_compared_by_the_fields_that_both_have():
    old = {"results": [{"post_id": "7", "score": 0.5, "title": "A sum", "rank": 1}]}
    new = {"results": [{"post_id": "7", "score": 0.5, "title": "A sum", "more": 1}]}
    queries = [("text", "a sum")]
    assert compare_answers(queries, [old], [old]).outcomes == {"identical": 1}
    assert compare_answers(queries, [old], [new]).outcomes == {"equal": 1}
    new["results"][0]["title"] = "A product"
    (note,) = compare_answers(queries, [old], [new]).notes
    assert "results[0].title: 'A sum', then 'A product'" in note


def test_answers_in_plain_text_are_compared_with_those_of_the_server():
    old = [
        {
            "post_id": "7", "score": 0.5, "title": "A sum",
            "matches": [{"query": "F0 x"}],
            "parts": [{"system": "bm25", "share": 0.5000001, "score": 3.0}],
        }
    ]  # fmt: skip
    new = {
        "results": [
            {
                "post_id": "7", "score": 0.5, "title": [{"text": "A sum"}],
                "parts": [{"system": "bm25", "share": 0.5, "score": 3.0, "words": []}],
                "matches": [{"query": "F0"}],
            }
        ]
    }  # fmt: skip
    queries = [("text", "a sum")]
    assert compare_answers(queries, [old], [new]).outcomes == {"equal": 1}
    new["results"][0]["parts"][0]["share"] = 0.4
    (note,) = compare_answers(queries, [old], [new]).notes
    assert "results[0].parts[0].share: 0.5000001, then 0.4" in note
