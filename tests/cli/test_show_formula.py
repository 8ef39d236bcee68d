"""``mathamr show formula``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import mathamr_kedro.formula
from mathamr_kedro.cli import group
from mathamr_kedro.formula import FormulaTree, FormulaTrees

FRACTION = "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"


@pytest.fixture
def run():
    return lambda *args, **options: CliRunner().invoke(
        group, ["show", "formula", *args], **options
    )


@pytest.fixture
def reader(monkeypatch):
    """A LaTeX reader that knows one formula."""

    def read(latex, mode):
        return FormulaTrees(
            FormulaTree.from_string("[V!x,a[N!2]]"),
            FormulaTree.from_string("[O!SUP,0[V!x],1[N!2]]"),
            {"undefined:foo": 1} if "foo" in latex else {},
        )

    monkeypatch.setitem(vars(mathamr_kedro.formula), "trees_from_latex", read)


def test_both_trees_of_latex_are_drawn(run, reader):
    result = run("x^2")
    assert result.exit_code == 0
    assert result.stdout == (
        "Symbol Layout Tree (SLT)\nV!x\n└─a─ N!2\n\n"
        "Operator Tree (OPT)\nO!SUP\n├─0─ V!x\n└─1─ N!2\n\n"
    )


def test_names_that_the_published_trees_lose_are_shown(run):
    shown = run(r"\text{Supp}(\Spec R)").output
    assert "─ T!Supp" in shown
    assert "─ E!Spec" in shown


def test_deviations_are_told(run, reader):
    assert "undefined:foo (1)" in run(r"\foo").output


def test_strings_on_request(run, reader):
    assert "[O!SUP,0[V!x],1[N!2]]" in run("x^2", "--strings").output


def test_presentation_alone_has_one_tree(run):
    result = run("--mathml", FRACTION)
    assert "├─o─ V!a" in result.output
    assert "Operator Tree (OPT)\nno tree" in result.output


def test_content_alone_has_one_tree(run):
    result = run("--mathml", "<apply><plus/><ci>a</ci><cn>1</cn></apply>")
    assert "(SLT)\nno tree" in result.output
    assert "U!plus\n├─0─ V!a" in result.output


def test_formula_from_standard_input(run):
    assert "O!divide" in run("--mathml", "-", input=FRACTION).output


def test_svg_is_written(run, tmp_path):
    target = tmp_path / "new" / "a.svg"
    result = run("--mathml", FRACTION, "--svg", str(target))
    assert result.exit_code == 0
    assert target.read_text().startswith("<svg")


def test_nothing_to_draw_is_told(run):
    result = run("--mathml", "<math/>")
    assert result.exit_code == 0
    assert "deviation: empty (1)" in result.output
