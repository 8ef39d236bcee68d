"""Writing graphs: one after another to a new folder, or folders joined to one.

Vectors of a sentence encoder for the graphs take long, so encoding can be resumed::

    folder/
      .texts.part    rows that are encoded, in half precision
      .texts.json    how many texts are done, width of the vectors
      texts.npy      the whole: written last, with a checksum
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.checksums import replace_checked_file, write_checksums
from mathamr_kedro.base.errors import GraphError, InputError, MalformedInputError
from mathamr_kedro.base.files import replace_folder, reserve_file, write_text
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import CleanText, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph.arrays import FORMULA, GraphArrays, GraphSchema
from mathamr_kedro.graph.shards.layout import (
    COLUMNS,
    FORMULA_NAMES,
    GROUPS,
    NO_NAME,
    NODE_NUMBERS,
    TEXTS,
    WIDE,
    FormulaName,
    ShardMeta,
)

_AT_ONCE = 256
"""Texts that are encoded, and written, together."""

_FLUSH = 1024
_COPY = 1 << 22


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


def join_texts(parts: Iterable[tuple[Path, int]], path: Path) -> None:
    """Write the vectors of several files to one, zeros for files that are missing."""
    found = [(open_texts(part, count), count) for part, count in parts]
    widths = [table.shape[1] for table, _ in found if table is not None]
    if not widths:
        return
    shape = (sum(count for _, count in found), widths[0])
    out = np.lib.format.open_memmap(path, "w+", np.float16, shape)
    start = 0
    for table, count in found:
        if table is not None:
            out[start : start + count] = table
        start += count
    out.flush()


def _read_state(part: Path, state: Path) -> tuple[int, int] | None:
    if not state.is_file() or not part.is_file():
        return None
    known = json.loads(state.read_text(encoding="utf-8"))
    return int(known["done"]), int(known["width"])


class _ArrayFile:
    """A growing ``.npy`` file of one dimension, or of rows of one length."""

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any]) -> None:
        self._file: BinaryIO = (folder / f"{name}.npy").open("wb")
        self._row = (COLUMNS[name],) if name in COLUMNS else ()
        self._dtype, self.length = dtype, 0
        self._write_header()

    def _write_header(self) -> None:
        shape = (self.length, *self._row)
        descr = np.lib.format.dtype_to_descr(self._dtype)
        np.lib.format.write_array_header_1_0(
            self._file, {"descr": descr, "fortran_order": False, "shape": shape}
        )

    def append(self, values: NDArray[Any]) -> None:
        """Add rows, cast to the type of the file: of node numbers the lower half."""
        self._file.write(values.astype(self._dtype).tobytes())
        self.length += len(values)

    def close(self) -> None:
        """Write the final length; NumPy pads headers so that they keep their size."""
        if self._file.closed:
            return
        self._file.seek(0)
        self._write_header()
        self._file.close()


class ShardWriter:
    """Append graphs to a new folder, which appears atomically.

    ::

        with ShardWriter(folder, schema) as writer:
            for post_id, graph in graphs:
                writer.add(post_id, graph)
    """

    def __init__(self, folder: Path, schema: GraphSchema) -> None:
        self.folder, self.schema = Path(folder), schema
        self._place = ExitStack()
        self._part = self._place.enter_context(replace_folder(self.folder))
        self._files = {
            name: _ArrayFile(self._part, name, dtype)
            for name, dtype in ShardMeta(schema, 0, 0).array_types.items()
        }
        for file in self._files.values():
            self._place.callback(file.close)  # before the folder takes its place
        self._waiting: list[tuple[str, GraphArrays]] = []
        self._names: list[FormulaName] = []
        self._seen: set[str] = set()
        self._largest = 0

    def __len__(self) -> int:
        return len(self._seen)

    def add(
        self, key: str, graph: GraphArrays, formulas: Sequence[FormulaName] = ()
    ) -> None:
        """Append one checked graph.

        Args:
            key: post id.
            graph: its arrays.
            formulas: formula id and visual id of each representative that is a
                formula, if they will be asked for.
        """
        if key in self._seen:
            raise GraphError(f"Expected one graph per key (got {key!r} twice)")
        count = int(np.count_nonzero(graph.representative_kind == FORMULA))
        if formulas and len(formulas) != count:
            raise GraphError(
                f"Expected names of {count} formulas for {key!r} (got {len(formulas)})"
            )
        self._seen.add(key)
        self._largest = max(self._largest, graph.num_nodes)
        self._waiting.append((key, graph))
        self._names += formulas or [NO_NAME] * count
        if len(self._waiting) >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        graphs = [graph for _, graph in self._waiting]
        files = self._files
        self._append_text("keys", "key_length", [key for key, _ in self._waiting])
        for place, name in enumerate(FORMULA_NAMES):
            ids = [names[place] for names in self._names]
            self._append_text(name, f"{name}_length", ids)
        columns = {
            name: [g.column(name) for g in graphs]
            for names in GROUPS.values()
            for name in names
        }
        counted = (columns[names[0]] for names in GROUPS.values())
        sizes = np.array([[len(values) for values in column] for column in counted])
        files["sizes"].append(sizes.T)
        for name, column in columns.items():
            files[name].append(np.concatenate(column))
        wide = [i for i, g in enumerate(graphs) if g.num_nodes >= WIDE]
        for name in NODE_NUMBERS if wide else ():
            high = np.concatenate([columns[name][i] for i in wide]) >> 16
            files[f"{name}.high"].append(high)
        self._waiting.clear()
        self._names.clear()

    def _append_text(self, name: str, length: str, strings: Sequence[str]) -> None:
        column = TextColumn.of(strings)
        lengths = np.diff(column.ends, prepend=0)
        if lengths.max(initial=0) >= WIDE:
            longest = strings[int(lengths.argmax())]
            raise GraphError(
                f"Expected ids of less than {WIDE} bytes in {name}.npy (got "
                f"{longest[:40]!r}... of {lengths.max()})"
            )
        self._files[name].append(column.text)
        self._files[length].append(lengths)

    def finish(self) -> None:
        """Write the rest and ``meta.json``, then put the folder in its place."""
        with self._place:
            self._flush()
            for file in self._files.values():
                file.close()
            ShardMeta(self.schema, len(self), self._largest).write(self._part)
            write_checksums(self._part)

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self._place.__exit__(kind, error, trace)


def join_shards(parts: Iterable[Path], folder: Path) -> None:
    """Join folders written by several workers into one, in the given order."""
    folders = [Path(p) for p in parts]
    if not folders:
        raise InputError(f"Expected folders to join into {str(folder)!r} (got none)")
    metas = [ShardMeta.read(p) for p in folders]
    schema = metas[0].schema
    for path, meta in zip(folders, metas, strict=True):
        if meta.schema != schema:
            raise MalformedInputError(
                f"Expected the schema of {str(folders[0])!r} in {str(path)!r} "
                f"(got {meta.schema!r})"
            )
    graphs = sum(meta.num_graphs for meta in metas)
    joined = ShardMeta(schema, graphs, max(meta.largest_graph for meta in metas))
    with replace_folder(Path(folder)) as part:
        for name, dtype in joined.array_types.items():
            out = _ArrayFile(part, name, dtype)
            for path in folders:
                values = np.load(path / f"{name}.npy", mmap_mode="r")
                for start in range(0, len(values), _COPY):
                    out.append(values[start : start + _COPY])
            out.close()
        counts = [meta.num_graphs for meta in metas]
        texts = [(p / TEXTS, n) for p, n in zip(folders, counts, strict=True)]
        join_texts(texts, part / TEXTS)
        joined.write(part)
        write_checksums(part)
