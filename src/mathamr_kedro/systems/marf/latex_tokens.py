r"""Formulas as the formula encoder reads them (Appendix A.1 of the paper).

Tokens, arguments and options are read by :mod:`mathamr_kedro.formula.latex.tokens`;
here is what the paper makes of them, which no tree of a formula keeps.

::

    written    \dfrac12 + x_i^30 \le \left( a \over b \right)
    spelled    \frac { 1 } { 2 } + x _ { i } ^ { 3 } 0 \leq ( \frac { a } { b } )

1. Tokens that mean the same become one (``\dfrac``, ``\tfrac``: ``\frac``), and those
   that only place others go (``\left``, ``\,``, ``\displaystyle``).
2. Braces that are optional in TeX are put in, as TeX would read them: an argument
   without braces is the next token (``x^30`` is a three above and a zero beside).
   Infix ``\over`` becomes ``\frac``, primes become superscripts; braces without a
   partner are completed or dropped.
3. Numbers have the places of their digits (Nogueira et al. 2021): ``30`` is
   ``3 10e 1``. Zeros are skipped; a number of one digit stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mathamr_kedro.formula.latex.tokens import END, TokenStream, split_tokens

_SAME = {
    r"\frac": r"\dfrac \tfrac \cfrac",
    r"\binom": r"\dbinom \tbinom",
    r"\leq": r"\le \leqslant \leqq",
    r"\geq": r"\ge \geqslant \geqq",
    r"\neq": r"\ne",
    r"\rightarrow": r"\to \longrightarrow",
    r"\leftarrow": r"\gets \longleftarrow",
    r"\Rightarrow": r"\implies \Longrightarrow",
    r"\Leftrightarrow": r"\iff \Longleftrightarrow",
    r"\mapsto": r"\longmapsto",
    r"\dots": r"\ldots \cdots \dotsc \dotsb \dotsm \dotsi \hdots",
    r"\neg": r"\lnot",
    r"\wedge": r"\land",
    r"\vee": r"\lor",
    r"\emptyset": r"\varnothing",
    r"\ni": r"\owns",
    r"\mid": r"\divides",
    r"\setminus": r"\smallsetminus",
    r"\parallel": r"\Vert \lVert \rVert \|",
    "|": r"\vert \lvert \rvert",
    r"\{": r"\lbrace",
    r"\}": r"\rbrace",
    "[": r"\lbrack",
    "]": r"\rbrack",
    "*": r"\ast",
    r"\mathrm": r"\rm \operatorname \text \textrm \mbox \hbox \textnormal",
    r"\mathbf": r"\bf \boldsymbol \bm \textbf \pmb",
    r"\mathbb": r"\Bbb",
    r"\mathcal": r"\cal",
    r"\mathit": r"\it \textit \emph",
}
_NAMES = {old: new for new, olds in _SAME.items() for old in olds.split()}
_SWITCHES = frozenset(r"\rm \bf \cal \it".split())
"""These hold to the end of their group, and have no argument."""
_PLACING = frozenset(
    r"\middle \big \Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr "
    r"\Biggl \Biggr \bigm \Bigm \displaystyle \textstyle \scriptstyle "
    r"\scriptscriptstyle \limits \nolimits \, \; \: \! \> \quad \qquad \nonumber "
    r"\notag \thinspace \hfill \strut \null ~ $".split()
) | {"\\ ", "\\\n", "\\\t"}
_LEFT, _RIGHT = r"\left", r"\right"
_ARGUMENTS = {
    **dict.fromkeys(r"\frac \binom \stackrel \overset \underset".split(), 2),
    **dict.fromkeys(
        r"\sqrt \overline \underline \hat \widehat \tilde \widetilde \bar \vec \dot "
        r"\ddot \check \breve \acute \grave \mathring \overrightarrow \overleftarrow "
        r"\overbrace \underbrace \mathrm \mathbf \mathbb \mathcal \mathit \mathfrak "
        r"\mathscr \mathsf \mathtt \boxed \pmod".split(),
        1,
    ),
}
_INFIX = {r"\over": r"\frac", r"\choose": r"\binom", r"\atop": r"\binom"}
_NO_ARGUMENT = {END, "}", _RIGHT, *_INFIX}
"""Replaces a missing argument."""
_DIGITS = frozenset("0123456789")
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+", re.ASCII)
_DEEPEST = 60
"""Depth of nested groups; deeper ones stay flat."""


def normalise_latex(latex: str) -> list[str]:
    r"""Return the tokens of a formula, of one spelling and with all braces.

    >>> " ".join(normalise_latex(r"\dfrac12 \le x_i'"))
    '\\frac { 1 } { 2 } \\leq x _ { i } ^ { \\prime }'
    """
    tokens = [t for t in split_tokens(latex) if not t.isspace() and t not in _PLACING]
    return _read_all(TokenStream(tokens), 0)


def spell_numbers(tokens: Sequence[str]) -> list[str]:
    """Return the tokens with the places of digits.

    >>> spell_numbers(["x", "+", "3", "0", ".", "5"])
    ['x', '+', '3', '10e', '1', '5', '10e', '-1']
    >>> spell_numbers(list("7")), spell_numbers(list("00"))
    (['7'], ['0'])
    """
    written = "".join(t if t in _DIGITS or t == "." else " " for t in tokens)
    found: list[str] = []
    end = 0
    for number in _NUMBER.finditer(written):
        found += [*tokens[end : number.start()], *_spell(number.group())]
        end = number.end()
    return [*found, *tokens[end:]]


def _read_row(stream: TokenStream, depth: int, closing: str = "}") -> list[str]:
    """Read to the end of a group, which is not taken."""
    found: list[str] = []
    before: list[str] = []
    infix = ""
    while (token := stream.peek()) not in (END, "}", closing):
        if token in _INFIX:
            stream.take()
            if infix:  # TeX would refuse: what came so far is one side
                found = [infix, "{", *before, "}", "{", *found, "}"]
            infix, before, found = _INFIX[token], found, []
        elif token in _SWITCHES and depth < _DEEPEST:
            name = _NAMES[stream.take()]
            found += [name, "{", *_read_row(stream, depth + 1, closing), "}"]
        else:
            found += _read_item(stream, depth)
    return [infix, "{", *before, "}", "{", *found, "}"] if infix else found


def _read_item(stream: TokenStream, depth: int) -> list[str]:
    token = stream.take()
    if token == "{":
        return _read_group(stream, depth)
    if token in (_LEFT, _RIGHT):
        return _read_fence(stream, depth) if token == _LEFT else []
    if token == "'":
        primes = [r"\prime"]
        while stream.skip_if("'"):
            primes.append(r"\prime")
        return ["^", "{", *primes, "}"]
    if token in ("^", "_"):
        return [token, *_read_argument(stream, depth)]
    if token in (r"\begin", r"\end"):
        return [f"{token}{{{stream.take_raw_argument()}}}"]
    name = _NAMES.get(token, token)
    found = [name]
    option = stream.take_option_tokens() if name == r"\sqrt" else None
    if option is not None and depth < _DEEPEST:
        found += ["[", *_read_all(TokenStream([*option, END]), depth + 1), "]"]
    for _ in range(_ARGUMENTS.get(name, 0)):
        found += _read_argument(stream, depth)
    return found


def _read_group(stream: TokenStream, depth: int) -> list[str]:
    if depth >= _DEEPEST:
        return []  # its closing brace has no partner then, and goes
    found = _read_row(stream, depth + 1)
    stream.skip_if("}")
    return ["{", *found, "}"]


def _read_fence(stream: TokenStream, depth: int) -> list[str]:
    r"""Read from behind ``\left`` to ``\right``: a group of which no brace is left."""
    stream.skip_if(".")  # stands for no fence at all
    if depth >= _DEEPEST:
        return []
    found = _read_row(stream, depth + 1, _RIGHT)
    if stream.skip_if(_RIGHT):
        stream.skip_if(".")
    return found


def _read_argument(stream: TokenStream, depth: int) -> list[str]:
    token = stream.peek()
    if token in _NO_ARGUMENT:
        return ["{", "}"]
    if token in _SWITCHES:  # a font of nothing
        stream.take()
        return ["{", "}"]
    if token == "{":
        stream.take()
        return _read_group(stream, depth) or ["{", "}"]
    if depth >= _DEEPEST:
        return ["{", _NAMES.get(stream.take(), token), "}"]
    return ["{", *_read_item(stream, depth + 1), "}"]


def _read_all(stream: TokenStream, depth: int) -> list[str]:
    """Read to the end of the tokens; braces without a partner go."""
    found: list[str] = []
    while stream.peek() is not END:
        found += _read_row(stream, depth)
        stream.skip_if("}")
    return found


def _spell(number: str) -> list[str]:
    whole, _, rest = number.partition(".")
    whole, rest = whole.lstrip("0"), rest.rstrip("0")
    if not rest and len(whole) <= 1:
        return [whole or "0"]
    places = range(len(whole) - 1, -len(rest) - 1, -1)
    digits = zip(whole + rest, places, strict=True)
    return [t for d, p in digits if d != "0" for t in (d, "10e", str(p))]
