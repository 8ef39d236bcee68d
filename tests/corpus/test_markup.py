import pytest

from mathamr_kedro.corpus.markup import flatten_markup
from mathamr_kedro.corpus.placeholders import FormulaMarks


def flatten(markup):
    marks = FormulaMarks()
    return flatten_markup(markup, marks, "html"), [
        found[:2] for found in marks._formulas
    ]


def test_paragraphs_are_separated_by_an_empty_line():
    assert flatten("<p>one</p><p>two</p>")[0] == "one\n\ntwo"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n\n- b"),
        ("<ol><li>a<ul><li>x</li></ul></li><li>b</li></ol>", "1. a\n\n- x\n\n2. b"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
    ],
)
def test_list_items_stand_on_lines_of_their_own(markup, text):
    assert flatten(markup)[0] == text


def test_code_keeps_its_lines_and_its_dollars():
    text, formulas = flatten("<pre><code>a = $x\n  b = $y\n</code></pre>")
    assert text.replace("\ue003", "$") == "a = $x\nb = $y"
    assert formulas == []


def test_quote_is_a_paragraph_and_a_link_gives_its_text():
    markup = '<p>see</p><blockquote><p>said</p></blockquote><a href="u">here</a>'
    assert flatten(markup)[0] == "see\n\nsaid\n\nhere"


def test_entities_are_read_once():
    assert flatten("a &amp; b &amp;lt; c &#8211; d")[0] == "a & b &lt; c – d"


def test_image_gives_its_alternative_text():
    assert flatten('<img src="x" alt="a triangle">')[0] == "a triangle"


def test_scripts_and_comments_are_silent():
    assert flatten("a<script>var b;</script><!-- c --><style>d</style>e")[0] == "ae"


def test_formula_span_is_marked_with_its_id():
    text, formulas = flatten(
        'for <span class="math-container" id="7">a &lt; b</span>, and '
        '<span class="math-container">c</span>'
    )
    assert formulas == [("7", "a < b"), (None, "c")]
    assert text == "for \ue0010\ue002, and \ue0011\ue002"


def test_attributes_of_a_formula_span_come_in_any_order():
    _, formulas = flatten("<span id='q_1' class='math-container big'>$x$</span>")
    assert formulas == [("q_1", "$x$")]


def test_stray_less_than_is_text():
    assert flatten("if a<b and c<d>e</d>")[0] == "if a<b and ce"
    assert flatten("1 < 2 <3")[0] == "1 < 2 <3"


def test_private_characters_of_an_entity_are_dropped():
    assert flatten("a &#57345;0&#57346; b")[0] == "a 0 b"


def test_cells_of_a_table_are_parted():
    markup = "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"
    assert flatten(markup)[0].split() == ["1", "2", "3"]
