"""Rows: which source each tree comes from."""

from __future__ import annotations

from collections import Counter

import pytest

import mathamr_kedro.formula
from mathamr_kedro.base.records import Formula
from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.formula.tree_store import (
    TreeRow,
    TreeStore,
    write_deviations,
)
from tests.formula.batches import build_batch

SLT = FormulaTree.from_string("[V!latex]", "slt")
OPT = FormulaTree.from_string("[V!latex]", "opt")
PMML, CMML = "<math><mi>p</mi></math>", "<math><ci>c</ci></math>"


def formula(latex="x", presentation="", content=""):
    return Formula("12", "3", "7", "question", None, "", latex, presentation, content)


@pytest.fixture
def asked(monkeypatch):
    """The LaTeX that was read; each is ``latex``."""
    asked = []

    def read(latex, mode):
        asked.append(latex)
        return FormulaTrees(SLT, OPT, {"from_latex": 1})

    monkeypatch.setitem(vars(mathamr_kedro.formula), "trees_from_latex", read)
    return asked


@pytest.mark.parametrize(
    ("presentation", "content", "sources"),
    [
        (PMML, CMML, ("pmml", "cmml")),
        (PMML, "", ("pmml", "latex")),
        ("", CMML, ("latex", "cmml")),
        ("", "", ("latex", "latex")),
        ("<math/>", "<math/>", ("latex", "latex")),
    ],
)
def test_each_tree_comes_from_its_best_source(presentation, content, sources, asked):
    row = TreeRow.build(formula("x", presentation, content))
    assert (row.slt_source, row.opt_source) == sources
    assert row.slt == ("[V!p]" if sources[0] == "pmml" else "[V!latex]")
    assert row.opt == ("[V!c]" if sources[1] == "cmml" else "[V!latex]")
    assert (row.formula_id, row.visual_id) == ("12", "7")


def test_latex_is_not_read_when_both_cells_are_there(asked):
    assert TreeRow.build(formula("x", PMML, CMML)).deviations == ""
    assert asked == []


def test_formula_without_anything_has_no_trees():
    row = TreeRow.build(formula(latex=" "))
    assert (row.slt, row.opt, row.slt_source, row.opt_source) == (None, None, "", "")


@pytest.mark.parametrize(
    ("latex", "name"), [(r"\text{Supp}(s)", "T!Supp"), (r"\Spec(R)", "E!Spec")]
)
def test_names_stay_in_trees_of_latex(latex, name):
    assert f"0[{name}]" in TreeRow.build(formula(latex)).opt


def test_cells_are_spelt_as_arqmath_has_them():
    row = TreeRow.build(formula("x", "<math><mo>−</mo></math>", CMML))
    assert row.slt == "[-]"


def test_bracket_strings_are_taken_as_they_are():
    row = TreeRow.build(formula("x", "[V!x,a[N!2]]", "[O!SUP,0[V!x],1[N!2]]"))
    assert (row.slt, row.opt) == ("[V!x,a[N!2]]", "[O!SUP,0[V!x],1[N!2]]")
    assert (row.slt_source, row.opt_source, row.deviations) == (*["brackets"] * 2, "")


@pytest.mark.parametrize("cut", ["[V!x,a[N!2]", "[V!x,a[N!"])
def test_broken_bracket_string_leaves_the_latex(cut, asked):
    row = TreeRow.build(formula("x", cut, "[V!x][V!y]"))
    assert (row.slt_source, row.opt_source) == ("latex", "latex")
    assert row.deviations == "from_latex=1 unreadable_brackets=2"


def test_row_gives_the_trees_back():
    row = TreeRow("1", "2", "[V!x,a[N!2]]", None, "pmml", "", "empty=2")
    trees = row.trees()
    assert trees.slt == FormulaTree.from_string("[V!x,a[N!2]]")
    assert trees.opt is None
    assert trees.problems == {"empty": 2}


def test_deviations_survive_their_line():
    counts = Counter({"unknown_tag:a=b": 3, "empty": 1, "odd reason": 2})
    line = write_deviations(counts)
    assert line == "empty=1 odd_reason=2 unknown_tag:a=b=3"
    row = TreeRow("1", "1", None, None, deviations=line)
    assert row.count_deviations()["unknown_tag:a=b"] == 3


def indexed(formula_id, visual_id, **cells):
    return formula(**cells)._replace(formula_id=formula_id, visual_id=visual_id)


def fill(store, name, formulas):
    """Add the trees of formulas to a store; return the ids that were built from."""
    batch = build_batch(formulas, store.missing_visuals)
    store.add_batch(name, batch)
    return [row.formula_id for row in batch]


@pytest.fixture
def store(tmp_path):
    with TreeStore(tmp_path / "trees.sqlite") as opened:
        yield opened


def test_each_visual_formula_is_built_once(store):
    first = [indexed("1", "a"), indexed("2", "a"), indexed("3", "b")]
    assert fill(store, "first", first) == ["1", "3"]
    assert fill(store, "second", [indexed("4", "b"), indexed("5", "c")]) == ["5"]
    assert store.row("b").formula_id == "3"
    assert len(store) == 3


def test_empty_batch_is_finished_too(store):
    assert fill(store, "first", []) == []
    assert store.finished_batches() == {"first"}
