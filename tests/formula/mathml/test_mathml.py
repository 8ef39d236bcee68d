"""MathML to trees as a whole, against the specification and the reference."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula import FormulaTree, opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.mathml import TreeError

READERS = {"slt": slt_from_mathml, "opt": opt_from_mathml}


def answer(kind, text, **options):
    """The tree and its tuples, or the class of the published error."""
    try:
        tree = READERS[kind](text, mode="strict", **options)
    except TreeError as error:
        return error.reference_class, None
    return tree.to_string(), [list(pair) for pair in tree.tuples(1)]


def wanted(row):
    if row["string"] is None:
        return row["error"].partition(":")[0], None
    return row["string"], row["tuples"]


@pytest.mark.parametrize(
    ("reader", "options", "hint"),
    [
        (slt_from_mathml, {"mode": "totl"}, "'total'"),
        (slt_from_mathml, {"compat": "arqmat"}, "'arqmath'"),
    ],
)
def test_wrong_options_name_the_nearest(reader, options, hint):
    with pytest.raises(ConfigurationError, match=f"did you mean {hint}"):
        reader("<mi>x</mi>", **options)


def test_total_mode_equals_strict_mode_where_that_succeeds():
    text = "<mrow><mo>(</mo><msup><mi>x</mi><mn>2</mn></msup><mo>)</mo></mrow>"
    counter = Counter()
    assert slt_from_mathml(text, counter=counter) == slt_from_mathml(
        text, mode="strict"
    )
    assert not counter


PIECES = st.sampled_from(
    [
        *("<math>", "</math>", "<mrow>", "</mrow>", "<mi>x</mi>", "<mo>(</mo>", "<"),
        *("<mo>)</mo>", "<mo>,</mo>", "<msup>", "</msup>", "<none/>", "<mtable>", "&"),
        *("</mtable>", "<mtr>", "</mtr>", "<mtd>", "</mtd>", "<mmultiscripts>", "]]>"),
        *(
            "</mmultiscripts>",
            "<mprescripts/>",
            "<apply>",
            "</apply>",
            "<and/>",
            "<!--",
        ),
        *(
            "<ci>a</ci>",
            "<int/>",
            '<share href="#.cmml"/>',
            "<cerror>",
            "<matrix>",
            "\0",
        ),
        *("<matrixrow>", '<csymbol cd="latexml">odd</csymbol>', "<foo>", "text", "-->"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=14).map("".join)))
def test_no_text_breaks_either_mode(text):
    for kind, read in READERS.items():
        counter = Counter()
        tree = read(text, counter=counter)
        if tree is None:
            assert counter, "no tree and no reason"
        else:
            assert FormulaTree.from_string(tree.to_string(), kind) == tree
        try:
            strict = read(text, mode="strict")
        except TreeError:
            continue
        if not counter:
            assert strict == tree


@pytest.mark.shared
def test_all_cases_of_the_specification(shared):
    lines = (shared / "formula" / "spec_cases.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    wrong = [c["input"] for c in cases if answer(c["kind"], c["input"]) != wanted(c)]
    assert len(cases) == 239
    assert wrong == []


@pytest.mark.shared
@pytest.mark.parametrize(("kind", "cell"), [("slt", "pmml"), ("opt", "cmml")])
def test_parity_with_the_reference(shared, kind, cell):
    with gzip.open(shared / "formula" / "parity_public.jsonl.gz", "rt") as lines:
        rows = [row for row in map(json.loads, lines) if row.get(cell)]
    wrong = []
    for row in rows:
        if answer(kind, row[cell]) != wanted(
            {"string": None, "tuples": None} | row[kind]
        ):
            wrong.append(row["id"])
    assert len(rows) > 800
    assert wrong == []


TOPICS = [
    ("slt", "ARQMath-1/Formula_topics_slt_V2.0.tsv"),
    ("opt", "ARQMath-1/Formula_topics_opt_V2.0.tsv"),
    ("slt", "ARQMath-2/Topics_2021_Formulas_SLT_V1.1.tsv"),
    ("opt", "ARQMath-2/Topics_2021_Formulas_OPT_V1.1.tsv"),
]


@pytest.mark.shared
@pytest.mark.parametrize(("kind", "path"), TOPICS)
def test_every_topic_formula_has_a_tree(shared, kind, path):
    file = shared / "collection" / "topics" / path
    with file.open(encoding="utf-8", newline="") as lines:
        cells = [row[4] for row in csv.reader(lines, delimiter="\t")][1:]
    for cell in filter(str.strip, cells):
        tree = READERS[kind](cell)
        assert tree is not None, cell
        assert FormulaTree.from_string(tree.to_string(), kind) == tree
