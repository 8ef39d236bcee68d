"""A text that was put together from files: where each part of it comes from."""

from __future__ import annotations

import re
from bisect import bisect_right

_NEWLINE = re.compile(r"\n")


class LatexOrigins:
    """Grows a text piece by piece and remembers file and line of each."""

    def __init__(self) -> None:
        self.length = 0
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[int]] = {}
        self._pieces: list[str] = []
        self._starts: list[int] = []
        self._origins: list[tuple[str, int]] = []

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def last(self) -> str:
        """The last piece."""
        return self._pieces[-1] if self._pieces else ""

    def open(self, file: str, text: str) -> None:
        """Make a file known."""
        self._texts[file] = text

    def add(self, piece: str, file: str, offset: int) -> None:
        """Add a piece that stands at an offset of a file."""
        if piece:
            self._starts.append(self.length)
            self._origins.append((file, offset))
            self._pieces.append(piece)
            self.length += len(piece)

    def forget(self, count: int) -> None:
        """Drop all pieces after the first ``count``."""
        if count < len(self._pieces):
            self.length = self._starts[count]
            del self._pieces[count:], self._origins[count:], self._starts[count:]

    def join(self) -> str:
        """Return the whole text; no piece can be added after that."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    def find_place(self, offset: int) -> tuple[str, int]:
        """Return file and line of a part of the whole text."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return next(iter(self._texts)), 1
        file, start = self._origins[number]
        # What stands for a macro is longer than its name.
        last = len(self._texts[file])
        if number + 1 < len(self._origins) and self._origins[number + 1][0] == file:
            last = max(start, self._origins[number + 1][1])
        return file, self.find_line(
            file, min(start + offset - self._starts[number], last)
        )

    def find_line(self, file: str, offset: int) -> int:
        """Return the line of an offset in a file, from 1."""
        if file not in self._lines:
            ends = _NEWLINE.finditer(self._texts[file])
            self._lines[file] = [found.start() for found in ends]
        return bisect_right(self._lines[file], offset - 1) + 1
