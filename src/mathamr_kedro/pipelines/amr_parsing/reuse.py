"""Graphs of texts that an earlier run has parsed already, found by the text's checksum.

Adding posts to a collection, or trying failed ones again, parses only those.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mathamr_kedro.amr import ParsedText
from mathamr_kedro.graph import GraphRecord

_TEXT = re.compile(rb"^# ::text ([0-9a-f]{32})$", re.MULTILINE)
_DIGEST_BYTES = 16


def checksum_text(text: str) -> str:
    """Return the checksum by which the graph of a text is found."""
    content = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


class KnownGraphs:
    """The places of graphs of parsed texts in some shards; 20 bytes for each."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = list(files)
        self._content: tuple[int, bytes] = (-1, b"")
        keys: list[int] = []
        sizes: list[int] = []
        places: list[int] = []
        for file in self._files:
            found = list(_TEXT.finditer(file.read_bytes()))
            keys += [int(match[1][:16], 16) for match in found]
            places += [match.start() for match in found]
            sizes.append(len(found))
        unsorted = np.array(keys, dtype=np.uint64)
        order = np.argsort(unsorted, kind="stable")
        self._keys = unsorted[order]
        numbers = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._numbers = numbers[order]
        self._places = np.array(places, dtype=np.int64)[order]

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, text: str) -> ParsedText | None:
        """Return what the parser made of a text; ``None``: it is not known."""
        checksum = checksum_text(text)
        key = np.uint64(int(checksum[:16], 16))
        row = int(np.searchsorted(self._keys, key))
        if row == len(self) or self._keys[row] != key:
            return None
        record = self._read(int(self._numbers[row]), int(self._places[row]))
        if record.text_checksum != checksum:
            return None
        return ParsedText(record.graph, record.missing, ())

    def _read(self, number: int, place: int) -> GraphRecord:
        if self._content[0] != number:  # posts mostly come in the order of the shards
            self._content = number, self._files[number].read_bytes()
        content = self._content[1]
        start = content.rfind(b"\n\n", 0, place) + 2 if place else 0
        start = 0 if start == 1 else start
        end = content.find(b"\n\n", place)
        return GraphRecord.read(content[start:end].decode())
