"""Terms of texts, LaTeX and trees."""

from __future__ import annotations

from mathamr_kedro.base.records import FormulaMention, restore_latex
from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.text.terms import (
    list_ngrams,
    list_patterns,
    list_tuples,
    measure_math_share,
    split_latex,
    split_text,
)

TEXT = "Prove FORMULA_0 and FORMULA_1."
MAP = (
    FormulaMention("FORMULA_1", "12", "3", r"a_{n+1}", 20, 29),
    FormulaMention("FORMULA_0", "11", "2", r"\sqrt 2", 6, 15),
)


def test_formulas_stand_in_their_places_whatever_their_order():
    assert split_text(TEXT, MAP) == [
        "prove", r"$\sqrt", "$2", "and", "$a", "$_", "$n", "$+", "$1",
    ]  # fmt: skip
    assert restore_latex(TEXT, MAP) == r"Prove $\sqrt 2$ and $a_{n+1}$."


def test_placing_commands_and_braces_say_nothing():
    assert split_latex(r"\left\{ \displaystyle x \, \right\} & 3.14 \\") == [
        r"$\{", "$x", r"$\}", "$3.14",
    ]  # fmt: skip


def test_tuples_of_both_trees_are_told_apart():
    slt = FormulaTree.from_string("[V!x,a[N!2]]", "slt")
    opt = FormulaTree.from_string("[O!SUP,0[V!x],1[N!2]]", "opt")
    trees = FormulaTrees(slt, opt, {})
    terms = list_tuples(trees)
    assert "slt V!x N!2 a" in terms
    assert "opt O!SUP V!x 0" in terms
    assert not list_tuples(FormulaTrees(None, None, {}))


def test_patterns_are_the_tuples_and_their_kinds_each_once():
    tree = FormulaTree.from_string("[V!x[+[V!x[+[N!1]]]],a[N!2]]", "slt")
    slow = []
    for first, second, path, _ in tree.tuples(window=3):
        slow.append(f"{first} {second} {path}")
        names = [
            label[0] + "!" if label.startswith(("V!", "N!")) else label
            for label in (first, second)
        ]
        slow.append(f"{names[0]} {names[1]} {path}")
    assert list_patterns(tree) == sorted(set(slow))
    assert "V! V! nn" in list_patterns(tree)
    assert "V! V! nn" not in list_patterns(tree, window=1)
    assert list_patterns(None) == []


def test_formulas_of_other_symbols_share_patterns_and_no_tuples():
    ours = FormulaTree.from_string("[V!x,a[N!2]]", "slt")
    theirs = FormulaTree.from_string("[V!y,a[N!3]]", "slt")
    assert "V! N! a" in {*list_patterns(ours)} & {*list_patterns(theirs)}
    shared = {*list_tuples(FormulaTrees(ours, None, {}))} & {
        *list_tuples(FormulaTrees(theirs, None, {}))
    }
    assert shared == set()


def test_ngrams_do_not_count_repetitions():
    assert list_ngrams(r"\frac{x}{x}", 3) == [
        "$\\frac", "$\\frac $x", "$\\frac $x $x", "$x", "$x $x",
    ]  # fmt: skip
    assert list_ngrams("", 3) == []


def test_a_text_without_terms_has_no_share_of_formulas():
    assert measure_math_share("... !", ()) == 0.0


def test_tuples_join_neighbours_unless_more_are_asked_for():
    slt = FormulaTree.from_string("[V!x[+[V!y]]]", "slt")
    near = list_tuples(FormulaTrees(slt, None, {}))
    assert "slt V!x + n" in near and "slt V!x V!y nn" not in near
    assert "slt V!x V!y nn" in list_tuples(FormulaTrees(slt, None, {}), window=2)


def test_runs_have_three_tokens_unless_more_are_asked_for():
    assert "$a $b $c" in list_ngrams("abcd")
    assert "$a $b $c $d" not in list_ngrams("abcd")
    assert "$a $b $c $d" in list_ngrams("abcd", 4)
