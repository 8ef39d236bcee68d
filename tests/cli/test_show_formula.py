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


SHARED = (
    "OPT with shared subtrees\n0 U!plus  0→1 0→1\n1 O!SUP   0→2 1→3\n2 V!𝑥\n3 N!2\n\n"
)


def test_unknown_form_names_the_known_ones(run):
    result = run("x", "--form", "graph")
    assert result.exit_code == 2
    for form in ("trees", "backward", "shared", "substitution", "linear", "tuples"):
        assert f"'{form}'" in result.stderr


def test_backward_edges_of_both_trees(run):
    assert run("x^2", "--form", "backward").stdout == (
        "SLT with backward edges (SLG)\n0 V!x  a→1\n1 N!2  a*→0\n\n"
        "OPT with backward edges (OPG)\n"
        "0 O!SUP  0→1 1→2\n1 V!𝑥    0*→0\n2 N!2    1*→0\n\n"
    )


def test_equal_subtrees_are_shared(run):
    assert run("x^2+x^2", "--form", "shared").stdout == SHARED


@pytest.mark.parametrize("order", [1, 2, 3])
def test_substitution_stands_beside_its_graph(run, order):
    options = ("--form", "substitution", "--order", str(order))
    outputs = {run("x^2+x^2", *options, "--seed", str(s)).stdout for s in range(20)}
    assert all(output.startswith(SHARED) for output in outputs)
    afters = [output[len(SHARED) :] for output in outputs]
    assert any("?" in after for after in afters)
    assert all(" O!SUP" not in after for after in afters if order > 1 and "?" in after)


def test_seed_decides_the_substitution(run):
    options = ("--form", "substitution", "--seed", "4")
    first = run("x^2+y", *options).stdout
    assert "After substitution (seed 4)" in first
    assert run("x^2+y", *options).stdout == first


def test_substitution_may_replace_nothing(run):
    outputs = [
        run("x", "--form", "substitution", "--seed", str(seed)).stdout
        for seed in range(10)
    ]
    assert any("nothing was replaced" in output for output in outputs)


def test_linear_forms_of_the_operator_tree(run):
    assert run("2x-3", "--form", "linear").stdout == (
        "AMR text of the OPT\n"
        "(O1 / minus :op0(U1 / times :op0(N1 / 2) :op0(V1 / 𝑥)) :op1(N2 / 3))\n\n"
        "Depth first\nminus times 𝑥 2 3\n\n"
    )


def test_linear_form_reads_content_as_published(run):
    markup = '<apply><times/><csymbol cd="latexml">differential-d</csymbol><ci>x</ci>'
    result = run("--mathml", f"{markup}</apply>", "--form", "linear")
    assert "times x d" in result.stdout


def test_tuples_with_the_tokens_of_their_words(run):
    lines = run("x^{12}", "--form", "tuples").stdout.splitlines()
    assert lines[:3] == [
        "Tuples of the SLT",
        "first  second  path  from root  tokens",
        "V!x    N!12    a     -          V! x N! 1 2 a",
    ]


@pytest.mark.parametrize("form", ["backward", "shared", "substitution", "linear"])
def test_missing_tree_has_no_form(run, form):
    assert "no tree" in run("", "--form", form).stdout
