r"""Arguments of LaTeX commands in a text: groups in braces, options in brackets.

```
\newcommand{\abs}[1]{\left|#1\right|}
           ╰──╯  ╰─╯╰──────────────╯
```

Definitions of macros and whole documents are read here, by places in their text, which
stays as it was written. A formula is read token by token (:mod:`.tokens`) once its
macros are expanded.

Which brace closes which is found in one pass over a text, so that a text full of
braces that are never closed is read as fast as any other.
"""

from __future__ import annotations

import re
from functools import cached_property

_BRACE = re.compile(r"\\.|%[^\n]*|[][{}]", re.DOTALL)
_BLANK = re.compile(r"(?:[ \t]|\n(?![ \t]*\n)|%[^\n]*(?:\n(?![ \t]*\n)|\Z))*")
_BREAK = re.compile(r"\n[ \t]*\n")
_TOKEN = re.compile(r"\\(?:[a-zA-Z@]+|.)|[^\s{}]", re.DOTALL)
_CONDITION = re.compile(
    r"\\(if(?!f(?![a-zA-Z@])|thenelse)[a-zA-Z@]*|else|fi)(?![a-zA-Z@])"
)
_MAX_OPTION = 2000  # characters; brackets of a text further apart are no pair


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
        """Return the next place that is no blank; a new paragraph is one."""
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
        """Return what is in the braces after ``place``, if there are any."""
        place = self.skip_blank(place)
        end = self._ends.get(place)
        return None if end is None else (self._text[place + 1 : end], end + 1)

    def read_option(self, place: int) -> tuple[str, int] | None:
        """Return what is in the brackets after ``place``, if there are any."""
        place = self.skip_blank(place)
        if self._text[place : place + 1] != "[":
            return None
        end = self._ends.get(place)
        if end is None or end > place + _MAX_OPTION or self._has_break(place, end):
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

    def _has_break(self, start: int, end: int) -> bool:
        return _BREAK.search(self._text, start, end) is not None

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
