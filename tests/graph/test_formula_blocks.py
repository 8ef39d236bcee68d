"""Graphs of formulas that are in no graph of a text."""

from __future__ import annotations

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.graph import (
    FORMULA_TYPE,
    BuildFormulaBlocks,
    GraphVariant,
    find_owner,
    read_math_graph,
    split_entry,
)

FORMULAS = [
    FormulaInstance("51", "70", "1", "x^2", "5"),
    FormulaInstance("52", "71", "1", r"\frac{a}{b}"),
]

AMR = "(m / multi-sentence :snt1 (f / FORMULA_0))"


def test_a_formula_alone_is_read_as_a_query_for_it_is():
    (parsed,) = ParseTexts()(["FORMULA_0"])
    assert read_math_graph(parsed.graph) == read_math_graph(AMR)


def test_every_formula_has_a_graph_that_names_post_comment_and_formula():
    (block,) = BuildFormulaBlocks(None, GraphVariant())([FORMULAS])
    assert [split_entry(key) for key in block.keys] == [
        ("1", "5", "51"),
        ("1", "", "52"),
    ]
    assert [find_owner(key) for key in block.keys] == ["1", "1"]
    assert block.post_types == [FORMULA_TYPE] * 2
    assert block.formulas == [[("51", "70")], [("52", "71")]]
    assert not block.failures
    first, second = (graph for _, graph in block.graphs())
    # x^2: 3 nodes of the operator tree and 2 of the layout tree below the formula
    assert first.member_count.tolist() == [5, 1, 3]
    assert second.num_nodes > first.num_content


def test_no_formulas_make_an_empty_block():
    (block,) = BuildFormulaBlocks(None, GraphVariant())([[]])
    assert block.keys == []
    assert list(block.graphs()) == []
