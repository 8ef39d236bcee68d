r"""Cells of Xy-pic: ``A \ar[r]^f \ar@{^{(}->}[d]_g``."""

from __future__ import annotations

import re

from mathamr_kedro.formula.latex.commands.arrows import (
    Arrow,
    CellTokens,
    Label,
    Place,
)
from mathamr_kedro.formula.latex.tokens import END

_STYLES = (
    # pattern of the arrow between the braces of @{...}, and its name
    (re.compile(r"[()]"), "hook"),
    (re.compile(r"^\|"), "mapsto"),
    (re.compile(r"^>"), "tail"),
    (re.compile(r">>$"), "two-heads"),
    (re.compile(r"=[^>]*>"), "double"),
    (re.compile(r"=$"), "equal"),
    (re.compile(r"--|\."), "dashed"),
    (re.compile(r"~"), "squiggly"),
    (re.compile(r"^[-.]+$"), "line"),
    (re.compile(r"^<.*>$"), "both"),
    (re.compile(r"^<[^>]*$"), "reversed"),
    (re.compile(r"^$"), "phantom"),
)
_OFFSET = re.compile(r"(-?\d{1,2}),(-?\d{1,2})")
_CLOSING = {"<": ">", "/": "/", "(": ")"}
_SIDES = frozenset("^_|")
_BEFORE_LABELS = frozenset("-<>([!*")
_BEFORE_STYLES = frozenset("*!?^_23")
_STEMS = frozenset("=-.~:")
_FRAMES = frozenset("*+-=!<>.,|()0123456789pcemxt")


class XyCell(CellTokens):
    r"""A cell of ``\xymatrix``."""

    commands = frozenset({r"\ar"})

    def take_entry(self) -> list[str]:
        """Take an object with a frame: ``*+[F]{X}``."""
        start = self.i
        if self.peek() == "*":
            while self.peek() in _FRAMES or self.peek() == "[":
                if self.take_option_tokens() is None:
                    self.i += 1
            if self.peek() == "{":
                return self.take_tokens()
            self.i = start
        return []

    def read_arrow(self, command: str) -> Arrow:
        """Read modifiers, targets and labels, in any order."""
        offset: Place = (0, 0)
        styles: list[str] = []
        labels: list[Label] = []
        has_target = False
        while True:
            token = self.peek()
            if token == "@":
                self.i += 1
                styles += self._read_modifier()
            elif token == "[":
                offset, has_target = self._read_target(), True
            elif token in ("'", ";", "`") and self.tokens[self.i + 1] == "[":
                self.i += 1  # the way leads over the next target
            elif token in _SIDES:
                self.i += 1
                labels.append((token, self._read_label()))
            else:
                break
        self.is_damaged = self.is_damaged or not has_target
        return self.make_arrow(offset, styles, labels)

    def _read_target(self) -> Place:
        """Return the place of ``[dr]`` or ``[1,1]`` relative to this one."""
        text = "".join(self.take_brackets()).replace(" ", "")
        numbers = _OFFSET.fullmatch(text)
        if numbers:
            return int(numbers[1]), int(numbers[2])
        return self.add_steps(text)

    def _read_modifier(self) -> list[str]:
        """Return the styles of what follows an ``@``."""
        while self.peek() in _BEFORE_STYLES:
            self.i += 1
        token = self.peek()
        if token == "{":
            return _name_styles("".join(self.take_tokens()[1:-1]))
        if token == "[":
            self.take_brackets()
        elif token in _CLOSING:
            self._skip_to(_CLOSING[token])
        else:
            start = self.i
            while self.peek() in _STEMS:
                self.i += 1
            stem = "".join(self.tokens[start : self.i])
            return _name_styles(stem) if stem else []
        return []

    def _skip_to(self, closing: str) -> None:
        self.i += 1
        while self.peek() not in (closing, END):
            self.i += 1
        if not self.skip_if(closing):
            self.is_damaged = True

    def _read_label(self) -> list[str]:
        """Return the tokens of a label; none for a hole or a tip."""
        while (token := self.peek()) in _BEFORE_LABELS:
            if token == "(":
                self._skip_to(")")
            elif token == "[":
                self.take_brackets()
            else:
                self.i += 1
                if token == "!":
                    self.take_tokens()
        if self.skip_if("@"):
            self._read_modifier()
            return []
        label = self.take_tokens()
        if not label:
            self.is_damaged = True
        return [] if label == [r"\hole"] else label


def _name_styles(text: str) -> list[str]:
    """Name what is between the braces of ``@{...}``.

    >>> _name_styles("^{(}->"), _name_styles("-->"), _name_styles("->")
    (['hook'], ['dashed'], [])
    """
    text = text.replace(" ", "")
    return [name for pattern, name in _STYLES if pattern.search(text)]
