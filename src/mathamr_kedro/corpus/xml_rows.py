"""Stack Exchange dumps: one ``<row .../>`` per record, all content in attributes.

The posts of ARQMath are one XML file of 4 GB; rows are read one at a time and freed.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.trec import open_binary


def read_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a dump in file order: the line of its end, its attributes.

    Raises:
        MalformedInputError: the file is cut short, not UTF-8, or not a dump; the
            message names the line and the remedy. Rows before the fault were yielded.
    """
    line = 0
    with open_binary(path) as stream:
        try:
            # huge_tree lifts libxml2's limits on depth and size of one text.
            for _, element in etree.iterparse(
                stream, events=("end",), tag="row", huge_tree=True
            ):
                line = element.sourceline or line
                yield line, element.attrib
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as exc:
            raise _explain(path, exc) from exc
        except (EOFError, gzip.BadGzipFile) as exc:
            raise MalformedInputError(
                f"{str(path)!r} is a damaged gzip file ({exc}); fetch it again"
            ) from exc


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
