"""Records of JSONL and Parquet files: documents, queries, judgments.

Every record that cannot be used is a failure with its file and line.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.raw import MAX_FILE, Markup, RawPost, make_failure
from mathamr_kedro.trec import open_binary

_IDS = ("_id", "id")
_TITLES = ("title", "name")
_MAX_ID = 1000  # characters

Record = tuple[str, dict[str, Any]]
"""The place of a record, and its content."""


def read_benchmark_rows(
    records: Iterable[Record | Failure], source: str, markup: Markup
) -> Iterator[RawPost | Failure]:
    """Yield the documents or queries of a file."""
    for found in records:
        if isinstance(found, Failure):
            yield found
            continue
        place, record = found
        problem = next(_find_problems(record), None)
        if problem is not None:
            name = str(_first(record, _IDS) or source)[:_MAX_ID]
            yield make_failure(source, place, "bad_record", problem, name)
            continue
        notes = record.get("metadata") or {}
        yield RawPost(
            source=source,
            place=place,
            post_id=str(_first(record, _IDS)),
            title=str(_first(record, _TITLES) or ""),
            body=str(record["text"]),
            markup=notes.get("format") or markup,
            tags=tuple(str(tag) for tag in notes.get("tags") or ()),
        )


def read_records(path: Path, source: str) -> Iterator[Record | Failure]:
    """Yield the records of a JSONL or Parquet file with their places."""
    read = _read_parquet if path.suffix == ".parquet" else _read_jsonl
    place = ""
    try:
        for found in read(path, source):
            place = found.place if isinstance(found, Failure) else found[0]
            yield found
    except (EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowException) as exc:
        detail = f"the file is damaged ({exc}); what follows is lost: fetch it again"
        last = f"after {place}" if place else "line 1"
        yield make_failure(source, last, "damaged_file", detail)
    except OSError as exc:
        detail = f"the file cannot be read ({exc.strerror or exc}); check its rights"
        last = f"after {place}" if place else "line 1"
        yield make_failure(source, last, "unreadable_file", detail)


def _read_jsonl(path: Path, source: str) -> Iterator[Record | Failure]:
    with open_binary(path) as stream:
        for number, line in enumerate(_read_lines(stream), start=1):
            place = f"line {number}"
            if len(line) > MAX_FILE:
                detail = f"expected at most {MAX_FILE:,} bytes in a line; split it"
                yield make_failure(source, place, "too_large", detail)
                continue
            if not line.strip():
                continue
            try:
                record = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as exc:
                detail = f"expected a JSON object in UTF-8 ({exc})"
                yield make_failure(source, place, "bad_json", detail)
                continue
            if isinstance(record, dict):
                yield place, record
            else:
                detail = f"expected a JSON object, got {type(record).__name__}"
                yield make_failure(source, place, "bad_record", detail)


def _read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield lines; of one that is too long no more than shows it."""
    while line := stream.readline(MAX_FILE + 1):
        yield line
        while len(line) > MAX_FILE and not line.endswith(b"\n"):
            line = stream.readline(MAX_FILE + 1)


def _read_parquet(path: Path, source: str) -> Iterator[Record | Failure]:
    number = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            for record in batch.to_pylist():
                number += 1
                yield f"row {number}", record


def _find_problems(record: Mapping[str, Any]) -> Iterator[str]:
    name = _first(record, _IDS)
    if name is None or not str(name).strip():
        yield f"expected an id as '_id', got {', '.join(record)!r}"
    if isinstance(name, (list, dict, bool, float)) or len(str(name)) > _MAX_ID:
        yield f"expected a text of at most {_MAX_ID} characters as '_id'"
    if not isinstance(record.get("text"), str):
        yield f"expected a text as 'text', got {str(record.get('text'))[:80]!r}"
    if not isinstance(_first(record, _TITLES) or "", str):
        yield f"expected a text as 'title', got {str(_first(record, _TITLES))[:80]!r}"
    notes = record.get("metadata") or {}
    if not isinstance(notes, dict):
        yield f"expected an object as 'metadata', got {str(notes)[:80]!r}"
        return
    if notes.get("format") not in (None, *get_args(Markup)):
        yield f"expected format among {get_args(Markup)}, got {notes['format']!r}"
    if not isinstance(notes.get("tags") or [], list):
        yield f"expected a list of tags, got {str(notes['tags'])[:80]!r}"


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)
