"""Named arrays in one file, read by mapping it into memory; columns of strings.

The format is safetensors' (a length, a JSON header, the arrays one after another), so
other tools can open our files, and weights of published models open here::

    8 bytes   length of the header
    header    {"kinds": {"dtype": "U8", "shape": [5], "data_offsets": [640, 645]}, ...}
    arrays    row by row

A :class:`TextColumn` is many short strings in two such arrays, so that millions of ids
map into memory too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import replace_file

Arrays: TypeAlias = dict[str, NDArray[Any]]

_CODES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
    "I32": np.int32, "I16": np.int16, "U32": np.uint32, "U16": np.uint16,
    "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_CODE_OF = {np.dtype(kind): code for code, kind in _CODES.items()}
_LENGTH = 8
_ANY = "surrogatepass"
"""Ids of a damaged collection may hold surrogates."""


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> int:
    """Write arrays to a file and return its size in bytes."""
    header: dict[str, Any] = {}
    place = 0
    # Wide types first: every array then starts at a multiple of its item size.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in names:
        array = arrays[name]
        if array.dtype not in _CODE_OF:
            raise MalformedInputError(
                f"Expected {name!r} of a type among {list(_CODES)} (got {array.dtype})"
            )
        end = place + array.nbytes
        header[name] = {
            "dtype": _CODE_OF[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [place, end],
        }
        place = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _LENGTH)

    with replace_file(path) as part, part.open("wb") as file:
        file.write(len(text).to_bytes(_LENGTH, "little") + text)
        for name in names:
            file.write(np.ascontiguousarray(arrays[name]).data)
    return _LENGTH + len(text) + place


def read_arrays(path: Path) -> Arrays:
    """Map the arrays of a file into memory; writing to them never reaches the file.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it is truncated, or not of this format.
    """
    if not path.is_file():
        raise MissingInputError(f"Expected a file of arrays at {str(path)!r}")
    try:
        with path.open("rb") as file:
            start = int.from_bytes(file.read(_LENGTH), "little")
            header = json.loads(file.read(start))
        start += _LENGTH
        header.pop("__metadata__", None)
        whole = np.memmap(path, mode="c").view(np.ndarray)
        return {name: _view(whole, entry, start) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, OverflowError) as exc:
        raise MalformedInputError(
            f"Expected a whole file of arrays at {str(path)!r} ({exc})"
        ) from exc


def _view(whole: NDArray[np.uint8], entry: dict[str, Any], start: int) -> NDArray[Any]:
    begin, end = (start + offset for offset in entry["data_offsets"])
    if end > len(whole):
        raise ValueError(f"{len(whole)} bytes instead of at least {end}")
    return whole[begin:end].view(_CODES[entry["dtype"]]).reshape(entry["shape"])


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Strings in one UTF-8 text; lone surrogates survive the round trip.

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
        """Encode strings."""
        encoded = [s.encode("utf-8", _ANY) for s in strings]
        text = np.frombuffer(bytearray(b"".join(encoded)), dtype=np.uint8)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(text, np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, place: int) -> str:
        start = self.ends[place - 1] if place else 0
        return self.text[start : self.ends[place]].tobytes().decode("utf-8", _ANY)

    def __iter__(self) -> Iterator[str]:
        text, start = self.text.tobytes(), 0
        for end in self.ends.tolist():
            yield text[start:end].decode("utf-8", _ANY)
            start = end

    def take(self, places: Sequence[int] | NDArray[Any]) -> TextColumn:
        """Return the strings at ``places``, in that order."""
        chosen = np.asarray(places, dtype=np.int64)
        starts = np.concatenate([[0], self.ends[:-1]]) if len(self) else self.ends
        starts = starts[chosen]
        lengths = self.ends[chosen] - starts
        index = spread_ranges(starts, lengths)
        return TextColumn(self.text[index], np.cumsum(lengths))

    @classmethod
    def join(cls, columns: Sequence[TextColumn]) -> TextColumn:
        """Concatenate columns."""
        shifts = np.cumsum([0] + [len(c.text) for c in columns])
        return cls(
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
    # Counted through, number j of all ranges lies j - (ends - lengths) into its own.
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(
        ends[-1] if len(ends) else 0
    )
