import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.corpus.markup import _AROUND_BREAK  # the fast twin
from mathamr_kedro.corpus.scanning import NextMatch, find_blocks, find_tags
from tests.conftest import LONG, ends
from tests.corpus.slow_cleaning import AROUND_BREAK, find_tags_slowly

PIECES = [
    "<", ">", '"', "'", "<p>", "</p>", "<!--", "-->", '<a href="x">', "<br/>", "<br />",
    "<a '", '<a "', "<span>", "</span>", "x", " ", "\n", "/", "<b", "<i ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_tags_are_those_of_the_slow_twin(markup):
    found = [(t.start, t.end, t.name, t.is_end) for t in find_tags(markup)]
    assert found == list(find_tags_slowly(markup))


@given(st.lists(st.sampled_from([" ", "\t", "\n", "x"]), max_size=12).map("".join))
def test_blanks_around_breaks_go_as_with_the_slow_twin(text):
    assert _AROUND_BREAK.sub("\n", text) == AROUND_BREAK.sub("\n", text)


def span(latex, formula_id=None):
    name = f' id="{formula_id}"' if formula_id else ""
    return f'<span class="math-container"{name}>{latex}</span>'


@pytest.mark.parametrize(
    "latex",
    [
        r"0<|x-a|<\delta \implies |f(x)-L|<\epsilon",
        "a <b and c> d",
        "x<y & z<!--",
        r"\begin{matrix}1&not\\2&lt b\end{matrix}",
        "a<b>c</b>",
        '<a href="d',
    ],
)
@pytest.mark.parametrize("dollars", ["", "$", "$$"])
def test_everything_in_a_math_span_is_latex(latex, dollars):
    markup = f"<p>If {span(dollars + latex + dollars, 7)} then <b>so</b>.</p>"
    for title, body in (("", markup), (markup, "")):
        clean, _ = clean_text(title, body, "1")
        assert [(m.formula_id, m.latex) for m in clean.formula_map] == [("7", latex)]
        assert clean.text == "If FORMULA_0 then so."


def test_entities_of_latex_are_replaced_and_ampersands_stay():
    clean, _ = clean_text("", span("a &amp; b &lt; c &gtrsim d"), "1")
    assert clean.formula_map[0].latex == "a & b < c &gtrsim d"


def test_math_span_inside_a_math_span_is_one_formula_with_its_id():
    inner = span(r" -\infty< x <\infty", "q_501")
    clean, _ = clean_text("", f"<p>where {span(f'${inner} $')}</p><p>and so</p>", "1")
    (mention,) = clean.formula_map
    assert (mention.formula_id, mention.latex) == ("q_501", r"-\infty< x <\infty")
    assert clean.text == "where FORMULA_0\n\nand so"


def test_math_span_that_never_ends_is_text():
    clean, _ = clean_text("", '<p>a <span class="math-container">b <b>c</b></p>', "1")
    assert (clean.text, clean.formula_map) == ("a b c", ())


def test_number_of_thousands_of_digits_is_no_character():
    clean, _ = clean_text("", f"<p>a &#{5000 * '9'}; b</p>", "1")
    assert clean.text == "a \ufffd b"


def test_next_match_reads_each_part_once():
    found = NextMatch(re.compile("b"), "abab")
    assert [found.after(n).start() for n in (0, 1, 2, 3)] == [1, 1, 3, 3]
    assert found.after(4) is None
    assert found.after(4) is None


def test_block_that_never_ends_is_none():
    start, ends = re.compile("<(?P<kind>[ab])"), {k: re.compile(f"{k}>") for k in "ab"}
    blocks = find_blocks("<a x <b y b> a> <a z", start, ends)
    assert [(o.start(), e.end()) for o, e in blocks] == [(0, 15)]


HOSTILE = {
    "comment": ("<!--", "html"),
    "round": (r"\( ", "html"),
    "square": (r"\[ ", "text"),
    "environment": (r"\begin{align}x", "html"),
    "tabs": ("\t", "text"),
    "math span": ('<span class="math-container">', "html"),
    "nested span": ('<span class="math-container" id="1">x</span', "html"),
    "quotes": ("<a \"<a '\" '", "html"),
    "names": ("<span math-container ", "html"),
    "blanks": (r"$x\!\!\!\quad\quad$ ", "html"),
    "dollars": ("$$ $", "text"),
    "fences": ("```x\n", "markdown"),
    "verbatim": (r"\begin{verbatim}", "latex"),
    "options": (r"\section[", "latex"),
    "titles": (r"\title{", "latex"),
    "items": ("- \n", "text"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
@ends
def test_cost_of_cleaning_grows_with_the_length(kind):
    piece, markup = HOSTILE[kind]
    text = (piece * (LONG // len(piece) + 1))[:LONG] + " end"
    cleaned, _marks = clean_text("", text, "1", markup=markup)
    assert cleaned.text


@ends
def test_cost_of_one_long_row_of_blanks_grows_with_its_length():
    text = "$x" + r"\!" * (LONG // 2) + " y.$"
    cleaned, _marks = clean_text("", text, "1", markup="text")
    assert len(cleaned.formula_map) == 1
