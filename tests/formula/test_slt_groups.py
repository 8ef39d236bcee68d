"""Fenced groups and tables."""

from __future__ import annotations

from collections import Counter

import pytest

from mathamr_kedro.formula import slt_from_mathml
from mathamr_kedro.formula.mathml import TreeError

X, Y, COMMA = "<mi>x</mi>", "<mi>y</mi>", "<mo>,</mo>"


def read(text, mode="strict", **options):
    return slt_from_mathml(text, mode=mode, **options).to_string()


def fence(inside, opening="(", closing=")"):
    return f"<mrow><mo>{opening}</mo>{inside}<mo>{closing}</mo></mrow>"


def table(*rows):
    cells = ("".join(f"<mtd><mi>{c}</mi></mtd>" for c in row) for row in rows)
    return "<mtable>" + "".join(f"<mtr>{row}</mtr>" for row in cells) + "</mtable>"


@pytest.mark.parametrize(
    ("text", "string"),
    [
        (fence(X), "[M!()1x1,w[V!x]]"),
        (fence(""), "[([)]]"),
        (fence(X + COMMA + Y), "[M!()1x2,w[V!x[&comma;],e[V!y]]]"),
        (fence(X + COMMA + Y, "[", ")"), "[M!&lsqb;)1x2,w[V!x[&comma;],e[V!y]]]"),
        (fence(X + Y), "[M!()1x1,w[V!x[V!y]]]"),
        (fence(COMMA + Y), "[M!()1x2,w[W![&comma;],e[V!y]]]"),
        (fence(Y + COMMA), "[M!()1x2,w[V!y[&comma;]]]"),
        (fence(COMMA), "[M!()1x2,w[W![&comma;]]]"),
        (fence(X, "⟨", "⟩"), "[⟨[V!x[⟩]]]"),
        (fence(X, "∥", ")"), "[M!∥)1x1,w[V!x]]"),
        (fence(X + COMMA + COMMA + Y), "[M!()1x3,w[V!x[&comma;[&comma;]],e[V!y]]]"),
        (fence(f"<mrow>{X}{COMMA}{Y}</mrow>"), "[M!()1x2,w[V!x[&comma;],e[V!y]]]"),
        (fence(f"<mrow>{COMMA}{Y}</mrow>"), "[M!()1x2,w[W![&comma;],e[V!y]]]"),
        (f"<mfenced>{X}{Y}</mfenced>", "[M!()1x2,w[V!x[,],e[V!y]]]"),
        ("<mfenced/>", "[M!()]"),
        (
            f'<mfenced separators="; |" open="[" close="]">{X}{Y}{X}{Y}</mfenced>',
            "[M!&lsqb;&rsqb;1x4,w[V!x[;],e[V!y[|],e[V!x[|],e[V!y]]]]]",
        ),
        (f'<mfenced separators="">{X}{Y}</mfenced>', "[M!()1x1,w[V!x[V!y]]]"),
    ],
)
def test_fences_make_a_group_of_items(text, string):
    assert read(text) == string


@pytest.mark.parametrize(
    ("text", "string"),
    [
        (table("ab", "cd"), "[M!2x2,w[V!a,e[V!b,e[V!c,e[V!d]]]]]"),
        (table("ab", "c"), "[M!2x2,w[V!a,e[V!b,e[V!c]]]]"),
        (table(""), "[M!1x1,w[W!]]"),
        ("<mtable/>", "[M!0x0]"),
        (fence(table("a", "b")), "[M!()2x1,w[V!a,e[V!b]]]"),
        (fence(table("a"), "{", "}"), "[M!{}1x1,w[V!a]]"),
        (f"<mrow><mo>{{</mo>{table('a')}</mrow>", "[{[M!1x1,w[V!a]]]"),
    ],
)
def test_tables_are_one_chain_of_cells(text, string):
    assert read(text) == string


def test_fences_around_a_fenced_matrix_make_a_new_group():
    inner = fence(table("a"))
    assert read(fence(inner)) == "[M!()1x1,w[M!()1x1,w[V!a]]]"


def test_matrix_with_a_script_is_not_invisible():
    text = fence(f"<msup>{table('a')}<mn>2</mn></msup>")
    assert read(text) == "[M!()1x1,w[M!1x1,a[N!2],w[V!a]]]"


def test_tables_of_as_many_rows_merge_column_by_column():
    text = f"<mrow>{table('a', 'b')}{table('cd', 'ef')}{table('g', 'h')}</mrow>"
    merged = "[M!2x4,w[V!a,e[V!c,e[V!d,e[V!g,e[V!b,e[V!e,e[V!f,e[V!h]]]]]]]]]"
    assert read(text) == merged


def test_tables_of_other_sizes_stay_apart():
    assert read(f"<mrow>{table('a')}{table('b', 'c')}</mrow>") == (
        "[M!1x1[M!2x1,w[V!b,e[V!c]]],w[V!a]]"
    )


def test_groups_never_merge():
    assert read(f"<mrow>{fence(X)}{fence(Y)}</mrow>") == (
        "[M!()1x1[M!()1x1,w[V!y]],w[V!x]]"
    )


def test_empty_row_in_a_table():
    text = "<mtable><mrow/><mtr><mtd><mi>a</mi></mtd></mtr></mtable>"
    with pytest.raises(TreeError, check=lambda e: e.reason == "broken_chain"):
        read(text)
    counter = Counter()
    assert read(text, "total", counter=counter) == "[M!1x1,w[V!a]]"
    assert counter == {"broken_chain": 1}
