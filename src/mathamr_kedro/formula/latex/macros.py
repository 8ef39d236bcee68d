r"""Macros of LaTeX, of a document or of one formula: what an author's command means.

```
\newcommand{\R}{\mathbb{R}}            $x \in \R$   ──▶  $x \in \mathbb{R}$
\DeclareMathOperator{\Spec}{Spec}      $\Spec(R)$   ──▶  $\operatorname{Spec}(R)$
\def\pair#1#2{(#1, #2)}               $\pair{a}b$  ──▶  $(a, b)$
```

Arguments and definitions are read by offsets in the unchanged text; a formula is read
token by token (:mod:`.tokens`) once its macros are expanded. Matching braces are found
in one pass over a text, so that unclosed braces do not make it slow.

Definitions hold from their position to the end of the text, whatever group they are in.
In a document, endlessly recursive macros are left unexpanded; a formula that uses one
is refused.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.formula.latex.limits import MAX_CHARACTERS, LimitError

_BRACE = re.compile(r"\\.|%[^\n]*|[][{}]", re.DOTALL)
_BLANK = re.compile(r"(?:[ \t]|\n(?![ \t]*\n)|%[^\n]*(?:\n(?![ \t]*\n)|\Z))*")
_BREAK = re.compile(r"\n[ \t]*\n")
_TOKEN = re.compile(r"\\(?:[a-zA-Z@]+|.)|[^\s{}]", re.DOTALL)
_CONDITION = re.compile(
    r"\\(if(?!f(?![a-zA-Z@])|thenelse)[a-zA-Z@]*|else|fi)(?![a-zA-Z@])"
)
_MAX_OPTION = 2000  # characters; brackets of a text further apart are no pair

DEFINITIONS = frozenset(
    "newcommand renewcommand providecommand DeclareRobustCommand newrobustcmd "
    "renewrobustcmd def gdef edef xdef let DeclareMathOperator "
    "DeclarePairedDelimiter".split()
)
"""Commands that define a macro."""

_PRIMITIVE = frozenset(("def", "gdef", "edef", "xdef"))
_PARAMETERS = re.compile(r"\s*((?:#[1-9])*)\s*(?=\{)")
_NAME = re.compile(r"\s*\\([a-zA-Z@]+|[^a-zA-Z])\s*")
_MAX_MARKS = 60  # characters of parameters between marks of the author's own

# An operator by name, as TeX's own macros make one.
_OPERATOR = re.compile(
    r"\\mathop\s*\{\s*(?:\\(?:mathrm|operatorname)\s*\{([^{}\\]+)\}|\{?\\rm\s+"
    r"([^{}\\]+)\}?)\s*\}(?:\s*\\nolimits(?![a-zA-Z]))?"
)
_FRAME = re.compile(
    r"\\mathop\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(?:\\nolimits(?![a-zA-Z]))?"
)
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


class LatexArguments:
    r"""Reads the arguments of the commands of one text.

    >>> text = r"\frac{a}{b_{1}} [c]"
    >>> arguments = LatexArguments(text)
    >>> arguments.read(5)
    ('a', 8)
    >>> arguments.read(8), arguments.read_option(15)
    (('b_{1}', 15), ('c', 19))
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_conditions = True  # that end

    def skip_blank(self, place: int) -> int:
        """Return the next offset that is not blank; a paragraph break is not blank."""
        blank = _BLANK.match(self._text, place)
        return place if blank is None else blank.end()

    def read(self, place: int) -> tuple[str, int] | None:
        """Return the argument after ``place`` and its end: a group, or one token."""
        place = self.skip_blank(place)
        if self._text[place : place + 1] == "{":
            return self.read_group(place)
        token = _TOKEN.match(self._text, place)
        return None if token is None else (token[0], token.end())

    def read_group(self, place: int) -> tuple[str, int] | None:
        """Return the content of the braces after ``place``, if there are any."""
        place = self.skip_blank(place)
        end = self._ends.get(place)
        return None if end is None else (self._text[place + 1 : end], end + 1)

    def read_option(self, place: int) -> tuple[str, int] | None:
        """Return the content of the brackets after ``place``, if there are any."""
        place = self.skip_blank(place)
        if self._text[place : place + 1] != "[":
            return None
        end = self._ends.get(place)
        if (
            end is None
            or end > place + _MAX_OPTION
            or _BREAK.search(self._text, place, end)
        ):
            return None
        return self._text[place + 1 : end], end + 1

    def skip_condition(self, place: int) -> int | None:
        r"""Return where the text continues after a condition that does not hold.

        That is its ``\else`` or ``\fi``; ``None``: there is none.
        """
        depth = 1
        while self._has_conditions and depth:
            mark = _CONDITION.search(self._text, place)
            if mark is None:
                self._has_conditions = False
                return None
            place = mark.end()
            if mark[1].startswith("if"):
                depth += 1
            elif mark[1] == "fi" or depth == 1:
                depth -= 1
        return None if depth else place

    @cached_property
    def _ends(self) -> dict[int, int]:
        """Where each brace and bracket is closed; one that never is, is not in here.

        A bracket is closed by the next one of its group; the end of the group ends it.
        """
        opened: list[int] = []
        ends: dict[int, int] = {}
        text = self._text
        for found in _BRACE.finditer(text):
            mark, place = found[0], found.start()
            if mark in ("{", "["):
                opened.append(place)
            elif mark == "]":
                if opened and text[opened[-1]] == "[":
                    ends[opened.pop()] = place
            elif mark == "}":
                while opened and text[opened[-1]] == "[":
                    opened.pop()
                if opened:
                    ends[opened.pop()] = place
        return ends


class LatexMacro(NamedTuple):
    """The parameters of a macro and its expansion."""

    name: str
    body: str
    arguments: int = 0
    default: str | None = None
    """Of the first argument, if it is optional."""
    alias_of: str | None = None
    """The command that it is an alias of (``\\let``)."""
    takes_star: bool = False
    is_provided: bool = False
    """Whether an earlier definition takes precedence (``\\providecommand``)."""


_Found = tuple[LatexMacro | None, int] | None


def read_definition(
    command: str, text: str, place: int, read: LatexArguments
) -> tuple[LatexMacro | None, int] | None:
    r"""Read the definition that a command starts.

    Returns:
        The macro, ``None`` if its parameters are of a kind that is not read, and the
        end of the definition; ``None``: there is no definition.

    >>> text = r"{\pair}[2]{(#1, #2)} rest"
    >>> read_definition("newcommand", text, 0, LatexArguments(text))[0][:3]
    ('pair', '(#1, #2)', 2)
    """
    is_starred = text.startswith("*", place)
    place += is_starred
    if command == "let":
        return _read_alias(text, place)
    named = None if command in _PRIMITIVE else read.read_group(place)
    token = _NAME.match(text, place)
    if named is not None:
        name, place = named[0].strip().removeprefix("\\"), named[1]
    elif token is not None:
        name, place = token[1], token.end()
    else:
        return None
    if command in _PRIMITIVE:
        found = _read_primitive(name, text, place, read)
    elif command == "DeclareMathOperator":
        found = _read_operator(name, "*" if is_starred else "", place, read)
    elif command == "DeclarePairedDelimiter":
        found = _read_delimiters(name, place, read)
    else:
        found = _read_command(name, place, read)
    macro, end = (None, 0) if found is None else found
    if macro is None:
        return found
    is_provided = command == "providecommand"
    return macro._replace(body=macro.body.strip(), is_provided=is_provided), end


def _read_command(name: str, place: int, read: LatexArguments) -> _Found:
    count, default = read.read_option(place), None
    if count is not None:
        place = count[1]
        default = read.read_option(place)
        place = place if default is None else default[1]
    body = read.read(place)
    if body is None:
        return None
    number = "0" if count is None else count[0].strip()
    if len(number) != 1 or number not in "0123456789":
        return None, body[1]
    given = None if default is None else default[0]
    return LatexMacro(name, body[0], int(number), given), body[1]


def _read_primitive(name: str, text: str, place: int, read: LatexArguments) -> _Found:
    parameters = _PARAMETERS.match(text, place)
    if parameters is not None:
        body = read.read_group(parameters.end())
        count = len(parameters[1]) // 2
        return None if body is None else (LatexMacro(name, body[0], count), body[1])
    # Parameters between marks of the author's own, e.g. \def\a(#1){...}.
    brace = text.find("{", place, place + _MAX_MARKS)
    body = read.read_group(brace) if brace >= 0 else None
    return None if body is None else (None, body[1])


def _read_operator(name: str, star: str, place: int, read: LatexArguments) -> _Found:
    body = read.read(place)
    if body is None:
        return None
    return LatexMacro(name, f"\\operatorname{star}{{{body[0]}}}"), body[1]


def _read_delimiters(name: str, place: int, read: LatexArguments) -> _Found:
    left = read.read(place)
    right = None if left is None else read.read(left[1])
    if left is None or right is None:
        return None
    body = f"{left[0]} #1 {right[0]}"
    return LatexMacro(name, body, 1, takes_star=True), right[1]


def _read_alias(text: str, place: int) -> _Found:
    new = _NAME.match(text, place)
    if new is None:
        return None
    place = new.end() + text.startswith("=", new.end())
    old = _NAME.match(text, place)
    if old is None:
        return None, place + 1
    end = place + len(old[0].rstrip())
    return LatexMacro(new[1], f"\\{old[1]}", alias_of=old[1]), end


def name_operators(body: str) -> str:
    r"""Return operators by their names, without what places their limits.

    >>> name_operators(r"\mathop{\mathrm{Spec}}\nolimits")
    '\\operatorname{Spec}'
    >>> name_operators(r"\mathop{N\!L}")
    '\\mathit{NL}'
    >>> name_operators(r"\mathop{\mathcal{H}\!\mathit{om}}\nolimits")
    '\\mathcal{H}\\mathit{om}'
    """
    body = _OPERATOR.sub(lambda m: rf"\operatorname{{{(m[1] or m[2]).strip()}}}", body)
    framed = _FRAME.fullmatch(body)
    if framed is None:
        return body
    inner = framed[1].replace(r"\!", "").strip()
    return f"\\mathit{{{inner}}}" if inner.isalpha() and len(inner) > 1 else inner


def expand_macros(source: str, problems: dict[str, int]) -> str:
    r"""Return a formula with the macros expanded that it defines itself.

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
        """Add a definition; the last one of a name holds."""
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
