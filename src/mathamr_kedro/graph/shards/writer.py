"""Writing graphs: block after block to a folder, or folders joined to one.

:class:`BlockWriter` keeps note of what it has written::

    progress.json
      made_from   of all
      blocks      name, checksum of its source, counts, failures, ends of the files

A block counts once it is in this list. What a killed writer left behind the ends is cut
off; blocks from the first whose source changed on are written again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.checksums import CHECKSUMS, check_folder, write_checksums
from mathamr_kedro.base.errors import (
    DamagedFileError,
    GraphError,
    InputError,
    MalformedInputError,
)
from mathamr_kedro.base.files import (
    explain_full_disk,
    make_folder,
    replace_folder,
    sync_folder,
)
from mathamr_kedro.graph.arrays import GraphArrays, GraphSchema, to_ids
from mathamr_kedro.graph.shards.blocks import BlockGraph, GraphBlock
from mathamr_kedro.graph.shards.folder import read_labels, read_roles, read_strings
from mathamr_kedro.graph.shards.layout import (
    COLUMNS,
    FIRST_LABEL,
    LABEL_KINDS,
    REMEDY,
    BlockNote,
    FormulaName,
    Label,
    Renumbering,
    ShardMeta,
    list_files,
    read_progress,
    write_progress,
)

logger = logging.getLogger(__name__)

_FLUSH = 1024
_COPY = 1 << 22
_MOST_ROLES = 1 << 16


class _ArrayFile:
    """A growing ``.npy`` file of one dimension, or of rows of one length.

    Args:
        path: the file.
        dtype: of its numbers.
        length: rows of it to go on behind; what follows them is cut off.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any], length: int = 0) -> None:
        self._row = (COLUMNS[path.stem],) if path.stem in COLUMNS else ()
        self._dtype, self.length = dtype, length
        self._file: BinaryIO = path.open("r+b" if length else "wb")
        self._write_header()
        row_bytes = dtype.itemsize * int(np.prod(self._row, initial=1))
        end = self._file.tell() + length * row_bytes
        size = path.stat().st_size
        if length and size < end:
            raise DamagedFileError(
                f"Expected at least {end} bytes in {str(path)!r} (got {size})"
            )
        self._file.truncate(end)
        self._file.seek(0, os.SEEK_END)
        self._file.flush()

    def _write_header(self) -> None:
        shape = (self.length, *self._row)
        descr = np.lib.format.dtype_to_descr(self._dtype)
        np.lib.format.write_array_header_1_0(
            self._file, {"descr": descr, "fortran_order": False, "shape": shape}
        )

    def append(self, values: NDArray[Any]) -> None:
        """Add rows, cast to the type of the file."""
        self._file.write(values.astype(self._dtype).tobytes())
        self.length += len(values)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Write the final length; NumPy pads headers so that they keep their size."""
        if self._file.closed:
            return
        self._file.seek(0)
        self._write_header()
        self._file.close()


class _Files:
    """The files of a folder, to which blocks are appended."""

    def __init__(
        self, folder: Path, schema: GraphSchema | None, ends: Mapping[str, int]
    ) -> None:
        self._folder = folder
        self._files = {
            name: _ArrayFile(folder / f"{name}.npy", dtype, ends.get(name, 0))
            for name, dtype in list_files(schema).items()
        }

    @property
    def ends(self) -> dict[str, int]:
        """Rows of each."""
        return {name: file.length for name, file in self._files.items()}

    def append(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add rows to some of them."""
        with explain_full_disk(self._folder):
            for name, values in arrays.items():
                self._files[name].append(values)

    def sync(self) -> None:
        """Write everything to the disk."""
        with explain_full_disk(self._folder):
            for file in self._files.values():
                file.flush()
            sync_folder(self._folder)

    def close(self) -> None:
        """Write the final lengths."""
        for file in self._files.values():
            file.close()


class _Keys:
    """Keys of graphs, each once."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._seen = set(keys)

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, key: str) -> None:
        if key in self._seen:
            raise GraphError(f"Expected one graph per key (got {key!r} twice)")
        self._seen.add(key)


class ShardWriter:
    """Append graphs with a vocabulary's numbers to a new folder, which appears whole.

    ::

        with ShardWriter(folder, schema) as writer:
            for post_id, graph in graphs:
                writer.add(post_id, graph)
    """

    def __init__(self, folder: Path, schema: GraphSchema) -> None:
        self.folder, self.schema = Path(folder), schema
        self._place = ExitStack()
        self._part = self._place.enter_context(replace_folder(self.folder))
        self._files = _Files(self._part, schema, {})
        self._place.callback(self._files.close)  # before the folder takes its place
        self._waiting: list[BlockGraph] = []
        self._keys = _Keys()
        self._largest = 0

    def __len__(self) -> int:
        return len(self._keys)

    def add(
        self,
        key: str,
        graph: GraphArrays,
        formulas: Sequence[FormulaName] = (),
        post_type: str = "document",
    ) -> None:
        """Append one checked graph.

        Args:
            key: post id.
            graph: its arrays.
            formulas: formula id and visual id of each representative that is a
                formula, if they will be asked for.
            post_type: of the post.
        """
        self._keys.add(key)
        self._waiting.append(BlockGraph(key, graph, post_type, formulas))
        if len(self._waiting) >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        block = GraphBlock.of(self._waiting)
        self._files.append(block.files)
        self._largest = max(self._largest, block.largest_graph)
        self._waiting.clear()

    def finish(self) -> None:
        """Write the rest and ``meta.json``, then put the folder in its place."""
        with self._place:
            self._flush()
            self._files.close()
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


class BlockWriter:
    """Appends blocks to a folder; killed at any moment, it goes on where it stopped.

    ::

        with BlockWriter(folder, made_from, sources) as writer:
            for name, block in build(writer.todo):
                writer.append(name, block)

    Args:
        folder: of arrays with numbers of their own.
        made_from: checksum of what all blocks depend on.
        sources: checksum of what each block is made from, by its name, in their order.
    """

    def __init__(
        self, folder: Path, made_from: str, sources: Mapping[str, str]
    ) -> None:
        self.folder, self._made_from = folder, made_from
        self._sources = sources
        known = self._read_whole()
        pairs = zip(known, sources.items(), strict=False)
        same = takewhile(lambda pair: pair[0][:2] == pair[1], pairs)
        self._notes = [note for note, _ in same]
        self.todo = list(sources)[len(self._notes) :]
        """Names of the blocks to write."""
        self._files: _Files | None = None
        if self.todo or len(known) > len(self._notes) or not ShardMeta.exists(folder):
            self._open()

    def _read_whole(self) -> list[BlockNote]:
        """Return the notes of a folder, unless it is damaged."""
        try:
            if ShardMeta.exists(self.folder):
                check_folder(self.folder, REMEDY, whole=True)
        except DamagedFileError as exc:
            logger.warning("rebuilding graphs: %s", exc)
            return []
        return read_progress(self.folder, self._made_from)

    def _open(self) -> None:
        make_folder(self.folder)
        ShardMeta.remove(self.folder)
        (self.folder / CHECKSUMS).unlink(missing_ok=True)
        try:
            ends = self._notes[-1].ends if self._notes else {}
            self._files = _Files(self.folder, None, ends)
        except (OSError, DamagedFileError) as exc:
            logger.warning("rebuilding graphs: %s", exc)
            self._notes, self.todo = [], list(self._sources)
            self._files = _Files(self.folder, None, {})
        self._keys = _Keys(read_strings(self.folder, "keys", "key_length"))
        labels, roles = read_labels(self.folder), read_roles(self.folder)
        self._labels = {label: n for n, label in enumerate(labels, FIRST_LABEL)}
        self._roles = {role: number for number, role in enumerate(roles)}

    def append(self, name: str, block: GraphBlock) -> None:
        """Write the next block of :attr:`todo`.

        Raises:
            GraphError: a key was there already, or there are too many roles.
        """
        assert self._files is not None  # there was something to do
        for key in block.keys:
            self._keys.add(key)
        new_labels = [label for label in block.labels if label not in self._labels]
        new_roles = [role for role in block.roles if role not in self._roles]
        for label in new_labels:
            self._labels[label] = len(self._labels) + FIRST_LABEL
        for role in new_roles:
            self._roles[role] = len(self._roles)
        if len(self._roles) > _MOST_ROLES:
            raise GraphError(
                f"Expected at most {_MOST_ROLES:,} roles in {str(self.folder)!r} (got "
                f"{new_roles[-1]!r} besides them)"
            )
        types = [*range(FIRST_LABEL), *map(self._labels.__getitem__, block.labels)]
        relations = map(self._roles.__getitem__, block.roles)
        numbers = Renumbering(to_ids(types), to_ids(relations))
        files = {name: numbers.apply(name, v) for name, v in block.files.items()}
        self._files.append(files | _lay_out_names(new_labels, new_roles))
        self._files.sync()
        self._notes.append(
            BlockNote(
                name,
                self._sources[name],
                len(block.keys),
                block.largest_graph,
                block.failures,
                self._files.ends,
            )
        )
        write_progress(self.folder, self._made_from, self._notes)

    def finish(self) -> None:
        """Write the final lengths, checksums and ``meta.json``."""
        if self._files is None:
            return
        self._files.close()
        write_progress(self.folder, self._made_from, self._notes)
        largest = max((note.largest_graph for note in self._notes), default=0)
        write_checksums(self.folder)
        ShardMeta(None, len(self._keys), largest).write(self.folder)

    def __enter__(self) -> BlockWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        elif self._files is not None:
            self._files.close()


def _lay_out_names(
    labels: Sequence[Label], roles: Sequence[str]
) -> dict[str, NDArray[Any]]:
    atoms = TextColumn.of(atom for _, atom in labels)
    names = TextColumn.of(roles)
    kinds = [LABEL_KINDS.index(kind) for kind, _ in labels]
    return {
        "label": atoms.text,
        "label_length": np.diff(atoms.ends, prepend=0),
        "label_kind": np.array(kinds, dtype=np.uint8),
        "role": names.text,
        "role_length": np.diff(names.ends, prepend=0),
    }


def join_shards(
    parts: Iterable[tuple[Path, Renumbering | None]],
    folder: Path,
    schema: GraphSchema,
) -> None:
    """Join folders to one with a vocabulary's numbers, in the given order.

    Args:
        parts: folders, and the vocabulary's numbers for those that have none of them.
        folder: to write.
        schema: of the vocabulary.
    """
    found = [(Path(path), numbers) for path, numbers in parts]
    if not found:
        raise InputError(f"Expected folders to join into {str(folder)!r} (got none)")
    metas = [ShardMeta.read(path) for path, _ in found]
    for (path, numbers), meta in zip(found, metas, strict=True):
        if numbers is None and meta.schema != schema:
            raise MalformedInputError(
                f"Expected the schema {schema!r} in {str(path)!r} (got {meta.schema!r})"
            )
    largest = max(meta.largest_graph for meta in metas)
    with replace_folder(Path(folder)) as part:
        files = _Files(part, schema, {})
        for path, numbers in found:
            for name in list_files(schema):
                values = np.load(path / f"{name}.npy", mmap_mode="r")
                for start in range(0, len(values), _COPY):
                    piece = values[start : start + _COPY]
                    if numbers is not None:
                        piece = numbers.apply(name, piece)
                    files.append({name: piece})
        files.close()
        ShardMeta(schema, sum(m.num_graphs for m in metas), largest).write(part)
        write_checksums(part)
