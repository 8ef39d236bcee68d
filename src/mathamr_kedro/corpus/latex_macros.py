r"""Macros of LaTeX sources: what a command of the author's own stands for.

```
\newcommand{\R}{\mathbb{R}}            $x \in \R$   ──▶  $x \in \mathbb{R}$
\DeclareMathOperator{\Spec}{Spec}      $\Spec(R)$   ──▶  $\operatorname{Spec}(R)$
\def\pair#1#2{(#1, #2)}               $\pair{a}b$  ──▶  $(a, b)$
```

Definitions hold from where they stand to the end of the document, whatever group they
stand in. Macros that never come to an end are left as they are.
"""

from __future__ import annotations

import re

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.corpus.latex_arguments import LatexArguments
from mathamr_kedro.corpus.latex_definitions import LatexMacro

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


class LatexMacros:
    r"""The macros that a document has defined so far.

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
        """Return what a macro stands for, and the end of its last argument.

        Args:
            name: of the macro.
            text: in which it is used.
            place: the end of its name there.
            read: the reader of ``text``.

        Returns:
            ``None`` where the macro is known to have no end.

        Raises:
            MathAMRError: it has no end, or becomes too long; told once a macro.
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

    def _expand_all(self, text: str, depth: int) -> str:
        if "\\" not in text:
            return text
        read = LatexArguments(text)
        pieces: list[str] = []
        position, place, length = 0, 0, 0
        while (found := _CONTROL.search(text, place)) is not None:
            place = found.end()
            name = found[1] or found[0][1]
            if name not in self._macros or name in self._refused:
                continue
            before = text[position : found.start()]
            expanded, place = self._expand(name, text, place, read, depth)
            joined = self.join(before, expanded, text[place : place + 1])
            pieces += [before, joined]
            position = place
            length += len(before) + len(joined)
            if length > _MAX_LENGTH:
                raise MathAMRError(
                    f"the macro \\{name} becomes longer than {_MAX_LENGTH} characters; "
                    "it is left as it is"
                )
        return "".join([*pieces, text[position:]])

    @staticmethod
    def join(before: str, expanded: str, after: str) -> str:
        r"""Return what a macro stands for so that it may stand between two texts.

        >>> LatexMacros.join(r"\cdot", "k", "x"), LatexMacros.join("x_", r"\R R", "")
        (' k', '{\\R R}')
        >>> LatexMacros.join("", r"\varepsilon", "x")
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
