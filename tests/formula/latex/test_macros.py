"""Macros of documents and of formulas: definitions, arguments, expansion."""

import pytest

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.latex.limits import LimitError
from mathamr_kedro.formula.latex.macros import (
    LatexArguments,
    LatexMacro,
    LatexMacros,
    expand_macros,
    read_definition,
)
from tests.conftest import LONG, ends


def macros_of(*definitions):
    macros = LatexMacros()
    for definition in definitions:
        command = definition[1:].split("{")[0].split("\\")[0].rstrip("*")
        read = LatexArguments(definition)
        found = read_definition(command, definition, len(command) + 1, read)
        macro, end = found
        assert macro is not None
        assert end == len(definition)
        macros.add(macro)
    return macros


@pytest.mark.parametrize(
    ("definition", "used", "meant"),
    [
        (r"\newcommand{\R}{\mathbb{R}}", r"x \in \R^n", r"x \in \mathbb{R}^n"),
        (r"\newcommand\R{\mathbb R}", r"x_\R", r"x_{\mathbb R}"),
        (r"\newcommand*{\p}[2]{(#1, #2)}", r"\p{a} b", "(a, b)"),
        (r"\newcommand{\p}[2][z]{(#1, #2)}", r"\p{b} \p[x]{y}", "(z, b) (x, y)"),
        (r"\def\p#1#2{#2#1}", r"\p{a}{bc}", "bca"),
        (r"\DeclareMathOperator{\Hom}{Hom}", r"\Hom(A)", r"\operatorname{Hom}(A)"),
        (r"\DeclareMathOperator*{\am}{am}", r"\am_x", r"\operatorname*{am}_x"),
        (r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}", r"\abs*{x}",
         r"\lvert x \rvert"),
        (r"\let\eps=\varepsilon", r"\eps x", r"\varepsilon x"),
        (r"\newcommand{\k}{k}", r"\otimes\k x", r"\otimes k x"),
        (r"\newcommand{\e}{\varepsilon}", r"{\e}x\e", r"{\varepsilon}x\varepsilon"),
        (r"\newcommand{\be}{\begin{equation}}", r"\be x", r"\begin{equation} x"),
    ],
)  # fmt: skip
def test_macro_stands_for_its_body(definition, used, meant):
    assert macros_of(definition).expand_text(used) == meant


def test_macros_may_use_macros_and_be_defined_anew():
    macros = macros_of(r"\newcommand{\a}{A}", r"\newcommand{\b}[1]{\a#1\a}")
    assert macros.expand_text(r"\b{\a x}") == "AA xA"
    macros.add(LatexMacro("a", "B"))
    assert macros.expand_text(r"\b{x}") == "B xB"


def test_an_old_meaning_kept_by_let_is_no_circle():
    macros = macros_of(r"\let\oldphi\phi", r"\renewcommand{\phi}{\oldphi'}")
    assert macros.expand_text(r"\phi") == r"\phi'"


def test_redefinition_of_an_operator_by_its_own_name_changes_nothing():
    macros = macros_of(r"\DeclareMathOperator{\lim}{lim}")
    assert macros.expand_text(r"\lim_n") == r"\lim_n"


def test_structure_is_never_redefined():
    macros = macros_of(r"\renewcommand{\section}[1]{\textbf{#1}}")
    assert macros.expand_text(r"\section{A}") == r"\section{A}"


@pytest.mark.parametrize(
    "definitions",
    [
        [r"\def\a{\a}"],
        [r"\def\a{x\b}", r"\def\b{y\a}"],
        [rf"\def\{x}{{\{y}\{y}}}" for x, y in zip("abcdefghijklmnopq",
                                                  "bcdefghijklmnopqr", strict=True)],
        [r"\newcommand{\a}[1]{\a{#1#1}}"],
    ],
)  # fmt: skip
def test_macro_without_an_end_is_refused_once_and_left(definitions):
    macros, told = macros_of(*definitions), 0
    with pytest.raises(MathAMRError, match=r"the macro \\\w (does not|becomes)"):
        macros.expand("a", r"\a{x}", 2)
    for _ in range(20):
        try:
            macros.expand("a", r"\a{x}", 2)
        except MathAMRError:
            told += 1
    assert told < len(definitions)


def test_a_macro_without_an_end_that_is_defined_anew_is_expanded():
    macros = macros_of(r"\def\a{\a}")
    with pytest.raises(MathAMRError, match=r"the macro \\a does not"):
        macros.expand("a", r"\a", 2)
    assert macros.expand("a", r"\a", 2) is None
    macros.add(LatexMacro("a", "A"))
    assert macros.expand("a", r"\a", 2) == ("A", 2)


def chain_of(length):
    """Return macros of which each stands for the next, and the last for an x."""
    names = ["m" * n for n in range(1, length + 1)]
    macros = LatexMacros()
    for name, following in zip(names, [*names[1:], ""], strict=True):
        macros.add(LatexMacro(name, f"\\{following}" if following else "x"))
    return macros


def test_macros_go_sixty_deep_and_no_deeper():
    assert chain_of(61).expand("m", r"\m", 2) == ("x", 2)
    assert chain_of(61).expand_text(r"\m") == "x"
    with pytest.raises(MathAMRError, match=r"\\m{62} does not .* 60 deep"):
        chain_of(62).expand("m", r"\m", 2)
    assert chain_of(62).expand_text(r"\m") == r"\m"


def test_as_many_expansions_as_allowed_are_made():
    macros = macros_of(r"\newcommand{\a}{A}")
    assert macros.expand_text(r"\a" * 10_000) == "A" * 10_000
    assert macros.expand_text(r"\a" * 10_001) == r"\a" * 10_001


@pytest.mark.parametrize("body", ["#1", r"\relax#1", r"#1\b"])
def test_macros_become_as_long_as_allowed(body):
    macros = macros_of(r"\newcommand{\b}{}")
    macros.add(LatexMacro("a", body, 1))
    room = 200_000 - len(body.replace("#1", ""))
    most, more = ("(" * n for n in (room, room + 1))
    expanded, _ = macros.expand("a", rf"\a{{{most}}}", 2)
    assert expanded == body.replace("#1", most).replace(r"\b", "")
    with pytest.raises(MathAMRError, match=r"\\a becomes longer than 200000"):
        macros.expand("a", rf"\a{{{more}}}", 2)


def test_a_text_that_becomes_too_long_is_left():
    macros = macros_of(r"\newcommand{\a}{((((}")
    macros.add(LatexMacro("long", "(" * 100_000))
    assert macros.expand_text(r"\long\long") == "(" * 200_000
    assert macros.expand_text(r"(\long\long") == r"(\long\long"
    assert macros.expand_text(r"\long\long\a") == r"\long\long\a"


def test_a_provided_macro_holds_unless_there_is_one():
    macros = macros_of(r"\newcommand{\a}{A}")
    macros.add(LatexMacro("a", "B", is_provided=True))
    macros.add(LatexMacro("b", "B", is_provided=True))
    assert macros.expand_text(r"\a\b") == "AB"
    assert "a" in macros and "c" not in macros


def test_another_name_of_a_macro_keeps_its_meaning():
    macros = macros_of(r"\newcommand{\a}[1]{<#1>}", r"\let\b=\a")
    macros.add(LatexMacro("a", "A"))
    assert macros.expand_text(r"\b{x}\a") == "<x>A"


def test_two_macros_side_by_side_stay_apart():
    macros = macros_of(r"\newcommand{\e}{\varepsilon}", r"\newcommand{\k}{k}")
    assert macros.expand_text(r"\e\k") == r"\varepsilon k"


def test_arguments_that_are_missing_are_empty():
    macros = macros_of(r"\newcommand{\p}[2]{(#1|#2|#3)}")
    assert macros.expand("p", r"\p{a}", 2) == ("(a||)", 5)


def test_arguments_and_names_stand_apart_from_commands():
    macros = macros_of(r"\newcommand{\a}[1]{\pi#1}", r"\newcommand{\b}{{xy}}")
    assert macros.expand_text(r"\a{x}\a{2}") == r"\pi x\pi2"
    assert macros.expand_text(r"x_\b x^\b") == "x_{xy} x^{xy}"


def test_parameters_between_marks_are_not_read():
    text = r"\a(#1){<#1>} rest"
    assert read_definition("def", text, 0, LatexArguments(text)) == (None, 12)


def test_arguments_without_an_end_are_none():
    read = LatexArguments(r"{a [b {c} ] {")
    assert read.read_group(0) is None
    assert read.read_option(3) == ("b {c} ", 11)
    assert read.read_group(12) is None


@pytest.mark.parametrize("piece", ["{", "[", "{[", "[{", r"\a{", r"\a[", "]}"])
@ends
def test_open_braces_cost_no_more_than_others(piece):
    text = piece * (LONG // len(piece))
    read = LatexArguments(text)
    for place in range(0, len(text), 5):
        assert read.read_group(place) is None
        assert read.read_option(place) is None


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        (r"\newcommand{\R}{\mathbb{R}}x\in\R", r"x\in\mathbb{R}"),
        (r"\newcommand\R{Q}\R", "Q"),
        (r"\newcommand*{\R}{Q}\R", "Q"),
        (r"\newcommand{\f}[2]{f(#1,#2)}\f{a}b", "f(a,b)"),
        (r"\newcommand{\f}[2][x]{f(#1,#2)}\f{a}\f[y]b", "f(x,a)f(y,b)"),
        (r"\def\f#1{f(#1)}\f{\f x}", "f(f(x))"),
        (r"\let\a=\alpha\a", r"\alpha"),
        (r"\renewcommand{\phi}{\varphi}\phi", r"\varphi"),
        (r"\DeclareMathOperator{\lcm}{lcm}\lcm", r"\operatorname{lcm}"),
        (r"\DeclareMathOperator*{\am}{am}\am", r"\operatorname*{am}"),
        (r"\def\a{x}\def\b{\a\a}\b", "xx"),
        (r"\def\a{\def\b{y}}\a\b", "y"),
    ],
)
def test_formula_may_define_macros_for_itself(written, expanded):
    assert expand_macros(written, {}) == expanded


def test_formula_without_definitions_is_left_as_it_is():
    assert expand_macros(r"\R x", {}) == r"\R x"


@pytest.mark.parametrize(
    "latex",
    [r"\newcommand", r"\newcommand{\a}", r"\def", r"\def\a", r"\let", r"\let\a"],
)
def test_unfinished_definition_is_harmless(latex):
    assert "internal_error" not in trees_from_latex(latex).problems


def test_definition_of_no_command_is_a_problem():
    assert trees_from_latex(r"\def{x}y").problems == {"bad_definition": 1}


@pytest.mark.parametrize(
    "latex", [r"\def\a{x\a}\a", r"\def\a{xxxxxxxxx}" + 3000 * r"\a"]
)
def test_formula_that_grows_without_an_end_is_refused(latex):
    with pytest.raises(LimitError, match="expansion_limit"):
        expand_macros(latex, {})
