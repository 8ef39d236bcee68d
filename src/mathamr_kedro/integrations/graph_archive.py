"""Archives of math graphs: parsed once, read elsewhere.

::

    graphs.tar.gz
      manifest.json                    what is in it, with sizes and checksums
      README.md                        the format, to read
      pairs/pairs.tsv                  question_id  answer_id  label
      failures/posts/SHARD.jsonl       why posts have no graph, one record a line
      topics/SHARD.amr.txt             graphs of topics
      posts/SHARD.amr.txt              graphs of posts, records of PENMAN text

Files are read and written one at a time, none is longer than a shard. The same graphs
make the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.base.records import Failure, TrainingPair
from mathamr_kedro.base.types import PostId

_FORMAT = "mathamr-graphs"
_VERSION = 1
_MANIFEST = "manifest.json"
_SHARD_NAME = re.compile(r"[\w~][\w.~-]*")
_AGAIN = "fetch or export the archive again"
_README = """# MathAMR+ graphs

Written by `mathamr export graphs`; `mathamr import FILE` puts it into a project.

- `posts/`, `topics/`: graphs in PENMAN notation, one record after another, an empty
  line behind each. Comment lines hold the id, the post type, the placeholders that the
  AMR lost (`missing`) and `formula_map`: FORMULA_n to formula id, visual id and LaTeX.
- `pairs/`: a question, an answer, and the label: `accepted` or `answer`.
- `failures/`: posts and topics without a graph, and formulas without a tree, with the
  reason; `"kept": true` is a note on an existing graph.
- `manifest.json`: every file with its counts, size and SHA-256.

The graphs are made from the texts of the collection and are under its licence: those
of Math Stack Exchange posts (ARQMath) under CC BY-SA. Name the site and the posts by
their ids, and pass changed graphs on under the same licence.
"""


class ArchivedFile(NamedTuple):
    """One file of an archive: a shard of a table."""

    table: str
    """``posts``, ``topics``, ``pairs``, ``failures/posts``, ..."""
    shard: str
    counts: Mapping[str, int]
    name: str
    size: int = 0
    sha256: str = ""


class GraphArchive:
    """An existing archive; its manifest is read at once.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it is no archive of graphs, or of a later version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise MissingInputError(
                f"Expected an archive of graphs at {str(path)!r} (no such file)"
            )
        try:
            _, content = next(_read_members(path, (_MANIFEST,)))
            self.manifest: dict[str, Any] = json.loads(content)
            found = self.manifest["format"], self.manifest["version"]
        except (StopIteration, ValueError, KeyError, TypeError) as exc:
            raise _foreign(path, f"{_MANIFEST}: {exc}") from exc
        if found != (_FORMAT, _VERSION):
            raise _foreign(path, f"{_MANIFEST}: format and version {found!r}")
        self.files = _list_files(path, self.manifest)

    @property
    def mode(self) -> str:
        """How the graphs were fused: ``mathamr_plus`` or ``mathamr``."""
        return str(self.manifest.get("mode"))

    def checksum(self, table: str) -> str | None:
        """Return what a table was made from; ``None`` if it is not in here."""
        return self.manifest["fingerprints"].get(table)

    def read(self) -> Iterator[tuple[ArchivedFile, str]]:
        """Yield the files with their texts, in order, each checked.

        Raises:
            MalformedInputError: a file is missing or damaged.
        """
        missing = {file.name: file for file in self.files}
        for name, content in _read_members(self.path, missing):
            file = missing.pop(name)
            yield file, _check_content(self.path, file, content)
        if missing:
            first = next(iter(missing))
            raise MalformedInputError(
                f"{str(self.path)!r} lacks {len(missing):,} files of its manifest, "
                f"first {first!r}; {_AGAIN}"
            )


def write_archive(
    path: Path,
    facts: Mapping[str, Any],
    files: Sequence[tuple[ArchivedFile, Callable[[], bytes]]],
) -> None:
    """Write an archive, atomically.

    Args:
        path: replaced if it exists.
        facts: ``mode``, ``fingerprints`` (a checksum by table), and what else is
            worth knowing.
        files: the files and how to get their contents, asked for twice.
    """
    listed = []
    for file, read in files:
        content = read()
        sha256 = hashlib.sha256(content).hexdigest()
        listed.append(file._replace(size=len(content), sha256=sha256)._asdict())
    manifest = {"format": _FORMAT, "version": _VERSION, **facts, "files": listed}
    with (
        replace_file(path) as part,
        part.open("wb") as raw,
        # No name and no time: the same graphs make the same bytes.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as stream,
        tarfile.open(mode="w|", fileobj=stream) as tar,
    ):
        _add(tar, _MANIFEST, json.dumps(manifest, indent=1).encode())
        _add(tar, "README.md", _README.encode())
        for file, read in files:
            _add(tar, file.name, read())


def format_pairs(
    rows: Iterable[TrainingPair], accepted: Mapping[PostId, PostId | None]
) -> bytes:
    r"""Return pairs as a table with labels.

    Args:
        rows: questions and answers.
        accepted: accepted answers by question.

    >>> rows = [TrainingPair("1", "2"), TrainingPair("1", "3")]
    >>> format_pairs(rows, {"1": "2"}).decode().splitlines()[1:]
    ['1\t2\taccepted', '1\t3\tanswer']
    """
    text = io.StringIO()
    table = csv.writer(text, "excel-tab", lineterminator="\n")
    table.writerow((*TrainingPair._fields, "label"))
    for question, answer in rows:
        is_accepted = accepted.get(question) == answer
        table.writerow((question, answer, "accepted" if is_accepted else "answer"))
    return text.getvalue().encode()


def read_pairs(archive: Path, file: ArchivedFile, text: str) -> Iterator[TrainingPair]:
    """Undo :func:`format_pairs`; the labels are for others."""
    rows = csv.reader(io.StringIO(text, newline=""), "excel-tab")
    names = TrainingPair._fields
    if tuple(next(rows, [])[: len(names)]) != names:
        raise _bad_line(archive, file, 1, f"the header {names}")
    for number, row in enumerate(rows, start=2):
        if len(row) < len(names):
            raise _bad_line(archive, file, number, "a question and an answer")
        yield TrainingPair(*row[: len(names)])


def format_failures(rows: Iterable[Failure]) -> bytes:
    """Return failures as lines of JSON."""
    lines = (json.dumps(row._asdict()) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def read_failures(archive: Path, file: ArchivedFile, text: str) -> Iterator[Failure]:
    """Undo :func:`format_failures`."""
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            yield Failure(**json.loads(line))
        except (ValueError, TypeError) as exc:
            wanted = f"a failure in JSON ({exc})"
            raise _bad_line(archive, file, number, wanted) from exc


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _read_members(path: Path, wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of the wanted members; the first is the manifest."""
    last = None
    try:
        with tarfile.open(path, "r:*") as tar:
            for member in tar:
                if last is None and member.name != _MANIFEST:
                    raise _foreign(path, f"the first file {member.name!r}")
                last = member.name
                stream = tar.extractfile(member) if member.name in wanted else None
                if stream is not None:
                    yield member.name, stream.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as exc:
        if last is None:
            raise _foreign(path, "no tar file") from exc
        raise MalformedInputError(
            f"{str(path)!r} ends at or after {last!r} ({exc}); {_AGAIN}"
        ) from exc


def _check_content(path: Path, file: ArchivedFile, content: bytes) -> str:
    found = hashlib.sha256(content).hexdigest()
    if len(content) != file.size or found != file.sha256:
        raise MalformedInputError(
            f"{str(path)!r}: {file.name!r} is damaged (expected {file.size:,} bytes of "
            f"SHA-256 {file.sha256[:12]}..., got {len(content):,} of {found[:12]}...)"
            f"; {_AGAIN}"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise MalformedInputError(
            f"{str(path)!r}: expected UTF-8 in {file.name!r} ({exc}); {_AGAIN}"
        ) from exc


def _list_files(path: Path, manifest: Mapping[str, Any]) -> list[ArchivedFile]:
    try:
        tables = manifest["fingerprints"]
        files = [ArchivedFile(**entry) for entry in manifest["files"]]
        for file in files:
            if not _SHARD_NAME.fullmatch(file.shard) or file.table not in tables:
                raise ValueError(f"table {file.table!r}, shard {file.shard!r}")
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise _foreign(path, f"{_MANIFEST}: {exc!r}") from exc
    return files


def _foreign(path: Path, found: str) -> MalformedInputError:
    return MalformedInputError(
        f"Expected an archive of `mathamr export graphs` in {str(path)!r} (got "
        f"{found}); docs/pipelines/graph_fusion.md says what is in one"
    )


def _bad_line(
    archive: Path, file: ArchivedFile, line: int, wanted: str
) -> MalformedInputError:
    return MalformedInputError(
        f"{str(archive)!r}: expected {wanted} in {file.name!r}, line {line}; export "
        "the archive again"
    )
