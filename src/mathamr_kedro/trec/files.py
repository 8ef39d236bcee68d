"""Files as they are found in the wild, plain or gzip.

Gzip is recognised by its content, a byte order mark is dropped. Names are read as NFC
Unicode, so that ``é`` in one letter and ``e`` with an accent are the same name;
NTCIR-12 has names of both kinds.
"""

from __future__ import annotations

import gzip
import io
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError, suggest
from mathamr_kedro.base.files import make_folder, replace_file
from mathamr_kedro.base.progress import count_bytes

Names = Literal["nfc", "as_written"]
"""Whether names are compared as NFC Unicode, or code point by code point."""

_BUFFER = 1 << 17
_GZIP_MAGIC = b"\x1f\x8b"


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacking gzip.

    Raises:
        MissingInputError: there is no such file.
    """
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
    """A file whose bytes are counted as they are read: progress looks at them."""

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
    """Name the file if reading it, opened by :func:`open_binary`, meets damage.

    Raises:
        MalformedInputError: it is no whole gzip file.
    """
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise MalformedInputError(
            f"{str(path)!r} is a damaged gzip file ({exc}); fetch it again"
        ) from exc


def read_text(path: Path, names: Names = "nfc") -> str:
    """Read a whole text file.

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
    make_folder(path.parent)
    with replace_file(path) as part, part.open("wb") as raw:
        sink: Any = raw
        if path.suffix == ".gz":
            sink = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
        with io.TextIOWrapper(sink, encoding="utf-8", newline="\n") as file:
            yield file


def _read_bytes(path: Path) -> bytes:
    try:
        with open_binary(path) as stream:
            return stream.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise MalformedInputError(f"Broken gzip file {path.name} ({exc})") from exc
