"""Text files with columns, plain or gzip, as they are found in the wild.

Tabs or blanks between columns, any line end, a byte order mark or none. Names are read
as NFC Unicode, so that ``é`` in one letter and ``e`` with an accent are the same name;
NTCIR-12 has names of both kinds.
"""

from __future__ import annotations

import gzip
import io
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from mathamr_kedro.errors import MalformedInputError, MissingInputError, suggest
from mathamr_kedro.files import replace_file

BadLines = Literal["refuse", "skip", "as_trec_eval"]
"""What to do with a line of a wrong form: stop with an error, leave it out, or read it
as trec_eval does, columns counted from the left and extra ones cut off."""
Names = Literal["nfc", "as_written"]
"""Whether names are compared as NFC Unicode, or code point by code point."""

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Columns:
    """The lines of a file that are not empty, split into columns."""

    cells: Sequence[Sequence[str]]
    """One sequence per column, all of the same length."""
    line_numbers: Sequence[int]
    """Line of each row in the file, from 1."""
    source: str
    """File name, for messages."""
    num_bad_lines: int = 0
    """Lines left out or cut."""

    def __len__(self) -> int:
        return len(self.line_numbers)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.cells)

    def row(self, number: int) -> list[str]:
        """Return one row."""
        return [column[number] for column in self.cells]

    def place(self, row: int) -> str:
        """Return where a row stands, e.g. ``"run.tsv, line 7"``."""
        return f"{self.source}, line {self.line_numbers[row]}"


def read_columns(
    path: Path, bad_lines: BadLines = "refuse", names: Names = "nfc"
) -> Columns:
    """Read and split a file.

    Args:
        path: the file; it is split at tabs where its first line has one, else at
            blanks.
        bad_lines: what to do with lines of another width than most.
        names: how to read names beyond ASCII.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it is not UTF-8 text, or a line has a wrong width.
    """
    text = read_text(path, names).replace("\r\n", "\n").replace("\r", "\n")
    separator = "\t" if "\t" in text.lstrip().partition("\n")[0] else " "
    evenly = _split_evenly(text.rstrip("\n"), separator)
    if evenly is not None:
        return Columns(evenly, range(1, len(evenly[0]) + 1), path.name)
    return _split_lines(text, separator, path.name, bad_lines)


def read_text(path: Path, names: Names = "nfc") -> str:
    """Read a whole text file, plain or gzip.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it is not UTF-8, or a broken gzip file.
    """
    data = _read_bytes(path)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise MalformedInputError(
            f"Expected UTF-8 text in {path.name} (got UTF-16); convert it with "
            f"'iconv -f UTF-16 -t UTF-8'"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data[: exc.start].count(b"\n") + 1
        raise MalformedInputError(
            f"Expected UTF-8 text in {path.name}, line {line} (got byte "
            f"{data[exc.start : exc.start + 1]!r}); if it is Latin-1, convert it with "
            f"'iconv -f LATIN1 -t UTF-8'"
        ) from exc
    if names == "as_written" or text.isascii():
        return text
    return unicodedata.normalize("NFC", text)


@contextmanager
def open_to_replace(path: Path) -> Iterator[IO[str]]:
    """Open a text file that takes its place only when it is whole.

    Names that end in ``.gz`` are compressed, without a time stamp, so that the same
    content gives the same bytes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as part, part.open("wb") as raw:
        sink: Any = raw
        if path.suffix == ".gz":
            sink = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
        with io.TextIOWrapper(sink, encoding="utf-8", newline="\n") as file:
            yield file


def _read_bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError as exc:
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        near = suggest(path.name, names)
        raise MissingInputError(f"No file {str(path)!r}{near}") from exc
    except IsADirectoryError as exc:
        raise MissingInputError(f"Expected a file, got folder {str(path)!r}") from exc
    if data[:2] != _GZIP_MAGIC:
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise MalformedInputError(f"Broken gzip file {path.name} ({exc})") from exc


def _split_evenly(text: str, separator: str) -> list[list[str]] | None:
    """Split all lines at once where each has the same plain form, else say None.

    One list for the whole file is several times faster than a list for each line.
    """
    lines = text.split("\n")
    counts = {line.count(separator) for line in lines}
    width = next(iter(counts)) + 1
    other = " " if separator == "\t" else "\t"
    if len(counts) != 1 or width == 1 or other in text:
        return None
    cells = separator.join(lines).split(separator)
    if "" in cells:  # two blanks side by side, or an empty cell
        return None
    return [cells[column::width] for column in range(width)]


def _split_lines(
    text: str, separator: str, source: str, bad_lines: BadLines
) -> Columns:
    lines = [
        (n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip(" \t")
    ]
    if separator == "\t":
        rows = [[cell.strip(" ") for cell in line.split("\t")] for _, line in lines]
    else:
        rows = [line.replace("\t", " ").split(" ") for _, line in lines]
        rows = [[cell for cell in row if cell] for row in rows]
    numbers = [n for n, _ in lines]
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    bad = [i for i, row in enumerate(rows) if len(row) != width]
    if bad_lines == "skip":
        left_out = set(bad)
        numbers = [n for i, n in enumerate(numbers) if i not in left_out]
        rows = [row for i, row in enumerate(rows) if i not in left_out]
    else:
        for i in bad:
            if bad_lines == "refuse" or len(rows[i]) < width:
                raise MalformedInputError(
                    f"Expected {width} columns, as most lines have (got "
                    f"{len(rows[i])}: {rows[i]!r}) ({source}, line {numbers[i]}); "
                    "mend it, or leave such lines out (--bad-lines skip)"
                )
            rows[i] = rows[i][:width]
    return Columns(list(zip(*rows, strict=True)), numbers, source, len(bad))
