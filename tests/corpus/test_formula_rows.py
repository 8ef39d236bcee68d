import pyarrow as pa
import pytest

from mathamr_kedro.base.records import Formula
from mathamr_kedro.corpus import PostCleaner, VisualIndex
from mathamr_kedro.corpus.extraction import clean_comment
from mathamr_kedro.corpus.placeholders import FormulaRow, find_disagreement
from mathamr_kedro.corpus.raw import RawComment, RawPost, RawTopic
from mathamr_kedro.corpus.topics import TopicFormulas, clean_topic

ROWS = {
    "formula_id": ["3", "11", "12", "13", "14", "15"],
    "visual_id": ["90", "70", "71", "72", "73", "74"],
    "issue": ["", "", "d", "", "", ""],
    "post_id": ["1", "1", "1", "2", "1", "1"],
    "comment_id": [None, None, None, None, "5", None],
    "latex": ["w", "$x^2$", "a &lt; b", "q", "y", ""],
}


def build(order=(0, 1, 2, 3, 4, 5)):
    return VisualIndex.build([pa.table(ROWS).take(list(order))])


def span(formula_id, latex):
    return f'<span class="math-container" id="{formula_id}">{latex}</span>'


def post(body):
    return RawPost(
        "Posts.xml", "line 3", "1", "question", None, None, None, None, (), "", body
    )


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 2, 0, 4, 3, 1)])
def test_index_finds_rows_however_the_tables_are_ordered(order, tmp_path):
    build(order).save(tmp_path)
    for index in (build(order), VisualIndex.load(tmp_path)):
        assert index.find_row("11") == FormulaRow("70", "x^2", "1")
        assert index.find_row("12") == FormulaRow("71", "a < b", "1")
        assert index.find_row("14") == FormulaRow("73", "y", "c5")
        assert index.find_row("15") == FormulaRow("74", "", "1")
        assert index.find_row("99") is None
        assert index.find_row("9" * 5000) is None


def test_index_without_latex_still_knows_visual_ids():
    columns = {name: ROWS[name] for name in ("formula_id", "visual_id", "issue")}
    index = VisualIndex.build([pa.table(columns)])
    assert (index("11"), index.find_row("11")) == ("70", FormulaRow("70"))


@pytest.mark.parametrize(
    ("formula_id", "text", "reason", "expected"),
    [
        ("11", "x^{2}", "formula_other_spelling", ("11", "70", "x^2")),
        ("11", "x^2.", "formula_other_punctuation", ("11", "70", "x^2")),
        ("11", "x^3", "formula_other_latex", ("11", "70", "x^2")),
        ("11", "", "formula_without_text", ("11", "70", "x^2")),
        ("15", "z", "formula_without_latex", ("15", "74", "z")),
        ("13", "q", "formula_of_other_post", ("13", "72", "q")),
        ("14", "y", "formula_of_other_post", ("14", "73", "y")),
    ],
)
def test_formula_takes_its_row_and_the_reason_is_noted(
    formula_id, text, reason, expected
):
    cleaned, failures = PostCleaner(build().find_row)(post(span(formula_id, text)))
    (mention,) = cleaned.formula_map
    assert (mention.formula_id, mention.visual_id, mention.latex) == expected
    (failure,) = [f for f in failures if f.reason != "empty_formula"]
    assert (failure.reason, failure.kept, failure.place) == (reason, True, "line 3")
    assert formula_id in failure.detail


def test_row_of_another_post_that_says_something_else_is_not_used():
    cleaned, failures = PostCleaner(build().find_row)(post(span("13", "z")))
    (mention,) = cleaned.formula_map
    assert (mention.formula_id, mention.latex) == ("1:0", "z")
    assert mention.visual_id.startswith("x")
    assert [f.reason for f in failures] == ["formula_of_other_post"]


def test_formula_that_agrees_is_not_noted():
    body = span("11", " x ^ 2 ") + span("12", "a&lt;b") + span("3", "$w$")
    cleaned, failures = PostCleaner(build().find_row)(post(body))
    assert failures == []
    assert [m.visual_id for m in cleaned.formula_map] == ["70", "71", "90"]


def test_formulas_of_comments_are_compared_too():
    raw = RawComment("Comments.xml", "line 2", "5", "1", span("14", "y") + " $z$")
    assert clean_comment(raw, build().find_row)[1] == []
    raw = raw._replace(comment_id="6")
    _, (failure,) = clean_comment(raw, build().find_row)
    assert (failure.record_id, failure.reason) == ("c6", "formula_of_other_post")
    # Rows that name only the post (version 2) are the comment's.
    raw = raw._replace(text=span("3", "w"))
    assert clean_comment(raw, build().find_row)[1] == []


def formula(topic, formula_id, latex, markup=""):
    return Formula(formula_id, topic, "xv", latex=latex, presentation=markup)


def topic(text, formula_id="q_1", latex="x"):
    return RawTopic("t.xml", "B.7", "task2", 2020, "", text, (), formula_id, latex)


def test_query_takes_the_latex_of_its_row_and_the_difference_is_noted():
    rows = TopicFormulas([formula("A.7", "q_1", "x+y"), formula("A.201", "q_1", "z")])
    cleaned, failures = clean_topic(topic(span("q_1", "$x+y$")), {}, rows)
    assert (cleaned.latex, cleaned.formula_map[0].visual_id) == ("x+y", "xv")
    assert [f.reason for f in failures] == ["formula_other_latex"]


def test_query_whose_span_has_no_id_is_found_by_its_latex():
    text = '<p><span class="math-container">$a$</span> and $x + y.$</p>'
    rows = TopicFormulas([formula("A.7", "q_1", "x+y.", "<mi>x</mi>")])
    cleaned, failures = clean_topic(topic(text, latex="x+y."), {}, rows)
    assert failures == []
    assert [m.formula_id for m in cleaned.formula_map] == ["B.7:0", "q_1"]
    assert cleaned.formula_map[1].visual_id == "xv"


def test_row_of_another_topic_of_the_edition_is_foreign():
    rows = TopicFormulas([formula("A.8", "q_1", "k")])
    cleaned, failures = clean_topic(topic(span("q_1", "$x$")), {}, rows)
    assert "formula_of_other_post" in [f.reason for f in failures]
    assert cleaned.latex == "x"
    assert cleaned.formula_map[0].visual_id != "xv"
    # The topic's own LaTeX finds the place of the query.
    assert cleaned.formula_map[0].formula_id == "q_1"


def test_row_that_says_nothing_leaves_the_text():
    rows = TopicFormulas([formula("A.7", "q_1", "")])
    cleaned, failures = clean_topic(topic(span("q_1", "$x$")), {}, rows)
    (mention,) = cleaned.formula_map
    assert (mention.latex, mention.visual_id != "xv") == ("x", True)
    assert {f.reason for f in failures} == {"formula_without_latex"}


def test_unknown_owner_is_not_another_one():
    assert find_disagreement("1", "x", "7", FormulaRow("9", "x")) is None
