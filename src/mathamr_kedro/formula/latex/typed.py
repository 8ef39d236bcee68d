r"""Typed queries as LaTeX: formulas without dollars, Unicode, everyday macros.

::

    show that ∑ 1/n² = π²/6     show that $\sum 1/n^{2} = \pi^{2}/6$
    every $x\in\RR$             every $x\in\mathbb{R}$
    is $\sqrt p irrational      is $\sqrt p$ irrational
    is sqrt(p) <= pi            is $\sqrt{p} \le \pi$
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from mathamr_kedro.formula.latex.symbols import COMMANDS

_MACROS = {
    "RR": r"\mathbb{R}", "QQ": r"\mathbb{Q}", "ZZ": r"\mathbb{Z}",
    "CC": r"\mathbb{C}", "NN": r"\mathbb{N}", "FF": r"\mathbb{F}",
    "R": r"\mathbb{R}", "Q": r"\mathbb{Q}", "Z": r"\mathbb{Z}", "C": r"\mathbb{C}",
    "N": r"\mathbb{N}", "eps": r"\varepsilon", "dd": r"\mathrm{d}",
}  # fmt: skip
"""Common macros of preambles; none of them is a command of LaTeX."""
_ENCLOSED = {"norm": (r"\lVert ", r" \rVert"), "abs": ("|", "|")}
_MACRO = re.compile(rf"\\({'|'.join(_MACROS)})(?![A-Za-z])")
_ENCLOSING = re.compile(r"\\(norm|abs)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_ROOT = re.compile(r"(?:√|(?<![\\A-Za-z])sqrt)\s*(?:\(((?:[^()]|\([^()]*\))*)\)|(\w+))")
_PLAIN = {
    "<=>": r"\iff ", "<=": r"\le ", ">=": r"\ge ", " !=": r" \ne ", "->": r"\to ",
    "=>": r"\Rightarrow ", "pi": r"\pi", "infinity": r"\infty",
}  # fmt: skip
"""Spellings of keyboards; ``n!=1`` is about a factorial."""
_PLAINLY = re.compile(
    r"(?<![{@<>=-])(?:<=>|[<>]=|[-=]>)(?![<>=])| !="
    r"|(?<![\\A-Za-z])(?:pi|infinity)(?![A-Za-z])"
)
_BRACKETED = re.compile(r"([\^_])(\([^()]*\))")
_DELIMITED = re.compile(
    r"\$\$.*?\$\$|\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]"
    r"|\\begin\s*\{(\w+\*?)\}.*?\\end\s*\{\1\}",
    re.DOTALL,
)
_UNCLOSED = re.compile(r"(?<!\\)\$(?!\d)")
_WORD = re.compile(
    r"(?:sqrt\s(?=\d))?(?:\{(?:[^{}]|\{[^{}]*\})*\}|\S)+?(?=[.,;:?!]*(?:\s|$))"
)
_OPERATOR = re.compile(r"[=<>+*/|-]|[^\w\s]|[<>!]=|<?=>|->")
_COMMAND = re.compile(r"\\[A-Za-z]+|[^\w\s]")
_ATOM = re.compile(r"\(*-?(?:\d+(?:\.\d+)?|\d*(?:pi|infinity)|[A-Za-z])\)*")
_MATHEMATICAL = re.compile(
    r"\\[A-Za-z]|(?:(?<![A-Za-z_])(?:[A-Za-z]|pi)|[)}\]])[\^_][\w{(\\+-]|\d\^|\w[=<>]"
    r"|[=<>]\w|\b(?!(?i:n/a|w/o|i/o)\b)(?:\d*pi|[A-Za-z0-9])[+*/](?:\d*pi|[A-Za-z0-9(])\b"
    r"|\b[A-Za-z]\([A-Za-z0-9]\)|^d[stuvxyz]$|\bsqrt\s?[(\d]"
)
_RUN = re.compile(r"[MCOA]+")
_EQUATION = re.compile(r"A(?:[=<>+]|[<>!]=|<?=>|->)A")


def write_latex(formula: str) -> str:
    r"""Return a formula with commands for Unicode and everyday macros.

    >>> write_latex(r"x² ≤ \norm{y_n}, y ∈ \RR")
    'x^{2} \\le  \\lVert y_n \\rVert, y \\in  \\mathbb{R}'
    """
    formula = _ENCLOSING.sub(lambda m: m[2].join(_ENCLOSED[m[1]]), formula)
    formula = _MACRO.sub(lambda m: _MACROS[m[1]], formula)
    formula = _ROOT.sub(lambda m: rf"\sqrt{{{m[1] or m[2]}}}", formula)
    formula = _BRACKETED.sub(r"\1{\2}", formula)
    formula = _PLAINLY.sub(lambda m: _PLAIN[m[0]], formula)
    if formula.isascii():
        return formula
    parts: list[str] = []
    script = ""
    for character in formula:
        kind, plain = _read_script(character)
        if script and kind != script:
            parts.append("}")
        if kind and kind != script:
            parts.append(f"{kind}{{")
        script = kind
        parts.append(plain if kind else _list_symbols().get(character, character))
    return "".join([*parts, "}" if script else ""])


def mark_formulas(text: str) -> str:
    r"""Return a text with all of its formulas between dollars.

    A word is mathematical if it has a command, a script, a relation or a symbol of
    mathematics; operators, numbers and single letters beside it belong to it.

    >>> mark_formulas("solve x^2 + 1 = 0, if x is a real number")
    'solve $x^2 + 1 = 0$, if x is a real number'
    """
    parts, end = [], 0
    for found in _DELIMITED.finditer(text):
        formula = re.sub(r"(?<=[a-z]) \$$", "$", write_latex(found[0]))  # closes it
        parts += [_mark(text[end : found.start()]), formula]
        end = found.end()
    return "".join([*parts, _mark(text[end:])])


def _mark(text: str) -> str:
    text = _UNCLOSED.sub("", text)
    if "$" in text:  # a price: what is meant is not known
        return text
    words = list(_WORD.finditer(text))
    kinds = "".join(map(_classify, (word[0] for word in words)))
    parts, end = [], 0
    for run in _RUN.finditer(kinds):
        first, last = _trim(kinds, *run.span())
        run_words = "".join(
            word[0] if kind == "O" else kind
            for word, kind in zip(words[first:last], kinds[first:last], strict=True)
        )
        if {"M", "C"} & {*run_words} or _EQUATION.search(run_words):
            start, stop = words[first].start(), words[last - 1].end()
            parts += [text[end:start], f"${write_latex(text[start:stop]).strip()}$"]
            end = stop
    return "".join([*parts, text[end:]])


def _classify(word: str) -> str:
    """Return M: mathematical, C: a symbol, O: an operator, A: an atom, W: a word."""
    if _MATHEMATICAL.search(word) or any(map(_is_symbol, word)):
        return "C" if _COMMAND.fullmatch(word) else "M"
    if _OPERATOR.fullmatch(word):
        return "O"
    return "A" if _ATOM.fullmatch(word) else "W"


def _trim(kinds: str, first: int, last: int) -> tuple[int, int]:
    """Leave out letters at the ends that no operator joins, and operators."""
    while last > first + 1 and (
        kinds[last - 1] == "O"
        or (kinds[last - 1] == "A" and kinds[last - 2] not in "CO")
    ):
        last -= 1
    while last > first + 1 and (
        kinds[first] == "O" or (kinds[first] == "A" and kinds[first + 1] not in "CO")
    ):
        first += 1
    return first, last


def _is_symbol(character: str) -> bool:
    if character.isascii():
        return False
    is_greek = "\u0370" <= character <= "\u03ff"
    is_sign = unicodedata.category(character) == "Sm" or character in "ℝℚℤℂℕ∞∅"
    return is_greek or is_sign or bool(_read_script(character)[0])


def _read_script(character: str) -> tuple[str, str]:
    """Return ``^`` or ``_`` and the plain character; nothing for those on the line."""
    kind, _, plain = unicodedata.decomposition(character).partition(" ")
    script = {"<super>": "^", "<sub>": "_"}.get(kind, "")
    return script, chr(int(plain, 16)) if script else character


@cache
def _list_symbols() -> dict[str, str]:
    """Return the command of each character, the shortest of several."""
    found: dict[str, str] = {}
    for command in sorted(COMMANDS, key=lambda name: (len(name), name), reverse=True):
        text = COMMANDS[command].text
        if len(text) == 1 and not text.isascii() and not text.isalpha():
            found[text] = f"{command} "
    return found
