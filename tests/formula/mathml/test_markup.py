"""Reading MathML text, well-formed or not."""

from __future__ import annotations

from collections import Counter

import pytest

from mathamr_kedro.formula import opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.mathml import TreeError
from mathamr_kedro.formula.mathml.markup import MAX_CHARACTERS, repair_markup

PARALLEL = """<math><semantics><mfrac><mi>a</mi><mi>b</mi></mfrac>
<annotation-xml encoding="MathML-Content"><apply><divide/><ci>a</ci><ci>b</ci></apply>
</annotation-xml><annotation encoding="application/x-tex">\\frac{a}{b}</annotation>
</semantics></math>"""


def read(text, **options):
    tree = slt_from_mathml(text, **options)
    return tree.to_string() if tree is not None else None


@pytest.mark.parametrize(
    "text",
    [
        "<math><mi>x</mi></math>",
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>',
        '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mi>x</m:mi></m:math>',
        "<m:math><m:mi>x</m:mi></m:math>",
        "<mi>x</mi>",
        "<MATH><MI>x</MI></MATH>",
        '<?xml version="1.0" encoding="UTF-8"?> <math>  <mi>x</mi> </math> ',
        '<?xml version="1.0" encoding="UTF-16"?><math><mi>x</mi></math>',
        "<!DOCTYPE math><math><mi>x</mi></math>",
        ' <?xml version="1.0" encoding="UTF-16"?> <!-- a --> <math><mi>x</mi></math>',
        "<p>see <math><mi>x</mi></math> and <math><mi>y</mi></math></p>",
        "<math><!-- so --><mi>x</mi></math>",
        "<math><mi>x</mi>",
        "<math><mrow><mi>x</mi></math>",
        '<math alttext="a<b"><mi>x</mi></math>',
        '<math alttext="a & b"><mi>x</mi></math>',
        "<ltx_markedasmath><mi>x</mi></ltx_markedasmath>",
    ],
)
def test_every_spelling_of_a_formula_is_read(text):
    assert read(text) == "[V!x]"


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("<math><mo><</mo></math>", "[<]"),
        ("<math><mrow><mi>a</mi><mo><</mo><mi>b</mi></mrow></math>", "[V!a[<[V!b]]]"),
        ("<math><mo>&</mo></math>", "[&]"),
        ("<math><mi>&alpha;</mi></math>", "[V!α]"),
        ("<math><mi>&nosuch;</mi></math>", "[V!&nosuch;]"),
        ("<math><mtext>0<r≤1</mtext></math>", "[T!0<r≤1]"),
        ("<math><mi>x</mi><mspace/><mo>&</mo></math>", "[V!x[W![&]]]"),
        ("<mi>a</mi><mi>b</mi>", "[V!a[V!b]]"),
    ],
)
def test_damaged_cells_are_repaired(text, string):
    counter = Counter()
    assert read(text, counter=counter) == string
    assert counter


def test_strict_mode_reads_damaged_cells_too():
    assert read("<math><mo><</mo></math>", mode="strict") == "[<]"


def test_name_that_is_closed_somewhere_stays_a_tag():
    assert repair_markup("<foo>x</foo><<bar") == "<foo>x</foo>&lt;&lt;bar"


def test_each_reader_takes_its_branch_of_parallel_markup():
    assert read(PARALLEL) == "[O!divide,o[V!a],u[V!b]]"
    assert opt_from_mathml(PARALLEL).to_string() == "[O!divide,0[V!a],1[V!b]]"
    assert opt_from_mathml(PARALLEL, mode="strict") is not None


def test_presentation_alone_has_no_operator_tree_in_strict_mode():
    with pytest.raises(
        TreeError, match="'mrow'", check=lambda e: e.reason == "unknown_tag"
    ):
        opt_from_mathml("<math><mrow><mi>a</mi></mrow></math>", mode="strict")


@pytest.mark.parametrize("text", ["", "  ", "<math/>", "<math> </math>", "words only"])
def test_nothing_to_draw_is_counted_as_empty(text):
    counter = Counter()
    assert slt_from_mathml(text, counter=counter) is None
    assert "empty" in counter
    with pytest.raises(TreeError, check=lambda e: e.reason == "empty"):
        slt_from_mathml(text, mode="strict")


def test_control_characters_are_dropped_in_total_mode_alone():
    text = "<math><mi>x\x00</mi></math>"
    counter = Counter()
    assert read(text, counter=counter) == "[V!x]"
    assert counter["control_character"] == 1
    with pytest.raises(TreeError, check=lambda e: e.reason == "ill_formed"):
        slt_from_mathml(text, mode="strict")


def test_lone_surrogates_do_no_harm():
    assert read("<math><mi>\ud800x</mi></math>") == "[V!x]"


@pytest.mark.parametrize(
    "text",
    [
        "<math>" + "<mrow>" * 10_000 + "</mrow>" * 10_000 + "</math>",
        "<mi>" * 100_000,
        "<math>" + "<mi>x</mi>" * (MAX_CHARACTERS // 10) + "</math>",
    ],
)
def test_too_deep_and_too_long_are_counted(text):
    counter = Counter()
    assert slt_from_mathml(text, counter=counter) is None
    assert counter["too_large"] == 1
    with pytest.raises(TreeError, check=lambda e: e.reason == "too_large"):
        opt_from_mathml(text, mode="strict")


@pytest.mark.parametrize("piece", ["<", "&", "<?", "<!", "<!--", '<a "', "</mi>"])
def test_texts_made_to_harm_are_answered(piece):
    counter = Counter()
    slt_from_mathml(piece * (100_000 // len(piece)), counter=counter)
    assert counter


def test_entities_of_a_doctype_are_not_expanded():
    bomb = '<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    tree = slt_from_mathml(bomb + "<math><mi>&b;</mi><mi>x</mi></math>")
    assert tree is not None
    assert "aaaa" not in tree.to_string()
