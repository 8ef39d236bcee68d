"""Many short strings in two arrays, so that millions of ids map into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Strings, one after another in one text.

    >>> column = TextColumn.of(["17", "q_4", ""])
    >>> column[1], len(column), list(column.take([2, 0]))
    ('q_4', 3, ['', '17'])
    """

    text: NDArray[np.uint8]
    """All of them in UTF-8."""
    ends: NDArray[np.int64]
    """Where each ends."""

    @classmethod
    def of(cls, strings: Iterable[str]) -> TextColumn:
        """Lay out strings."""
        encoded = [s.encode() for s in strings]
        text = np.frombuffer(bytearray(b"".join(encoded)), dtype=np.uint8)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(text, np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> str:
        start = self.ends[place - 1] if place else 0
        return self.text[start : self.ends[place]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        text, start = self.text.tobytes(), 0
        for end in self.ends.tolist():
            yield text[start:end].decode()
            start = end

    def take(self, places: Sequence[int] | NDArray[Any]) -> TextColumn:
        """Return the strings at ``places``, in that order."""
        chosen = np.asarray(places, dtype=np.int64)
        starts = np.concatenate([[0], self.ends[:-1]]) if len(self) else self.ends
        starts = starts[chosen]
        lengths = self.ends[chosen] - starts
        index = spread_ranges(starts, lengths)
        return TextColumn(self.text[index], np.cumsum(lengths))


def join_columns(columns: Sequence[TextColumn]) -> TextColumn:
    """Put columns one after another."""
    shifts = np.cumsum([0] + [len(c.text) for c in columns])
    return TextColumn(
        np.concatenate([c.text for c in columns]),
        np.concatenate([c.ends + s for c, s in zip(columns, shifts, strict=False)]),
    )


def spread_ranges(
    starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """List every number of the ranges ``start, start + 1, ...`` of given lengths.

    >>> spread_ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(
        ends[-1] if len(ends) else 0
    )
