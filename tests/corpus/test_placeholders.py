import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mathamr_kedro.corpus.markup import flatten_markup
from mathamr_kedro.corpus.placeholders import (
    FormulaMarks,
    FormulaRow,
    split_punctuation,
    visual_id_of_latex,
)


def clean(markup, find=lambda formula_id: None):
    marks = FormulaMarks()
    return marks.place(flatten_markup(markup, marks, "html"), "12", find)


def latex_of(markup):
    return [mention.latex for mention in clean(markup).formula_map]


def test_formulas_are_numbered_in_reading_order():
    result = clean(
        '<span class="math-container" id="9">a</span> and '
        '<span class="math-container" id="3">b</span>'
    )
    assert result.text == "FORMULA_0 and FORMULA_1"
    assert [m.formula_id for m in result.formula_map] == ["9", "3"]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("so $x^2$ is", ["x^2"]),
        ("so $$x^2$$ is", ["x^2"]),
        (r"so \(x^2\) and \[y\] are", ["x^2", "y"]),
        (r"\begin{align*}a&=b\end{align*}", [r"\begin{align*}a&=b\end{align*}"]),
        (r"\begin{cases}1\\2\end{cases} too", [r"\begin{cases}1\\2\end{cases}"]),
        ("it costs $5 and then $10 more", []),
        (r"it costs \$5 for $x$ and \$7", ["x"]),
        ("if $a<b$ and $c>d$", ["a<b", "c>d"]),
        (r"$\text{cost } \$5$", [r"\text{cost } \$5"]),
        ("<p>one $x</p><p>y$ two</p>", []),
        ("<code>$x$</code> but $y$", ["y"]),
        ("<pre>\\[x\\]</pre> but \\[y\\]", ["y"]),
    ],
)
def test_formulas_without_markup_are_found(text, latex):
    assert latex_of(text) == latex


def test_escaped_dollars_are_dollars():
    assert clean(r"pay \$5 for $x$").text == "pay $5 for FORMULA_0"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("word$$x$$word", "word FORMULA_0 word"),
        ("the $n$th power", "the FORMULA_0 th power"),
        ("an $n$-dimensional space", "an FORMULA_0-dimensional space"),
        ("($x$), $y$'s", "(FORMULA_0), FORMULA_1's"),
        ("$a$$b$", "FORMULA_0 FORMULA_1"),
    ],
)
def test_placeholders_are_never_glued_to_words(markup, text):
    assert clean(markup).text == text


@pytest.mark.parametrize(
    ("markup", "text", "latex"),
    [
        ("So $x=1.$ Then", "So FORMULA_0. Then", "x=1"),
        ("So $$x=1.$$Then", "So FORMULA_0. Then", "x=1"),
        ("So $x=1.$. Then", "So FORMULA_0. Then", "x=1"),
        (r"So $x=1\,,\;$ then", "So FORMULA_0, then", "x=1"),
        (
            r"\begin{align}a&=b.\end{align} So",
            "FORMULA_0. So",
            r"\begin{align}a&=b\end{align}",
        ),
        ("So $n!$ is", "So FORMULA_0 is", "n!"),
        (r"So $1, 2, \ldots$ is", "So FORMULA_0 is", r"1, 2, \ldots"),
        ("So $1,2,...$ is", "So FORMULA_0 is", "1,2,..."),
        ("Is $x=1?$ Yes", "Is FORMULA_0? Yes", "x=1"),
        ("just $.$ a dot", "just FORMULA_0 a dot", "."),
        (r"so $x\;$ is", "so FORMULA_0 is", r"x\;"),
    ],
)
def test_sentence_punctuation_moves_out_of_formulas(markup, text, latex):
    result = clean(markup)
    assert result.text == text
    assert result.formula_map[0].latex == latex


def test_span_without_id_gets_a_stable_one():
    markup = '<span class="math-container">a</span> $b$'
    first, second = clean(markup), clean(markup)
    assert [m.formula_id for m in first.formula_map] == ["12:0", "12:1"]
    assert first == second


def test_visual_id_comes_from_the_index_or_from_the_latex():
    markup = '<span class="math-container" id="7">x</span> and $x + y$'
    result = clean(markup, {"7": FormulaRow("99", "x")}.get)
    assert [m.visual_id for m in result.formula_map] == [
        "99",
        visual_id_of_latex("x+y"),
    ]


def test_literal_placeholder_in_a_text_is_no_placeholder():
    assert clean("FORMULA_0 is $x$").text == "FORMULA-0 is FORMULA_0"


def test_empty_span_leaves_no_placeholder():
    result = clean('a <span class="math-container" id="7"> </span> b')
    assert result.text.split() == ["a", "b"]
    assert result.formula_map == ()


def test_punctuation_alone_stays():
    assert split_punctuation(".") == (".", "")
    assert split_punctuation("") == ("", "")


@given(st.text(alphabet=r"ab $\()[]{}<>&;.,#1_^" + "\ue001\ue002\n", max_size=80))
@example("\ue0011\ue002")
@example("$x$ \ue001" + "9" * 5000 + "\ue002")
def test_offsets_always_point_at_the_placeholders(text):
    result = clean(text)
    for number, mention in enumerate(result.formula_map):
        assert mention.placeholder == f"FORMULA_{number}"
        assert result.text[mention.start : mention.end] == mention.placeholder
        assert mention.latex
    assert result.text.count("FORMULA_") == len(result.formula_map)


@given(st.text(max_size=200))
def test_any_text_is_cleaned(text):
    result = clean(text)
    assert "\ue001" not in result.text


@pytest.mark.parametrize("mark", ["1", "9" * 5000])
def test_marks_that_nobody_made_are_dropped(mark):
    marks = FormulaMarks()
    flat = f"a {marks.mark('x')} b \ue001{mark}\ue002 c"
    assert marks.place(flat, "7").text == "a FORMULA_0 b  c"
