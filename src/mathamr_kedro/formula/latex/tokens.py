r"""LaTeX as a list of tokens.

```
\frac{a}2      ['\\frac', '{', 'a', '}', '2', '']
\text{a b}     ['\\text', '{', 'a', ' ', 'b', '}', '']
```

A token is a command with its backslash, or one character. Spaces are tokens only in
formulas that contain text: elsewhere they mean nothing.
"""

from __future__ import annotations

import html
import re

from mathamr_kedro.formula.latex.macros import DEFINITIONS, expand_macros

END = ""
"""The token after the last one."""

_DEFINING = frozenset(f"\\{name}" for name in DEFINITIONS)
_LENGTH_CHARS = frozenset("0123456789.- ")
_UNITS = frozenset({"pt", "em", "ex", "mu", "cm", "mm", "in", "pc", "bp", "px"})
_MATH = re.compile(r"\\[A-Za-z]+|\\.|[^ \t\n\r\f\v]", re.DOTALL)
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_MIXED = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_HAS_TEXT = re.compile(r"\\(?:text|mbox|hbox|fbox|intertext|emph|textcolor)")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
_ASCII_BLANKS = " \t\n\r\f\v"
_OUTER_STARTS = ("$", "\\")
_OUTER = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))


def split_tokens(latex: str, problems: dict[str, int] | None = None) -> list[str]:
    r"""Return the tokens of a formula, with :data:`END` behind them.

    HTML entities are resolved; comments and surrounding dollars are removed.

    Args:
        latex: the formula.
        problems: counts problems with macros that the formula defines, which are
            expanded; ``None``: they are not expanded.

    Raises:
        LimitError: the formula would be too long with its macros expanded.

    >>> split_tokens(r"$\frac{a}2$")
    ['\\frac', '{', 'a', '}', '2', '']
    """
    source = _clean(latex)
    tokens = _split(source)
    if problems is not None and not _DEFINING.isdisjoint(tokens):
        tokens = _split(expand_macros(source, problems))
    tokens.append(END)
    return tokens


def _split(source: str) -> list[str]:
    if _HAS_TEXT.search(source):
        return _MIXED.findall(_BLANKS.sub(" ", source))
    return _MATH.findall(source)


def _clean(latex: str) -> str:
    r"""Return the formula without entities, comments and dollars.

    >>> _clean("$$ a &lt; b $$ % note")
    'a < b'
    """
    if "&" in latex:
        latex = html.unescape(latex)
    if "%" in latex:
        latex = _COMMENT.sub(r"\1", latex)
    latex = latex.strip(_ASCII_BLANKS)
    for opening, closing in _OUTER if latex[:1] in _OUTER_STARTS else ():
        if (
            latex.startswith(opening)
            and latex.endswith(closing)
            and len(latex) >= len(opening) + len(closing)
        ):
            latex = latex[len(opening) : -len(closing)]
            break
    trimmed = latex.strip(_ASCII_BLANKS)
    # a backslash before the last space is a command, "\ "
    backslashes = len(trimmed) - len(trimmed.rstrip("\\"))
    return trimmed + " " if backslashes % 2 else trimmed


class TokenStream:
    """Tokens taken one by one; :data:`END` is never taken."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.i = 0

    def peek(self) -> str:
        """Return the next token that is not a space, without taking it."""
        while self.tokens[self.i] == " ":
            self.i += 1
        return self.tokens[self.i]

    def take(self) -> str:
        """Take the next token that is not a space; at the end, nothing."""
        token = self.peek()
        if token is not END:
            self.i += 1
        return token

    def skip_if(self, token: str) -> bool:
        """Take the next token if it is ``token``."""
        if self.peek() != token:
            return False
        self.i += 1
        return True

    def take_raw_argument(self) -> str:
        """Take an argument that is not math, e.g. a name or a length."""
        tokens = self.take_tokens()
        if tokens[:1] == ["{"]:
            return "".join(tokens[1:-1])
        return "".join(tokens)

    def take_tokens(self) -> list[str]:
        """Take the tokens of an argument, with both braces if it has any."""
        token = self.take()
        if token != "{":
            return [token] if token else []
        start = self.i
        depth = 1
        while depth:
            token = self.tokens[self.i]
            if token is END:
                return ["{", *self.tokens[start : self.i], "}"]
            self.i += 1
            depth += (token == "{") - (token == "}")
        return ["{", *self.tokens[start : self.i]]

    def take_option_tokens(self) -> list[str] | None:
        """Take the tokens between square brackets, if they come next."""
        if self.peek() != "[":
            return None
        start = place = self.i + 1
        depth = 0
        while self.tokens[place] is not END:
            token = self.tokens[place]
            if token == "]" and not depth:
                break
            depth += (token == "{") - (token == "}")
            if depth < 0:
                break
            place += 1
        self.i = place + (self.tokens[place] == "]")
        return self.tokens[start:place]

    def take_raw_option(self) -> str | None:
        """Take the content of square brackets, if they come next."""
        tokens = self.take_option_tokens()
        return None if tokens is None else "".join(tokens)

    def take_length(self) -> str:
        """Take a length without braces, e.g. ``-3pt``; nothing if there is none."""
        start = self.i
        while self.tokens[self.i] in _LENGTH_CHARS:
            self.i += 1
        unit = "".join(self.tokens[self.i : self.i + 2])
        if unit not in _UNITS:
            self.i = start
            return ""
        self.i += 2
        return "".join(self.tokens[start : self.i])
