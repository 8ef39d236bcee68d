"""Runs from files as first stages."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.formula import trees_from_latex
from mathamr_kedro.systems import Collection, Query
from mathamr_kedro.systems.mathamr.config import SearchConfig
from mathamr_kedro.systems.mathamr.search import open_first_stages

FORMULAS = [
    FormulaInstance("12", "v1", "p12", "x"),
    FormulaInstance("3", "v1", "p3", "x"),
    FormulaInstance("4", "v2", "p4", "y"),
    FormulaInstance("5", "v3", "p5", "z"),
]
TOPICS = [Query("B.1"), Query("B.2")]


def open_run(tmp_path, text):
    path = tmp_path / "theirs.tsv"
    path.write_text(text)
    config = SearchConfig(first_stage="none", runs={"theirs": str(path)})
    stages = open_first_stages(config, Collection(formulas=lambda: FORMULAS))
    assert list(stages) == ["theirs"]
    return stages["theirs"]


def test_visual_ids_of_a_run_are_named_by_their_first_formula(tmp_path):
    lines = "B.1 Q0 v9 1 .9 me\nB.1 Q0 v2 2 .2 me\nB.1 Q0 v1 3 .8 me\n"
    first, second = open_run(tmp_path, lines)(TOPICS, 5)
    assert list(first) == [("3", pytest.approx(0.8)), ("4", pytest.approx(0.2))]
    assert (first.visual_ids, first.post_ids) == (["v1", "v2"], ["p3", "p4"])
    assert second.ids == []  # a topic that the run does not have


def test_formulas_of_a_submission_count_by_the_best_that_looks_the_same(tmp_path):
    lines = ["B.1 12 p12 1 .9 me", "B.1 4 p4 2 .7 me", "B.1 3 p3 3 .5 me",
             "B.1 77 p7 4 .4 me", "B.1 5 p5 5 .3 me"]  # fmt: skip
    stage = open_run(tmp_path, "\n".join(lines))
    (found,) = stage(TOPICS[:1], 5)
    assert found.visual_ids == ["v1", "v2", "v3"]
    assert found.scores.tolist() == [0.9, 0.7, 0.3]
    assert found.ids == ["3", "4", "5"]
    (few,) = stage(TOPICS[:1], 2)
    assert few.visual_ids == ["v1", "v2"]


def test_a_run_of_another_collection_is_refused(tmp_path):
    with pytest.raises(MalformedInputError, match=r"theirs\.tsv.*got none"):
        open_run(tmp_path, "B.1 Q0 v8 1 .9 me\nB.1 Q0 v9 2 .8 me\n")


def test_a_run_that_is_not_there_is_named(tmp_path):
    config = SearchConfig(first_stage="none", runs={"a": str(tmp_path / "no.tsv")})
    with pytest.raises(MissingInputError, match=r"no\.tsv"):
        open_first_stages(config, Collection(formulas=lambda: FORMULAS))


def test_terms_come_first_and_no_stage_is_possible():
    sources = Collection(formulas=lambda: FORMULAS)
    assert list(open_first_stages(SearchConfig(), sources)) == ["bm25_slt"]
    nothing = SearchConfig(first_stage="none", runs={"bm25": "none"})
    assert open_first_stages(nothing, sources) == {}


def test_terms_rank_formulas_for_each_topic_up_to_a_depth():
    latex = {"12": "x^2", "3": "x^2", "4": "x^2+1", "5": "y"}
    formulas = [f._replace(latex=latex[f.formula_id]) for f in FORMULAS]
    sources = Collection(
        formulas=lambda: formulas, trees_of=lambda f: trees_from_latex(f.latex)
    )
    rank = open_first_stages(SearchConfig(), sources)["bm25_slt"]
    topics = [
        Query(key, formula=FormulaInstance("q", "", key, text),
              trees=trees_from_latex(text))
        for key, text in (("B.1", "x^2"), ("B.2", "y"))
    ]  # fmt: skip
    squares, letter = rank(topics, 2)
    assert squares.visual_ids == ["v1", "v2"]
    assert letter.visual_ids[0] == "v3"
    assert [hits.visual_ids for hits in rank(topics, 1)] == [["v1"], ["v3"]]
