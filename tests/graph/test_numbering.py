"""Node types from labels."""

from __future__ import annotations

import pytest

from mathamr_kedro.graph.builder import normalise_concept, normalise_symbol


@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        ("functions", "function"),  # Porter stem
        ("continuity", "continu"),
        ("Fourier", "fourier"),
        ("solve-01", "solve-01"),  # PropBank frames are normal already
        ("have-rel-role-91", "have-rel-role-91"),
        ("FORMULA_12", "FORMULA_12"),
        ("ﬁeld", "field"),  # NFKC
        ("42", "42"),
        ("http%3A%2F%2Fa.b%2Fcats", "[URL]"),
        ('"see www.example.org"', "[URL]"),
        ("multi-sentence", "multi-sent"),
    ],
)
def test_concepts(atom: str, expected: str) -> None:
    assert normalise_concept(atom) == expected


@pytest.mark.parametrize(
    ("atom", "expected"),
    [
        ("V!𝑥", "V!x"),
        ("V!ℝ", "V!R"),
        ("T!functions", "T!functions"),  # never stemmed
        ("F!sines-01", "F!sines-01"),
        ('"O!interval(O-O)"', "O!interval(O-O)"),
        ("∬", "∫∫"),
        ('"Cauchy sequences"', "Cauchy sequences"),  # a name is a constant
        ("T!https%3A%2F%2Fa", "[URL]"),
        ("N!½", "N!1⁄2"),
    ],
)
def test_symbols(atom: str, expected: str) -> None:
    assert normalise_symbol(atom) == expected
