"""Input files as published, plain or gzip, and lines of columns in them.

Gzip is recognised by its content, a byte order mark is dropped. Names are read as NFC
Unicode, so that ``é`` in one letter and ``e`` with an accent are the same name;
NTCIR-12 has names of both kinds. Runs and qrels have columns and no header: tabs or
blanks separate them, lines end in any way, empty lines do not count.
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

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError, suggest
from mathamr_kedro.base.files import make_folder, replace_file
from mathamr_kedro.base.progress import count_bytes

Names = Literal["nfc", "as_written"]
"""Whether names are compared as NFC Unicode, or code point by code point."""

_BUFFER = 1 << 17
_GZIP_MAGIC = b"\x1f\x8b"

BadLines = Literal["refuse", "skip", "as_trec_eval"]
"""What to do with a malformed line: stop with an error, skip it, or read it as
trec_eval does, with columns counted from the left and extra ones cut off."""


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacking gzip."""
    try:
        stream = io.BufferedReader(_CountedFile(path), _BUFFER)
    except FileNotFoundError as exc:
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        near = suggest(path.name, names)
        raise MissingInputError(f"No file {str(path)!r}{near}") from exc
    except IsADirectoryError as exc:
        raise MissingInputError(f"Expected a file, got folder {str(path)!r}") from exc
    is_packed = stream.read(2) == _GZIP_MAGIC
    stream.seek(0)
    if not is_packed:
        return stream
    packed = gzip.GzipFile(fileobj=stream, mode="rb")
    packed.myfileobj = stream  # type: ignore[assignment]  # closed with it
    return packed  # type: ignore[return-value]


class _CountedFile(io.FileIO):
    """A file whose bytes are counted as they are read, for progress."""

    def readinto(self, buffer: Any) -> int | None:
        number = super().readinto(buffer)
        count_bytes(number or 0)
        return number

    def readall(self) -> bytes:
        data = super().readall()
        count_bytes(len(data))
        return data


@contextmanager
def refuse_damaged_gzip(path: Path) -> Iterator[None]:
    """Raise an error with the file's name if a gzip file is damaged.

    Raises:
        MalformedInputError: it is not a complete gzip file.
    """
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise MalformedInputError(
            f"Broken gzip file {path.name} ({exc}); fetch it again"
        ) from exc


def read_text(path: Path, names: Names = "nfc") -> str:
    """Read a text file.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it is not UTF-8, or a broken gzip file.
    """
    with open_binary(path) as stream, refuse_damaged_gzip(path):
        data = stream.read()
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
    """Open a text file to write; it is renamed to ``path`` when it is complete.

    Names that end in ``.gz`` are compressed, without a time stamp, so that the same
    content gives the same bytes.
    """
    make_folder(path.parent)
    with replace_file(path) as part, part.open("wb") as raw:
        sink: Any = raw
        if path.suffix == ".gz":
            sink = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
        with io.TextIOWrapper(sink, encoding="utf-8", newline="\n") as file:
            yield file


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
    """Lines that were skipped or cut."""
    skipped: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Number and cells of each line that was skipped."""

    @classmethod
    def read(
        cls,
        path: Path,
        bad_lines: BadLines = "refuse",
        width: int | None = None,
    ) -> Columns:
        """Read and split a file.

        Args:
            path: the file; it is split at tabs if its first line has one, else at
                blanks.
            bad_lines: what to do with lines of another width.
            width: number of columns; that of most lines if absent. If it is
                given, a line that tabs do not split into so many columns is split at
                tabs and blanks alike.

        Raises:
            MissingInputError: there is no such file.
            MalformedInputError: it is not UTF-8 text, or a line has a wrong width.
        """
        text = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        separator = "\t" if "\t" in text.lstrip().partition("\n")[0] else " "
        evenly = split_evenly(text.rstrip("\n"), separator)
        if evenly is not None and width in (None, len(evenly)):
            return cls(evenly, range(1, len(evenly[0]) + 1), path.name)
        return split_lines(text, separator, path.name, bad_lines, width)

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
        """Return the place of a row, e.g. ``"run.tsv, line 7"``."""
        return f"{self.source}, line {self.line_numbers[row]}"


def split_evenly(text: str, separator: str) -> list[list[str]] | None:
    """Split all lines at once if they have one plain format; ``None`` otherwise.

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


def split_lines(
    text: str,
    separator: str,
    source: str,
    bad_lines: BadLines,
    wanted: int | None = None,
) -> Columns:
    """Split line by line: the slow way, which detects bad lines."""
    lines = [
        (n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip(" \t")
    ]
    rows = [_split_line(line, separator, wanted) for _, line in lines]
    numbers = [n for n, _ in lines]
    most_common = Counter(map(len, rows)).most_common(1)
    width = wanted or (most_common[0][0] if rows else 0)
    bad = [i for i, row in enumerate(rows) if len(row) != width]
    skipped: tuple[tuple[int, tuple[str, ...]], ...] = ()
    if bad_lines == "skip":
        left_out = set(bad)
        skipped = tuple((numbers[i], tuple(rows[i])) for i in bad)
        numbers = [n for i, n in enumerate(numbers) if i not in left_out]
        rows = [row for i, row in enumerate(rows) if i not in left_out]
    else:
        for i in bad:
            if bad_lines == "refuse" or len(rows[i]) < width:
                raise MalformedInputError(
                    f"Expected {width} columns, as most lines have (got "
                    f"{len(rows[i])}: {rows[i]!r}) ({source}, line {numbers[i]}); "
                    "fix it, or skip such lines (--bad-lines skip)"
                )
            rows[i] = rows[i][:width]
    columns = list(zip(*rows, strict=True)) if rows else [()] * (wanted or 0)
    return Columns(columns, numbers, source, len(bad), skipped)


def _split_line(line: str, separator: str, wanted: int | None) -> list[str]:
    if separator == "\t":
        cells = [cell.strip(" ") for cell in line.split("\t")]
        if wanted in (None, len(cells)):
            return cells
    return [cell for cell in line.replace("\t", " ").split(" ") if cell]
