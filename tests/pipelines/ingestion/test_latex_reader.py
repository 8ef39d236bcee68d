"""Formulas without MathML are read by the reader that the parameters name."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula import FormulaTree, FormulaTrees, tree_rows
from mathamr_kedro.pipelines.ingestion import parameters
from mathamr_kedro.project import open_catalog

LATEXML = {
    "ingestion": {
        "formula_trees": {"latex_reader": "latexml"},
        "workers": {"workers": 1},  # in this process, where LaTeXML is pretended
    }
}


def pretend(formulas):
    """Give every formula the same tree."""
    tree = FormulaTree.from_string("[V!latexml]", "slt")
    return [FormulaTrees(tree, tree, {}) for _ in formulas]


@pytest.fixture
def sources(ingest, monkeypatch):
    """Runs the stage and returns the checksum of the trees and their sources."""
    monkeypatch.setattr(tree_rows, "trees_from_latexml", pretend)
    monkeypatch.setattr(parameters, "require_latexml", lambda: None)

    def run(**changes):
        store = ingest(**changes).load("formula_trees")
        return store.made_from, store.describe()["sources"]

    return run


def test_latexml_reads_formulas_without_mathml(sources):
    _, found = sources(**LATEXML)
    # the formulas of the index have MathML, though of one branch alone
    assert found == {"opt_cmml": 2, "opt_latexml": 2, "slt_latex": 2, "slt_latexml": 2}


def test_another_reader_makes_the_trees_anew(sources):
    builtin, found = sources()
    assert "slt_latexml" not in found
    assert sources(**LATEXML)[0] != builtin


def test_latexml_is_looked_for_where_it_is_to_read(monkeypatch):
    looked_for = []
    monkeypatch.setattr(
        parameters, "require_latexml", lambda: looked_for.append("latexml")
    )
    values = open_catalog("demo").load("params:ingestion")
    for reader, found in (("builtin", []), ("latexml", ["latexml"])):
        trees = values["formula_trees"] | {"latex_reader": reader}
        config = parameters.IngestionConfig.read({**values, "formula_trees": trees})
        config.check_machine()
        assert looked_for == found
