r"""How much of two formulas is the same."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula import compare_trees, trees_from_latex


def compare(asked: str, found: str):
    return compare_trees(*(trees_from_latex(latex).opt for latex in (asked, found)))


@pytest.mark.parametrize(
    ("asked", "found", "names", "is_whole"),
    [
        ("x^2 + y", "y + x^2", {}, True),
        (r"\sqrt p", r"\sqrt n", {"p": "n"}, True),
        ("x^2+y^2=z^2", "a^2+b^2=z^2", {"x": "a", "y": "b"}, True),
        (r"\sum_{j=1}^m j^2", r"s=\sum_{k=1}^n k^2", {"j": "k", "m": "n"}, False),
        (r"\sqrt2", r"\sqrt2=\frac ab", {}, False),
        ("x+y", "a+a", None, False),  # each variable has its own name
        ("x+x", "a+b", None, False),
        (r"\sqrt p", r"\sqrt{n+1}", None, False),  # which is no variable
        ("p", "n", None, False),  # any letter would do
        ("p", "p=2", {}, False),
    ],
)
def test_names_of_variables_may_differ(asked, found, names, is_whole):
    compared = compare(asked, found)
    assert (compared.names, compared.is_whole) == (names, is_whole)
    assert (compared.share == 1) == (is_whole and not names)


def test_more_in_common_is_a_larger_share():
    asked = r"\sum_{j=1}^m j^2"
    others = [
        asked, r"\sum_{k=1}^n k^2", r"\sum_{k=1}^n k^3", r"k=\sum_{j=1}^k 1", "x+1",
    ]  # fmt: skip
    shares = [compare(asked, other).share for other in others]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1 and shares[-2] < 0.75 and shares[-1] < 0.3


def test_without_a_tree_nothing_is_the_same():
    assert compare_trees(None, trees_from_latex("x").opt).share == 0
