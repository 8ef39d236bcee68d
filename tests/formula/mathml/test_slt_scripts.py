"""Scripts, limits and tensor indices."""

from __future__ import annotations

from collections import Counter

import pytest

from mathamr_kedro.formula import slt_from_mathml
from mathamr_kedro.formula.mathml import TreeError

X, J, N = "<mi>x</mi>", "<mi>i</mi>", "<mn>2</mn>"
SUM = "<mo>∑</mo>"


def read(text, mode="strict", **options):
    return slt_from_mathml(text, mode=mode, **options).to_string()


@pytest.mark.parametrize(
    ("text", "string"),
    [
        (f"<msup>{X}{N}</msup>", "[V!x,a[N!2]]"),
        (f"<msubsup>{X}{J}{N}</msubsup>", "[V!x,a[N!2],b[V!i]]"),
        (f"<msub>{SUM}{J}</msub>", "[∑,u[V!i]]"),
        (f"<munder>{X}{J}</munder>", "[V!x,u[V!i]]"),
        (f"<munderover>{SUM}{J}{N}</munderover>", "[∑,o[N!2],u[V!i]]"),
        (f"<msup><mi/>{N}</msup>", "[W!,a[N!2]]"),
        (f"<msup>{X}<mrow/></msup>", "[V!x]"),
        (f"<msup>{X}<none/></msup>", "[V!x,a[W!]]"),
        (f"<msup>{X}{N}{J}</msup>", "[V!x[N!2[V!i]]]"),
        (f"<msub><mo>!!</mo>{N}</msub>", "[!!,b[N!2]]"),
        (f"<msub><qvar>q</qvar>{N}</msub>", "[?q,b[N!2]]"),
    ],
)
def test_scripts_hang_on_their_base(text, string):
    assert read(text) == string


def test_base_that_is_taken_gets_a_box():
    inner = f"<msup>{X}{N}</msup>"
    assert read(f"<msup>{inner}{J}</msup>") == "[M!1x1,a[V!i],w[V!x,a[N!2]]]"
    assert read(f"<msub>{inner}{J}</msub>") == "[V!x,a[N!2],b[V!i]]"
    row = f"<mrow>{X}<mo>+</mo>{J}</mrow>"
    assert read(f"<msup>{row}{N}</msup>") == "[M!1x1,a[N!2],w[V!x[+[V!i]]]]"


def multi(*parts):
    return f"<mmultiscripts>{''.join(parts)}</mmultiscripts>"


A, B, C, D, NONE, PRE = (
    *(f"<mi>{c}</mi>" for c in "abcd"),
    "<none/>",
    "<mprescripts/>",
)


@pytest.mark.parametrize(
    ("text", "string"),
    [
        (multi(X, A, B), "[V!x,a[V!b],b[V!a]]"),
        (multi(X, A, B, C, D), "[V!x,a[V!b[V!d]],b[V!a[V!c]]]"),
        (multi(X, A, NONE, C, D), "[V!x,a[W![V!d]],b[V!a[V!c]]]"),
        (multi(X, A, B, C, NONE), "[V!x,a[V!b],b[V!a[V!c]]]"),
        (multi(X, A, NONE, PRE, NONE, D), "[V!x,b[V!a],c[V!d]]"),
        (multi(X, PRE, A, B), "[V!x,c[V!b],d[V!a]]"),
        (multi(SUM, A, B), "[∑,a[V!b],b[V!a]]"),
    ],
)
def test_tensor_indices_are_columns(text, string):
    assert read(text) == string


def test_empty_index_before_others_breaks_the_column():
    text = multi(X, A, "<mrow/>", "<mrow/>", D)
    with pytest.raises(TreeError, check=lambda e: e.reason == "broken_chain"):
        read(text)
    assert read(text, "total") == "[V!x,a[W![V!d]],b[V!a]]"


def test_odd_number_of_indices():
    text = multi(X, A, B, C)
    with pytest.raises(TreeError, check=lambda e: e.reason == "missing_child"):
        read(text)
    counter = Counter()
    assert read(text, "total", counter=counter) == "[V!x,a[V!b],b[V!a[V!c]]]"
    assert counter == {"missing_child": 1}


def test_mark_of_left_indices_alone_is_unknown():
    with pytest.raises(
        TreeError, match="mprescripts", check=lambda e: e.reason == "unknown_tag"
    ):
        read(f"<mrow>{X}{PRE}</mrow>")
    assert read(f"<mrow>{X}{PRE}</mrow>", "total") == "[V!x]"
