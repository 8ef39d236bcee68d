"""Records of a Stack Exchange dump, made from the rows of its XML files.

A row that cannot be used is a failure with its line; a row with a defect that does no
harm is kept, behind a failure that is marked as kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.types import PostType
from mathamr_kedro.corpus.raw import RawComment, RawPost, make_failure
from mathamr_kedro.corpus.xml_rows import REPLACEMENT, read_rows

T = TypeVar("T")

_Values = Mapping[str, str]

_TAG = re.compile(r"<([^<>]+)>")
_TYPES: dict[str, PostType] = {"1": "question", "2": "answer"}
_INTEGER = re.compile("-?[0-9]{1,9}")  # fits into 32 bits
_MAX_ID = 200  # characters; a longer id is a sign of damage


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
