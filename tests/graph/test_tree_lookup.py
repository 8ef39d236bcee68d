"""Trees of formulas as lines of a graph, from the store or from LaTeX."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.formula import FormulaTree, TreeRow, TreeStore
from mathamr_kedro.graph.fusion import (
    NO_TREES,
    StoredTrees,
    TreeLines,
    lay_out_tree,
)


def test_a_layout_tree_keeps_its_edges_and_quotes_its_labels() -> None:
    tree = FormulaTree.from_string("[V!x[/[V!y]],a[N!2]]", "slt")
    assert lay_out_tree(tree) == TreeLines(
        ("V!x", '"/"', "V!y", "N!2"), (0, 1, 0), ("n", "n", "a")
    )


def test_operands_are_numbered_and_those_of_unordered_operators_are_equal() -> None:
    tree = FormulaTree.from_string("[O!divide,0[U!plus,0[V!a],1[V!b]],1[N!2]]", "opt")
    assert lay_out_tree(tree).roles == ("0", "0", "0", "1")


def test_the_eleventh_operand_has_number_ten() -> None:
    operands = ",".join(f"{edge}[V!x]" for edge in "0123456789A")
    tree = FormulaTree.from_string(f"[O!list,{operands}]", "opt")
    assert lay_out_tree(tree).roles[-1] == "10"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "trees.sqlite"
    with TreeStore(path) as trees:
        row = TreeRow("2618", "4097", "[V!x,a[N!2]]", "[O!SUP,0[V!x],1[N!2]]")
        trees.add_batch("all", [row])
    return path


def test_the_store_is_asked_by_visual_id(store: Path) -> None:
    found = StoredTrees(store)("4097", "not used")
    assert found.opt == TreeLines(("O!SUP", "V!x", "N!2"), (0, 0), ("0", "1"))
    assert found.slt == TreeLines(("V!x", "N!2"), (0,), ("a",))


def test_latex_is_read_where_the_store_has_nothing(store: Path) -> None:
    found = StoredTrees(store)("xabc", "y+1")
    assert found.slt == TreeLines(("V!y", "+", "N!1"), (0, 1), ("n", "n"))
    assert StoredTrees(None)("xabc", "y+1") == found


def test_an_empty_formula_has_no_trees(store: Path) -> None:
    assert StoredTrees(store)("xabc", "  ") == NO_TREES


def test_formulas_of_one_visual_id_without_trees_are_read_each_by_its_latex(store):
    """The lab gives one visual id to formulas whose drawing failed alike."""
    lookup = StoredTrees(store)
    found = [lookup("xabc", latex) for latex in (r"\varkappa", r"\Z", r"\varkappa")]
    assert found == [
        StoredTrees(None)("", r) for r in (r"\varkappa", r"\Z", r"\varkappa")
    ]
    assert found[0] != found[1]
