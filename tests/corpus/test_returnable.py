"""Which formulas may be returned, and the set of their ids."""

from __future__ import annotations

import pyarrow as pa
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.records import Comment, Formula, FormulaMention, Post
from mathamr_kedro.corpus import FormulaIds, RecordTables
from mathamr_kedro.corpus.formula_index import ReturnableRule


def row(key: str, place: str, issue: str = "") -> Formula:
    comment = "5" if place == "comment" else None
    return Formula(key, "1", f"v{key}", place, comment, issue, "x")


INDEX = [
    row("1", "title"),
    row("2", "question", "d"),
    row("3", "question", "v"),
    row("4", "answer", "dv"),
    row("5", "comment"),
    row("6", "comment", "d"),
    row("7", "body"),
]


def choose(rule: ReturnableRule) -> list[str]:
    table: pa.Table = RecordTables(Formula).write(INDEX)
    return rule.choose(table)["formula_id"].to_pylist()


def test_the_lab_takes_all_but_formulas_that_are_not_in_the_xml():
    assert choose(ReturnableRule()) == ["1", "3", "5", "7"]


def test_other_rules_take_other_formulas():
    assert choose(ReturnableRule(types=("title", "question"))) == ["1", "3"]
    assert choose(ReturnableRule(("comment",), ("dv",))) == ["5", "6"]
    assert choose(ReturnableRule(issues_excluded=())) == [r.formula_id for r in INDEX]


def test_an_unknown_place_is_refused():
    with pytest.raises(ConfigurationError, match="returnable"):
        read_parameters(ReturnableRule, {"types": ["comments"]}, "ingestion.returnable")


def test_without_an_index_texts_are_asked():
    mention = FormulaMention("FORMULA_0", "1:0", "x1", "x", 0, 9)
    post = Post("1", "answer", "1", None, None, None, 0, (), "", "", (mention,))
    comment = Comment("5", "1", "", (mention._replace(formula_id="c5:0"),))
    texts = [post, post._replace(post_type="example"), comment]
    found = ReturnableRule().choose_mentions(texts)
    assert [(f.formula_id, f.post_id, f.comment_id) for f in found] == [
        ("1:0", "1", None),
        ("c5:0", "1", "5"),
    ]
    assert not ReturnableRule(types=("body", "title")).choose_mentions(texts)


def test_ids_are_numbered_whatever_they_look_like():
    names = ["28320920", "7", "a.md:0", "7", "007", "9" * 30, ""]
    ids = FormulaIds(names)
    assert len(ids) == 6
    places = ids.find([*names, "8", "b.md:0", "70"]).tolist()
    assert [ids[place] for place in places[: len(names)]] == names
    assert places[len(names) :] == [-1, -1, -1]
    assert FormulaIds([]).find(["1", "a"]).tolist() == [-1, -1]
