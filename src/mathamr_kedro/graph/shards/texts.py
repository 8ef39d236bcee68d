"""Vectors of a sentence encoder beside graphs: a row for each, in half precision.

Encoding takes long, so it can be resumed::

    texts.npy       the whole: written last, with a checksum
    .texts.part     rows that are encoded
    .texts.json     how many texts are done, width of the vectors
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import replace_checked_file
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.files import reserve_file, write_text
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import CleanText, Post
from mathamr_kedro.base.types import PostId

_AT_ONCE = 256
"""Texts that are encoded, and written, together."""


def open_texts(path: Path, rows: int) -> NDArray[np.float16] | None:
    """Return the vectors of the texts of all graphs, unread; ``None`` without any.

    Raises:
        MalformedInputError: they are of other graphs.
    """
    if not path.is_file():
        return None
    texts = np.load(path, mmap_mode="r").view(np.ndarray)
    if texts.ndim != 2 or len(texts) != rows:
        raise MalformedInputError(
            f"Expected a vector for each of {rows} graphs in {str(path)!r} (got shape "
            f"{texts.shape}); delete it and run the stage 'preprocessing' again"
        )
    return texts


def place_texts(
    places: Mapping[PostId, int], posts: Iterable[Post]
) -> Iterator[tuple[int, CleanText]]:
    """Yield row and text of the posts that have a row."""
    for post in posts:
        if post.post_id in places:
            yield places[post.post_id], CleanText(post.text, post.formula_map)


def write_texts(
    path: Path,
    rows: int,
    texts: Iterable[tuple[int, str]],
    encode: Callable[[Sequence[str]], NDArray[Any]],
    total: int | None = None,
    width: int = 0,
) -> int:
    """Encode texts of graphs, or resume; do nothing if all are encoded.

    Args:
        path: ``.npy`` file, a row for each graph in half precision.
        rows: number of them; those without a text get zeros.
        texts: row and text of each that has one, always in the same order.
        encode: gives a vector to each text.
        total: number of texts, if known; for the lines of progress.
        width: of the zeros, if there are no texts.

    Returns:
        Width of the vectors.
    """
    if path.is_file():
        return int(np.load(path, mmap_mode="r").shape[1])
    part, state = (path.with_name(f".{path.stem}.{end}") for end in ("part", "json"))
    done, width = _read_state(part, state) or (0, width)
    table = np.memmap(part, np.float16, "r+", shape=(rows, width)) if done else None
    rest = islice(iter(texts), done, None)
    batches = iter(lambda: list(islice(rest, _AT_ONCE)), [])
    counted = report_progress(
        batches, "texts encoded", len, total=None if total is None else total - done
    )
    for batch in counted:
        vectors = encode([text for _, text in batch])
        if table is None:  # on disk: memory holds what was just written
            width = vectors.shape[1]
            table = np.memmap(part, np.float16, "w+", shape=(rows, width))
            reserve_file(part)
        table[[row for row, _ in batch]] = vectors
        table.flush()
        done += len(batch)
        write_text(state, json.dumps({"done": done, "width": width}))
    with replace_checked_file(path) as written, written.open("wb") as file:
        np.save(file, np.zeros((rows, width), np.float16) if table is None else table)
    for file_of_part in (part, state):
        file_of_part.unlink(missing_ok=True)
    return width


def join_texts(
    parts: Sequence[tuple[NDArray[np.float16] | None, int]], path: Path
) -> None:
    """Write vectors of several parts to one file, zeros for a part without any.

    Args:
        parts: the vectors, and the number of graphs.
        path: of a file, which is not written if no part has vectors.
    """
    widths = [texts.shape[1] for texts, _ in parts if texts is not None]
    if not widths:
        return
    shape = (sum(count for _, count in parts), widths[0])
    out = np.lib.format.open_memmap(path, "w+", np.float16, shape)
    start = 0
    for texts, count in parts:
        if texts is not None:
            out[start : start + count] = texts
        start += count
    out.flush()


def _read_state(part: Path, state: Path) -> tuple[int, int] | None:
    if not state.is_file() or not part.is_file():
        return None
    known = json.loads(state.read_text(encoding="utf-8"))
    return int(known["done"]), int(known["width"])
