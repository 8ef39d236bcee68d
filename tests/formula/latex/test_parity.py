"""Parity with LaTeXML and the published converters on real formulas."""

from __future__ import annotations

import gzip
import json
import unicodedata

import pytest

from mathamr_kedro.formula.latex import trees_from_latex


@pytest.fixture(scope="module")
def rows(shared):
    path = shared / "formula" / "parity_public.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [row for row in found if not row["source"].startswith("crafted")]


def _rate(rows, field, kind, fold):
    checked = [row for row in rows if "string" in row[kind]]
    equal = 0
    for row in checked:
        tree = getattr(trees_from_latex(row[field]), kind)
        equal += tree is not None and fold(tree.to_string()) == fold(
            row[kind]["string"]
        )
    return equal / len(checked)


def _exact(text):
    return text


def _nfkc(text):
    return unicodedata.normalize("NFKC", text)


@pytest.mark.shared
@pytest.mark.parametrize("field", ["latex", "latex_in"])
@pytest.mark.parametrize(
    ("kind", "fold", "least"),
    [
        ("slt", _nfkc, 0.95),
        ("opt", _nfkc, 0.94),
        ("slt", _exact, 0.99),
        ("opt", _exact, 0.99),
    ],
)
def test_trees_are_those_of_the_reference(rows, field, kind, fold, least):
    assert _rate(rows, field, kind, fold) >= least


@pytest.mark.shared
def test_no_public_formula_is_beyond_the_reader(rows):
    refused = [
        row["latex"] for row in rows if trees_from_latex(row["latex"]).slt is None
    ]

    assert refused == []
