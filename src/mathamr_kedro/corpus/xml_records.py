"""XML files: Stack Exchange dumps row by row, and small files at once.

A dump has one ``<row .../>`` per record, all content in attributes. The posts of
ARQMath are one file of 4 GB; rows are read one at a time and freed. A row that cannot
be used is a failure with its line; a row with a harmless defect is kept, after a
failure that is marked as kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, TypeVar

from lxml import etree

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.types import PostType
from mathamr_kedro.corpus.raw import RawComment, RawPost, make_failure
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
T = TypeVar("T")
_Values = Mapping[str, str]
_TAG = re.compile(r"<([^<>]+)>")
_TYPES: dict[str, PostType] = {"1": "question", "2": "answer"}
_INTEGER = re.compile("-?[0-9]{1,9}")  # fits into 32 bits
_MAX_ID = 200  # characters; a longer id is a sign of damage


def read_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a dump in file order: the line of its end, its attributes.

    Characters that XML does not allow (``&#x1;``, half of a surrogate pair) occur in
    dumps and are replaced; otherwise one of them would stop the parser.

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


def read_posts(path: Path, source: str) -> Iterator[RawPost | Failure]:
    """Yield questions and answers; rows of other types are failures."""
    return _read_rows(path, source, ("Id", "PostTypeId"), _convert_post)


def read_comments(path: Path, source: str) -> Iterator[RawComment | Failure]:
    """Yield comments."""
    return _read_rows(path, source, ("Id", "PostId"), _convert_comment)


def _read_rows(
    path: Path,
    source: str,
    needed: tuple[str, ...],
    convert: Callable[[str, int, _Values], T],
) -> Iterator[T | Failure]:
    for line, values in read_rows(path):
        problem = _find_problem(values, needed)
        if problem:
            reason, detail = problem
            yield _failure(source, line, values, reason, detail)
            continue
        for reason, detail in _find_defects(values):
            yield _failure(source, line, values, reason, detail, kept=True)
        yield convert(source, line, values)


def _find_problem(values: _Values, needed: tuple[str, ...]) -> tuple[str, str] | None:
    for name in needed:
        if not values.get(name):
            found = ", ".join(values) or "none"
            return "missing_attribute", f"expected the attribute {name!r}, got {found}"
        if name.endswith("Id") and len(values[name]) > _MAX_ID:
            length = len(values[name])
            return "bad_id", f"expected {name} of at most {_MAX_ID}, got {length:,}"
    if values.get("PostTypeId", "1") not in _TYPES:
        kind = values["PostTypeId"]
        detail = f"expected PostTypeId 1 (question) or 2 (answer), got {kind!r}"
        return "other_post_type", detail
    return None


def _find_defects(values: _Values) -> Iterator[tuple[str, str]]:
    score = values.get("Score")
    if score and not _INTEGER.fullmatch(score):
        detail = f"expected a whole number as Score, got {score[:40]!r}"
        yield "bad_score", f"{detail}; taken as unknown"
    if any(REPLACEMENT in value for value in values.values()):
        yield "replaced_character", "a character that XML does not allow is now U+FFFD"


def _failure(
    source: str,
    line: int,
    values: _Values,
    reason: str,
    detail: str,
    kept: bool = False,
) -> Failure:
    record_id = values.get("Id", "")[:_MAX_ID]
    return make_failure(source, f"line {line}", reason, detail, record_id, kept)


def _convert_post(source: str, line: int, values: _Values) -> RawPost:
    score = values.get("Score", "")
    return RawPost(
        source=source,
        place=f"line {line}",
        post_id=values["Id"],
        post_type=_TYPES[values["PostTypeId"]],
        parent_id=values.get("ParentId"),
        accepted_answer_id=values.get("AcceptedAnswerId"),
        creation_date=values.get("CreationDate"),
        score=int(score) if _INTEGER.fullmatch(score) else None,
        tags=tuple(_TAG.findall(values.get("Tags", ""))),
        title=values.get("Title", ""),
        body=values.get("Body", ""),
    )


def _convert_comment(source: str, line: int, values: _Values) -> RawComment:
    text = values.get("Text", "")
    return RawComment(
        source=source,
        place=f"line {line}",
        comment_id=values["Id"],
        post_id=values["PostId"],
        text=text,
    )
