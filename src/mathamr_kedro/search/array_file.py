"""Named arrays in one file, read by mapping it into memory.

The format is safetensors' (a length, a JSON header, the arrays one after another), so
other tools can open our files, and weights of published models open here::

    8 bytes   length of the header
    header    {"kinds": {"dtype": "U8", "shape": [5], "data_offsets": [640, 645]}, ...}
    arrays    row by row

A file is written beside its place, synced, and renamed: it is there whole or not at
all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import MalformedInputError, MissingInputError

Arrays: TypeAlias = dict[str, NDArray[Any]]

_CODES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64,
    "I32": np.int32, "I16": np.int16, "U32": np.uint32, "U16": np.uint16,
    "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
_CODE_OF = {np.dtype(kind): code for code, kind in _CODES.items()}
_LENGTH = 8


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> int:
    """Write arrays to a file and return its size in bytes.

    Raises:
        MalformedInputError: an array has a type that the format lacks.
    """
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

    def write(part: Path) -> None:
        with part.open("wb") as file:
            file.write(len(text).to_bytes(_LENGTH, "little") + text)
            for name in names:
                file.write(np.ascontiguousarray(arrays[name]).data)

    replace_file(path, write)
    return _LENGTH + len(text) + place


def read_arrays(path: Path) -> Arrays:
    """Map the arrays of a file into memory; writing to them never reaches the file.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it is cut short or no such file.
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


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file beside ``path``, sync it, and put it in its place."""
    part = path.with_name(f".{path.name}.part")
    write(part)
    _sync(part)
    os.replace(part, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
