r"""Macros of LaTeX, of a document or of one formula: what an author's command means.

```
\newcommand{\R}{\mathbb{R}}            $x \in \R$   ──▶  $x \in \mathbb{R}$
\DeclareMathOperator{\Spec}{Spec}      $\Spec(R)$   ──▶  $\operatorname{Spec}(R)$
\def\pair#1#2{(#1, #2)}               $\pair{a}b$  ──▶  $(a, b)$
```

Definitions hold from their place to the end of the text, whatever group they are
in. Endless macros are left as they are in a document; a formula that
uses one is refused.
"""

from __future__ import annotations

import re

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.formula.latex.arguments import LatexArguments
from mathamr_kedro.formula.latex.definitions import (
    DEFINITIONS,
    LatexMacro,
    read_definition,
)
from mathamr_kedro.formula.latex.limits import MAX_CHARACTERS, LimitError

_CONTROL = re.compile(r"\\(?:([a-zA-Z@]+)|.)", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
_ENDS_IN_WORD = re.compile(r"\\[a-zA-Z@]+\Z")
_LOOK_BACK = 60  # characters; longer names of commands do not exist
_MAX_DEPTH = 60
_MAX_EXPANSIONS = 10_000
_MAX_LENGTH = 200_000
_NAMED_OPERATORS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg "
    "lim liminf limsup ln log max min Pr sec sin sinh sup tan tanh".split()
)
# Commands that say how a document is built are read as what they are.
_KEPT = frozenset(
    "begin end item section subsection subsubsection chapter part paragraph label ref "
    "eqref cref autoref cite footnote title caption input include subfile usepackage "
    "documentclass newcommand renewcommand def let verb text mbox left right emph "
    "textbf textit maketitle appendix bibitem qed".split()
)


def expand_macros(source: str, problems: dict[str, int]) -> str:
    r"""Return a formula with the macros expanded that it defines itself.

    Args:
        source: the formula.
        problems: counts ``bad_definition``.

    Raises:
        LimitError: the result would be too long.

    >>> expand_macros(r"\newcommand{\R}{\mathbb{R}} x \in \R", {})
    ' x \\in \\mathbb{R}'
    """
    try:
        expanded, unread = LatexMacros().expand_formula(source)
    except MathAMRError as exc:
        raise LimitError("expansion_limit") from exc
    if unread:
        problems["bad_definition"] = unread
    return expanded


class LatexMacros:
    r"""The macros that a text has defined so far.

    >>> macros = LatexMacros()
    >>> macros.add(LatexMacro("pair", "(#1, #2)", 2))
    >>> macros.expand("pair", r"\pair{a} b", 5)
    ('(a, b)', 10)
    """

    def __init__(self) -> None:
        self._macros: dict[str, LatexMacro] = {}
        self._refused: set[str] = set()
        self._left = 0
        self._last = ""
        self._defines = False  # whether definitions are read with the text
        self._unread = 0

    def __contains__(self, name: str) -> bool:
        return name in self._macros

    def add(self, macro: LatexMacro) -> None:
        """Take a definition up; the last one of a name holds."""
        name = macro.name
        if name in _KEPT or (macro.is_provided and name in self._macros):
            return
        if name in _NAMED_OPERATORS and macro.body == f"\\operatorname{{{name}}}":
            return  # as LaTeX has it
        if macro.alias_of in self._macros:
            macro = self._macros[macro.alias_of]
        self._macros[name] = macro
        self._refused.discard(name)

    def expand(
        self, name: str, text: str, place: int, read: LatexArguments | None = None
    ) -> tuple[str, int] | None:
        """Return the expansion of a macro, and the end of its last argument.

        Args:
            name: of the macro.
            text: in which it is used.
            place: the end of its name there.
            read: the reader of ``text``.

        Returns:
            ``None`` if the macro is known to have no end.

        Raises:
            MathAMRError: it has no end, or becomes too long; raised once a macro.
        """
        if name in self._refused:
            return None
        self._left = _MAX_EXPANSIONS
        try:
            return self._expand(name, text, place, read or LatexArguments(text), 0)
        except MathAMRError:
            self._refused.add(self._last)  # the one that went on, not who called it
            raise

    def expand_text(self, text: str) -> str:
        """Return a text with its macros expanded; those without an end stay."""
        self._left = _MAX_EXPANSIONS
        try:
            return self._expand_all(text, 0)
        except MathAMRError:
            return text

    def _expand(
        self, name: str, text: str, place: int, read: LatexArguments, depth: int
    ) -> tuple[str, int]:
        self._left -= 1
        self._last = name
        if depth > _MAX_DEPTH or self._left < 0:
            raise MathAMRError(
                f"the macro \\{name} does not come to an end within {_MAX_EXPANSIONS} "
                f"expansions, {_MAX_DEPTH} deep; it is left as it is"
            )
        macro = self._macros[name]
        if macro.takes_star:
            place += text.startswith("*", place)
        if macro.alias_of is not None:
            return macro.body, place
        values: list[str] = []
        if macro.default is not None:
            option = read.read_option(place)
            values.append(macro.default if option is None else option[0])
            place = place if option is None else option[1]
        while len(values) < macro.arguments:
            found = read.read(place)
            values.append("" if found is None else found[0])
            place = place if found is None else found[1]
        body = macro.body
        if values:
            body = _PARAMETER.sub(lambda found: _fill(found, values), body)
        if len(body) > _MAX_LENGTH:
            raise MathAMRError(
                f"the macro \\{name} becomes longer than {_MAX_LENGTH} characters; it "
                "is left as it is"
            )
        return self._expand_all(body, depth + 1), place

    def expand_formula(self, formula: str) -> tuple[str, int]:
        """Return a formula without its definitions, their macros expanded.

        Returns:
            The formula, and how many of its definitions could not be read.

        Raises:
            MathAMRError: a macro has no end, or the formula becomes too long.
        """
        self._left, self._defines = _MAX_EXPANSIONS, True
        return self._expand_all(formula, 0, MAX_CHARACTERS), self._unread

    def _define(self, name: str, text: str, place: int, read: LatexArguments) -> int:
        macro, end = read_definition(name, text, place, read) or (None, place)
        if macro is None:
            self._unread += 1
        else:
            self.add(macro)
        return end

    def _expand_all(self, text: str, depth: int, max_length: int = _MAX_LENGTH) -> str:
        if "\\" not in text:
            return text
        read = LatexArguments(text)
        pieces: list[str] = []
        position, place, length = 0, 0, 0
        while (found := _CONTROL.search(text, place)) is not None:
            place = found.end()
            name = found[1] or found[0][1]
            is_known = name in self._macros and name not in self._refused
            if not is_known and not (self._defines and name in DEFINITIONS):
                continue
            before, expanded = text[position : found.start()], ""
            if is_known:
                expanded, place = self._expand(name, text, place, read, depth)
                last = before or (pieces[-1] if pieces else "")
                expanded = join_expansion(last, expanded, text[place : place + 1])
            else:
                place = self._define(name, text, place, read)
            pieces += [before, expanded]
            position = place
            length += len(before) + len(expanded)
            if length > max_length:
                raise MathAMRError(
                    f"the macro \\{name} becomes longer than {max_length} characters; "
                    "it is left as it is"
                )
        return "".join([*pieces, text[position:]])


def join_expansion(before: str, expanded: str, after: str) -> str:
    r"""Return the expansion of a macro so that it may be put between two texts.

    >>> join_expansion(r"\cdot", "k", "x"), join_expansion("x_", r"\R R", "")
    (' k', '{\\R R}')
    >>> join_expansion("", r"\varepsilon", "x")
    '\\varepsilon '
    """
    if before[-1:] in ("_", "^") and len(expanded) > 1:
        return expanded if _is_group(expanded) else f"{{{expanded}}}"
    if expanded[:1].isalpha() and _ENDS_IN_WORD.search(before[-_LOOK_BACK:]):
        expanded = f" {expanded}"
    if after[:1].isalpha() and _ENDS_IN_WORD.search(expanded[-_LOOK_BACK:]):
        expanded = f"{expanded} "
    return expanded


def _is_group(text: str) -> bool:
    group = LatexArguments(text).read_group(0) if text.startswith("{") else None
    return group is not None and group[1] == len(text)


def _fill(found: re.Match[str], values: list[str]) -> str:
    """Return the argument that a parameter stands for, apart from a command before."""
    number = int(found[1])
    value = values[number - 1] if number <= len(values) else ""
    before = found.string[max(0, found.start() - _LOOK_BACK) : found.start()]
    is_glued = value[:1].isalpha() and _ENDS_IN_WORD.search(before)
    return f" {value}" if is_glued else value
