r"""Macros that a formula defines for itself.

```
\newcommand{\R}{\mathbb{R}} x \in \R     ->     x \in \mathbb{R}
\def\f#1{f(#1)} \f x                     ->     f(x)
```

Definitions hold from where they stand to the end of the formula. Expansion stops at
a number of tokens, so that macros which multiply cannot run away.
"""

from __future__ import annotations

from typing import NamedTuple

from mathamr_kedro.formula.latex.limits import (
    MAX_EXPANSIONS,
    MAX_TOKENS,
    LimitError,
)
from mathamr_kedro.formula.latex.tokens import END

_DEFINING = frozenset(
    {
        r"\newcommand",
        r"\renewcommand",
        r"\providecommand",
        r"\def",
        r"\gdef",
        r"\edef",
        r"\let",
        r"\DeclareMathOperator",
    }
)


class _Macro(NamedTuple):
    """The body of a macro, its number of arguments, and the default of the first."""

    body: list[str]
    arguments: int = 0
    default: list[str] | None = None


def expand_macros(tokens: list[str], problems: dict[str, int]) -> list[str]:
    """Return the tokens with all macros that the formula defines expanded.

    Raises:
        LimitError: the result would be too long.
    """
    if _DEFINING.isdisjoint(tokens):
        return tokens
    return _Expansion(tokens, problems).run()


class _Expansion:
    def __init__(self, tokens: list[str], problems: dict[str, int]) -> None:
        self.source = tokens[-2::-1]  # a stack: the next token is the last
        self.problems = problems
        self.macros: dict[str, _Macro] = {}
        self.out: list[str] = []
        self.steps = 0

    def run(self) -> list[str]:
        while self.source:
            token = self.source.pop()
            if token in _DEFINING:
                self.define(token)
            elif token in self.macros:
                self.expand(self.macros[token])
            else:
                self.out.append(token)
                if len(self.out) > MAX_TOKENS:
                    raise LimitError("expansion_limit")
        self.out.append(END)
        return self.out

    def take(self) -> str:
        """Take the next token that is no space."""
        while self.source:
            token = self.source.pop()
            if token != " ":
                return token
        return END

    def take_argument(self) -> list[str]:
        """Take a group without its braces, or one token."""
        token = self.take()
        if token != "{":
            return [token] if token else []
        depth = 1
        taken = []
        while self.source:
            token = self.source.pop()
            depth += (token == "{") - (token == "}")
            if not depth:
                break
            taken.append(token)
        return taken

    def take_option(self) -> list[str] | None:
        """Take what stands between square brackets, if they come next."""
        token = self.take()
        if token != "[":
            if token:
                self.source.append(token)
            return None
        taken = []
        while self.source:
            token = self.source.pop()
            if token == "]":
                break
            taken.append(token)
        return taken

    def define(self, command: str) -> None:
        if command == r"\let":
            self.define_equal()
        elif command in (r"\def", r"\gdef", r"\edef"):
            self.define_plainly()
        elif command == r"\DeclareMathOperator":
            star = self.take_star()
            name = "".join(self.take_argument())
            body = [r"\operatorname", *star, "{", *self.take_argument(), "}"]
            self.store(name, _Macro(body))
        else:
            self.take_star()
            name = "".join(self.take_argument())
            count = "".join(self.take_option() or ["0"])
            default = self.take_option()
            body = self.take_argument()
            arguments = int(count) if count.isdigit() and count.isascii() else 0
            if command != r"\providecommand" or name not in self.macros:
                self.store(name, _Macro(body, min(arguments, 9), default))

    def take_star(self) -> list[str]:
        token = self.take()
        if token == "*":
            return ["*"]
        if token:
            self.source.append(token)
        return []

    def define_equal(self) -> None:
        name = self.take()
        value = self.take()
        if value == "=":
            value = self.take()
        self.store(name, self.macros.get(value, _Macro([value] if value else [])))

    def define_plainly(self) -> None:
        r"""Read ``\def\name#1#2{body}``."""
        name = self.take()
        arguments = 0
        while self.source and self.source[-1] != "{":
            arguments += self.source.pop() == "#"
        self.store(name, _Macro(self.take_argument(), min(arguments, 9)))

    def store(self, name: str, macro: _Macro) -> None:
        if name.startswith("\\") and name not in _DEFINING:
            self.macros[name] = macro
        else:
            self.problems["bad_definition"] = self.problems.get("bad_definition", 0) + 1

    def expand(self, macro: _Macro) -> None:
        self.steps += 1
        values: list[list[str]] = []
        if macro.default is not None and macro.arguments:
            option = self.take_option()
            values.append(macro.default if option is None else option)
        while len(values) < macro.arguments:
            values.append(self.take_argument())
        body = _fill(macro.body, values) if values else macro.body
        self.source += reversed(body)
        if self.steps > MAX_EXPANSIONS or len(self.source) > MAX_TOKENS:
            raise LimitError("expansion_limit")


def _fill(body: list[str], values: list[list[str]]) -> list[str]:
    """Return the body with ``#1`` replaced by the first value, and so on."""
    filled: list[str] = []
    marks = iter(body)
    for token in marks:
        if token != "#":
            filled.append(token)
            continue
        place = next(marks, "")
        if place.isdigit() and place.isascii() and 0 < int(place) <= len(values):
            filled += values[int(place) - 1]
        if len(filled) > MAX_TOKENS:
            raise LimitError("expansion_limit")
    return filled
