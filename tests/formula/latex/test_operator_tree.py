from __future__ import annotations

from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.nodes import App
from mathamr_kedro.formula.latex.operator_tree import build_opt
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol


def _write(latex):
    return trees_from_latex(latex).opt.to_string()


def test_identifier_as_operator_is_a_function():
    assert _write(r"a\to b") == "[F!→,0[V!𝑎],1[V!𝑏]]"


def test_operator_with_scripts_is_a_compound():
    assert _write(r"\log_2 n") == "[+!F!log,0[O!SUB,0[F!log],1[N!2]],1[V!𝑛]]"


def test_a_fenced_identifier_as_operator_is_a_function():
    assert _write(r"x\mathrel{(I)}y") == "[F!𝐼,0[V!𝑥],1[V!𝑦]]"
    assert _write(r"{}^{(4)}") == "[N!4]"


def test_later_relations_keep_only_their_right_side():
    assert _write("a<b=c") == "[U!and,0[O!lt,0[V!𝑎],1[V!𝑏]],1[U!eq,0[V!𝑐]]]"


def test_relations_to_the_left_are_turned_around():
    assert _write(r"A\supset B") == "[O!subset,0[V!𝐵],1[V!𝐴]]"


def test_integral_without_bounds_has_blank_ones():
    assert _write(r"\int x") == "[O!int,0[V!𝑥],1[W!],2[W!]]"


def test_short_rows_of_a_table_are_filled_with_errors():
    latex = r"\begin{pmatrix}a&b\\c\end{pmatrix}"

    assert _write(latex) == ("[M!M-2x2,0[M!R!,0[V!𝑎],1[V!𝑏]],1[M!R!,0[V!𝑐],1[E!]]]")


def test_operator_of_very_many_operands_is_split():
    app = App(Symbol("ADDOP", "+", "plus"), [SYMBOLS["a"]] * 1100)

    root = build_opt(app)

    assert [len(half.edges) for half in root.edges.values()] == [2, 2]
    assert sum(
        len(part.edges) for half in root.edges.values() for part in half.edges.values()
    ) == (1100)


def test_long_sum_of_changing_signs_is_no_deep_recursion():
    assert trees_from_latex("a" + "-b+c" * 2000).opt.depth == 4001
