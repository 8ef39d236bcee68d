r"""Definitions of LaTeX: what ``\newcommand``, ``\def`` and similar commands define.

```
\newcommand{\pair}[2]{(#1, #2)}       \DeclareMathOperator{\Spec}{Spec}
\def\pair#1#2{(#1, #2)}               \DeclarePairedDelimiter{\abs}{\lvert}{\rvert}
```
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mathamr_kedro.formula.latex.arguments import LatexArguments

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


class LatexMacro(NamedTuple):
    """The parameters of a macro and its expansion."""

    name: str
    body: str
    arguments: int = 0
    default: str | None = None
    """Of the first argument, if it is optional."""
    alias_of: str | None = None
    """The other name of the same meaning (``\\let``)."""
    takes_star: bool = False
    is_provided: bool = False
    """Whether an earlier definition holds (``\\providecommand``)."""


_Found = tuple[LatexMacro | None, int] | None


def read_definition(
    command: str, text: str, place: int, read: LatexArguments
) -> tuple[LatexMacro | None, int] | None:
    r"""Read the definition that a command starts.

    Args:
        command: its name, one of :data:`DEFINITIONS`.
        text: in which it occurs.
        place: the end of the name.
        read: the reader of ``text``.

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
    body = _OPERATOR.sub(_name_operator, body)
    framed = _FRAME.fullmatch(body)
    if framed is None:
        return body
    inner = framed[1].replace(r"\!", "").strip()
    return f"\\mathit{{{inner}}}" if inner.isalpha() and len(inner) > 1 else inner


def _name_operator(found: re.Match[str]) -> str:
    return f"\\operatorname{{{(found[1] or found[2]).strip()}}}"
