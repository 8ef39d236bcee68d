"""Stack Exchange dumps: one ``<row .../>`` per record, all content in attributes.

The posts of ARQMath are one XML file of 4 GB; rows are read one at a time and freed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from lxml import etree

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.trec import open_binary, refuse_damaged_gzip

REPLACEMENT = "\ufffd"
"""Replaces a character that XML does not allow."""

_CHARACTER = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:x([0-9A-Fa-f]+)|([0-9]+));"
)
# Entities of a document are not expanded, and nothing that they name is fetched.
_SAFE: dict[str, bool] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
}
_MAX_REFERENCE = 16  # bytes of a character reference that is read as one


def read_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a dump in file order: the line of its end, its attributes.

    Characters that XML does not allow (``&#x1;``, half of a surrogate pair), which
    dumps do hold, are replaced; one of them would end the reading of the file.

    Raises:
        MalformedInputError: the file is cut short, not UTF-8, or not a dump; the
            message names the line and the remedy. Rows before the fault were yielded.
    """
    line = 0
    with open_binary(path) as stream, refuse_damaged_gzip(path):
        try:
            # huge_tree lifts libxml2's limits on depth and size of one text.
            for _, element in etree.iterparse(
                _ReplacingStream(stream),
                events=("end",),
                tag="row",
                huge_tree=True,
                **_SAFE,
            ):
                line = element.sourceline or line
                yield line, element.attrib
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as exc:
            raise _explain(path, exc) from exc


def read_xml(path: Path) -> etree._Element:
    """Return the root of a small XML file, plain or gzip.

    Raises:
        MalformedInputError: the message names the line and the remedy.
    """
    with open_binary(path) as stream, refuse_damaged_gzip(path):
        try:
            source = _ReplacingStream(stream)
            return etree.parse(source, etree.XMLParser(**_SAFE)).getroot()
        except etree.XMLSyntaxError as exc:
            raise _explain(path, exc) from exc


class _ReplacingStream:
    """A stream of XML in which characters that XML does not allow are replaced."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = b""  # a reference that may continue in the next piece

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        data = self._kept + piece
        self._kept = b""
        start = data.rfind(b"&", max(0, len(data) - _MAX_REFERENCE))
        if piece and start >= 0 and b";" not in data[start:]:
            data, self._kept = data[:start], data[start:]
            if not data:  # an empty piece would mean the end
                return self.read(size)
        return _CHARACTER.sub(_replace_character, data)


def _replace_character(match: re.Match[bytes]) -> bytes:
    digits = match[1] or match[2]
    if digits is None or len(digits) > _MAX_REFERENCE:
        return REPLACEMENT.encode()
    code = int(digits, 16 if match[1] else 10)
    is_allowed = (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )
    return match[0] if is_allowed else REPLACEMENT.encode()


def _is_closed(path: Path) -> bool:
    """Tell whether the file ends with the end tag of its root."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(0, size - 64))
        end = stream.read().rstrip()
    return re.search(rb"</\w+>$", end) is not None


def _explain(path: Path, exc: etree.XMLSyntaxError) -> MalformedInputError:
    text = exc.msg or str(exc)
    place = f"{str(path)!r}, line {exc.lineno}"
    if "encod" in text.lower() or "UTF-8" in text:
        return MalformedInputError(
            f"Expected UTF-8 in {place} ({text}); convert the file, e.g. "
            f"`iconv -f latin1 -t utf-8 {path.name}`, and run again"
        )
    if not _is_closed(path):
        return MalformedInputError(
            f"{place}: the file ends too early ({text}); it was probably cut short "
            "while downloading: fetch it again and rerun, finished shards are kept"
        )
    return MalformedInputError(
        f"{place}: not well-formed XML ({text}); compare the file with the published "
        "checksum, or repair that line and run again"
    )
