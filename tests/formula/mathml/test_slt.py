"""Presentation MathML to Symbol Layout Trees."""

from __future__ import annotations

from collections import Counter

import pytest

from mathamr_kedro.formula import slt_from_mathml
from mathamr_kedro.formula.mathml import TreeError

A, B, N, M2 = "<mi>a</mi>", "<mi>b</mi>", "<mn>2</mn>", "<mn>3</mn>"


def read(text, mode="strict", **options):
    tree = slt_from_mathml(text, mode=mode, **options)
    return tree.to_string() if tree is not None else None


@pytest.mark.parametrize(
    ("text", "string"),
    [
        ("<mi> x </mi>", "[V!x]"),
        ("<mn>1,5</mn>", "[N!1&comma;5]"),
        ("<mtext>if x</mtext>", "[T!if x]"),
        ("<mo>+</mo>", "[+]"),
        ("<mspace/>", "[W!]"),
        ("<merror><mtext>no</mtext></merror>", "[E!]"),
        ('<qvar name="q"/>', "[?q]"),
        ('<mws:qvar xmlns:mws="http://search.mathweb.org/ns" name="q"/>', "[?q]"),
        ("<qvar>q</qvar>", "[?q]"),
        (f"<mrow>{A}<mo>⁢</mo>{B}</mrow>", "[V!a[V!b]]"),
        (f"<mrow><mphantom>{A}</mphantom>{B}</mrow>", "[V!b]"),
        (f"<mstyle>{A}{B}</mstyle>", "[V!a]"),
        (f"<mfrac>{A}{B}</mfrac>", "[O!divide,o[V!a],u[V!b]]"),
        (f"<mfrac>{A}</mfrac>", "[V!a]"),
        (f"<msqrt>{A}<mo>+</mo>{B}</msqrt>", "[O!root,w[V!a[+[V!b]]]]"),
        (f"<mroot>{A}{N}</mroot>", "[O!root,c[N!2],w[V!a]]"),
        ("<msqrt/>", "[W!]"),
        (f'<menclose notation="box">{A}</menclose>', "[box,w[V!a]]"),
        ("<menclose/>", "[longdiv]"),
        (f"<math><math>{A}</math></math>", "[V!a]"),
    ],
)
def test_elements_become_symbols(text, string):
    assert read(text) == string


def test_unknown_element_is_an_error_in_strict_mode():
    with pytest.raises(
        TreeError, match="'ms' in 'mrow'", check=lambda e: e.reason == "unknown_tag"
    ):
        read("<mrow><ms>x</ms></mrow>")


def test_unknown_element_is_looked_through_in_total_mode():
    counter = Counter()
    text = f"<mrow><ms>x, y</ms><maction>{A}<mspace/>{B}</maction><mglyph/></mrow>"
    assert read(text, "total", counter=counter) == "[T!x&comma; y[V!a[V!b]]]"
    assert counter == {
        "unknown_tag:ms": 1,
        "unknown_tag:maction": 1,
        "unknown_tag:mglyph": 1,
    }


def test_error_below_a_dropped_part_does_not_count():
    assert read(f"<mrow><mphantom><ms>x</ms></mphantom>{A}</mrow>") == "[V!a]"
    assert read(f"<mstyle>{A}<ms>x</ms></mstyle>") == "[V!a]"
    with pytest.raises(TreeError, check=lambda e: e.reason == "unknown_tag"):
        read(f"<mstyle><ms>x</ms>{A}</mstyle>")


def test_first_error_in_reading_order_is_raised():
    with pytest.raises(
        TreeError, match="'ms'", check=lambda e: e.reason == "unknown_tag"
    ):
        read(f"<mrow><ms>x</ms><msqrt><mrow/>{A}</msqrt></mrow>")
    with pytest.raises(TreeError, check=lambda e: e.reason == "broken_chain"):
        read(f"<mrow><msqrt><mrow/>{A}</msqrt><ms>x</ms></mrow>")


def test_outer_unknown_element_hides_inner_errors():
    with pytest.raises(
        TreeError, match="'maction'", check=lambda e: e.reason == "unknown_tag"
    ):
        read("<maction><ms>x</ms></maction>")


@pytest.mark.parametrize("tag", ["msqrt", "menclose"])
def test_empty_part_in_a_chain_breaks_it(tag):
    text = f"<{tag}>{A}<mrow/>{B}</{tag}>"
    with pytest.raises(TreeError, check=lambda e: e.reason == "broken_chain"):
        read(text)
    counter = Counter()
    assert "V!a[V!b]" in read(text, "total", counter=counter)
    assert counter["broken_chain"] == 1


def test_empty_part_at_the_end_of_a_chain_is_harmless():
    assert read(f"<msqrt>{A}<mrow/></msqrt>") == "[O!root,w[V!a]]"


def test_blanks_stay_in_roots_and_cells():
    assert read(f"<msqrt>{A}<mo>⁢</mo>{B}</msqrt>") == "[O!root,w[V!a[[V!b]]]]"


def test_several_roots():
    with pytest.raises(
        TreeError, match="got 2", check=lambda e: e.reason == "several_roots"
    ):
        read(f"<math>{A}{B}</math>")
    assert read(f"<math>{A}{B}</math>", "total") == "[V!a[V!b]]"


def test_compat_changes_operators_alone():
    text = "<mrow><mo>−</mo><mi>−</mi><mo>‖</mo></mrow>"
    assert read(text) == "[−[V!−[‖]]]"
    assert read(text, compat="arqmath") == "[-[V!−[∥]]]"


def test_total_mode_escapes_attributes_that_would_break_the_string():
    tree = slt_from_mathml(f'<menclose notation="a,b]">{A}</menclose>')
    assert tree.nodes[0] == "a&comma;b&rsqb;"
