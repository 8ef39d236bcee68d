"""Tuples, against a recursive twin written from the definition."""

from __future__ import annotations

from itertools import groupby

import pytest

from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.tree import MAX_CHARACTERS

SLT = "[V!x[+[V!y]],a[N!2]]"
OPT = "[U!plus,0[O!SUP,0[V!x],1[N!2]],1[V!y]]"
LARGE = [
    "[M!()1x2[V!z[≈[V!y,b[V!i],a[N!2[+[N!3]]]]]],a[V!n],w[N!1[+[V!a,o[^]]],e[V!b]]]",
    "[∑[V!x[=[V!y[+[V!z[-[N!1[/[N!2]]]]]]]]],o[V!n],u[V!i[=[N!0]]]]",
    "[U!and,0[O!lt,0[V!a],1[U!times,0[V!b],1[O!minus,0[V!c],1[N!4]]]],1[O!lt,0[V!c]]]",
]


def shorten(path):
    """Write a path run by run when it is longer than five edges."""
    if len(path) <= 5:
        return path or "-"
    return "".join(f"{len(list(run))}{edge}" for edge, run in groupby(path))


def slow_tuples(tree, window):
    """The definition, recursively."""
    slt = tree.kind == "slt"

    def links(node, order):
        if slt:
            return [(edge, node.edges[edge]) for edge in order if edge in node.edges]
        zero = node.label.startswith("U!")
        return [("0" if zero else edge, below) for edge, below in node.edges.items()]

    def reach(node, path):
        yield node.label, path
        if not window or len(path) < window:
            for edge, below in reversed(links(node, "nabou" + "cdwe")):
                yield from reach(below, path + edge)

    def walk(node, location):
        for edge, below in links(node, "aocnbudew"):
            for label, path in reach(below, edge):
                yield node.label, label, shorten(path), shorten(location)
            yield from walk(below, location + edge)
        if "n" not in node.edges if slt else not node.edges:
            yield node.label, "0!", "n" if slt else "0", shorten(location)

    return list(walk(tree.root, ""))


def test_layout_tuples_of_the_definition():
    pairs = FormulaTree.from_string(SLT).tuples(1)
    assert ["\t".join(pair) for pair in pairs] == [
        "V!x\tN!2\ta\t-",
        "N!2\t0!\tn\ta",
        "V!x\t+\tn\t-",
        "+\tV!y\tn\tn",
        "V!y\t0!\tn\tnn",
    ]


def test_operator_tuples_of_the_definition():
    pairs = FormulaTree.from_string(OPT).tuples(1)
    assert ["\t".join(pair) for pair in pairs] == [
        "U!plus\tO!SUP\t0\t-",
        "O!SUP\tV!x\t0\t0",
        "V!x\t0!\t0\t00",
        "O!SUP\tN!2\t1\t0",
        "N!2\t0!\t0\t01",
        "U!plus\tV!y\t0\t-",
        "V!y\t0!\t0\t0",
    ]


@pytest.mark.parametrize("text", [SLT, OPT, *LARGE])
@pytest.mark.parametrize("window", [0, 1, 2, 3])
def test_tuples_equal_the_recursive_twin(text, window):
    tree = FormulaTree.from_string(text)
    assert tree.tuples(window) == slow_tuples(tree, window)


def test_long_locations_are_written_run_by_run():
    tree = FormulaTree.from_string("[V!x" * 8 + "]" * 8)
    assert tree.tuples(1)[-2].location == "6n"


def test_tuple_longer_than_the_limit_is_dropped():
    name = "a" * MAX_CHARACTERS
    tree = FormulaTree.from_string(f"[T!{name}[V!x[V!y]]]")
    assert [pair.first for pair in tree.tuples(1)] == ["V!x", "V!y"]
