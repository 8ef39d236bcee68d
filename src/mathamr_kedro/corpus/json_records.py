"""Records of JSONL and Parquet files: documents, queries, judgments.

Every record that cannot be used is a failure with its file and line.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.raw import (
    MAX_FILE,
    Markup,
    RawPost,
    convert,
    make_failure,
)
from mathamr_kedro.trec import open_binary

_TEXTS = ("text", "body", "question", "answer")
_MAX_ID = 1000  # characters; paths of files are ids too

Record = tuple[str, dict[str, Any]]
"""The place of a record, and its content."""


def read_posts(
    records: Iterable[Record | Failure],
    source: str,
    markup: Markup,
    texts: Sequence[str] = _TEXTS,
) -> Iterator[RawPost | Failure]:
    """Yield the documents of records; of a thread, its question and its answer.

    Args:
        records: with a text, or a question with or without its answer.
        source: name of the file.
        markup: of records that do not name theirs.
        texts: fields of which each record must have one.
    """
    for found in records:
        if isinstance(found, Failure):
            yield found
            continue
        place, record = found
        record = {key: value for key, value in record.items() if value is not None}
        problem = next(_find_problems(record, texts), None)
        if problem is None:
            yield from _read_record(record, source, place, markup)
        else:
            name = str(record.get("id") or source)[:_MAX_ID]
            yield make_failure(source, place, "bad_record", problem, name)


def read_benchmark_rows(
    records: Iterable[Record | Failure], source: str, markup: Markup
) -> Iterator[RawPost | Failure]:
    """Yield the documents or queries of records in the form of BEIR."""
    return read_posts(convert(records, _rename), source, markup, ("text",))


def _rename(found: Record) -> Record:
    """Return a record with the names that its fields have in own files."""
    place, record = found

    def first(*keys: str) -> Any:
        return next((v for key in keys if (v := record.get(key)) is not None), "")

    notes = record.get("metadata") or {}
    if not isinstance(notes, dict):
        notes = {"format": notes}  # refused there
    return place, {
        "id": first("_id", "id"),
        "title": first("title", "name"),
        "text": record.get("text"),
        "format": notes.get("format"),
        "tags": notes.get("tags"),
    }


def _read_record(
    record: Mapping[str, Any], source: str, place: str, markup: Markup
) -> Iterator[RawPost]:
    post = RawPost(
        source=source,
        place=place,
        post_id=str(record.get("id", f"{source}#{place.rpartition(' ')[2]}")),
        tags=tuple(str(tag) for tag in record.get("tags") or () if tag is not None),
        title=str(record.get("title", "")),
        body=next(str(record[key]) for key in _TEXTS if key in record),
        markup=record.get("format", markup),
    )
    if "question" not in record:
        yield post
        return
    answer_id = f"{post.post_id}/answer" if "answer" in record else None
    yield post._replace(
        post_type="question",
        accepted_answer_id=answer_id,
        body=str(record["question"]),
    )
    if answer_id is not None:
        yield post._replace(
            post_id=answer_id,
            post_type="answer",
            parent_id=post.post_id,
            tags=(),
            title="",
            body=str(record["answer"]),
        )


def _find_problems(record: Mapping[str, Any], texts: Sequence[str]) -> Iterator[str]:
    name = record.get("id", "-")
    if not str(name).strip():
        yield "expected an id, got an empty one or none"
    if isinstance(name, float) or len(str(name)) > _MAX_ID:
        yield f"expected an id of at most {_MAX_ID} characters, got {str(name)[:80]!r}"
    if not any(key in record for key in texts):
        wanted = " or ".join(map(repr, texts))
        yield f"expected a text as {wanted}, got only {', '.join(record)!r}"
    for key in ("id", "title", *texts):
        if isinstance(record.get(key), (list, dict, bool)):
            yield f"expected a text as {key!r}, got {str(record[key])[:80]!r}"
    if record.get("format") not in (None, *get_args(Markup)):
        yield f"expected format among {get_args(Markup)}, got {record['format']!r}"
    if not isinstance(record.get("tags") or [], list):
        yield f"expected a list of tags, got {str(record['tags'])[:80]!r}"


def read_records(path: Path, source: str) -> Iterator[Record | Failure]:
    """Yield the records of a JSONL or Parquet file with their places."""
    read = _read_parquet if path.suffix == ".parquet" else _read_jsonl
    place = ""
    try:
        for found in read(path, source):
            place = found.place if isinstance(found, Failure) else found[0]
            yield found
    except (EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowException) as exc:
        reason = "damaged_file"
        detail = f"the file is damaged ({exc}); what follows is lost: fetch it again"
    except OSError as exc:
        reason = "unreadable_file"
        detail = f"the file cannot be read ({exc.strerror or exc}); check its rights"
    else:
        return
    yield make_failure(source, f"after {place}" if place else "line 1", reason, detail)


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
    """Yield lines; of one that is too long, only as much as shows that."""
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
