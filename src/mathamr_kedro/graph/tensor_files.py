"""Writing many graphs as a few flat NumPy files in one folder.

::

    folder/
      meta.json                  version, schema, counts; written last
      sizes.npy                  per graph: nodes, edges, virtual nodes, members,
                                 representatives
      keys.npy, key_length.npy   post ids as UTF-8
      formula_id.npy, formula_id_length.npy, visual_id.npy, visual_id_length.npy
                                 of each representative that is a formula
      node_type.npy              one number per node
      edge.npy                   rows of source, target, relation
      member_count.npy           one number per virtual node
      member.npy
      representative*.npy        node, kind, number, label
      edge.high.npy ...          upper halves of node numbers, only of wide graphs

Node numbers count from 0 in each graph and take two bytes. A graph of 65,536 nodes or
more is *wide*: the upper two bytes of its node numbers stand in the ``.high`` files, so
one large post does not double the size of all others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import (
    GraphError,
    InputError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.files import replace_folder
from mathamr_kedro.graph.tensors import FORMULA, GraphArrays, GraphSchema
from mathamr_kedro.types import FormulaId, VisualId

VERSION = 2
"""Of the folder; 2 added formula ids and visual ids."""

WIDE = 1 << 16
"""Number of nodes from which a graph is wide."""

NODE_NUMBERS = ("edge", "member", "representative")
"""Files that hold node numbers, and so have ``.high`` files beside them."""

GROUPS: dict[str, tuple[str, ...]] = {
    "node": ("node_type",),
    "edge": ("edge",),
    "virtual": ("member_count",),
    "member": ("member",),
    "representative": (
        "representative",
        "representative_kind",
        "representative_number",
        "representative_label",
    ),
}
"""Files of one length in each graph, in the order of the columns of ``sizes``."""

COLUMNS = {"edge": 3, "edge.high": 3, "sizes": len(GROUPS)}
"""Files of two dimensions, and their number of columns."""

FORMULA_NAMES = ("formula_id", "visual_id")
"""Files of strings with one entry for each representative that is a formula."""

FormulaName: TypeAlias = tuple[FormulaId, VisualId]
NO_NAME: FormulaName = ("", "")
"""Of a formula in a graph that comes without names."""

_FLUSH = 1024
_COPY = 1 << 22


def array_types(schema: GraphSchema) -> dict[str, np.dtype[Any]]:
    """Data type of each file; node types take four bytes only where they must."""
    types: dict[str, type[np.unsignedinteger[Any]]] = {
        "node_type": np.uint16 if schema.num_node_types + 3 <= WIDE else np.uint32,
        "member_count": np.uint32,
        "representative_kind": np.uint8,
        "representative_number": np.uint32,
        "representative_label": np.uint32,
        "sizes": np.uint32,
        "keys": np.uint8,
        "key_length": np.uint16,
    }
    types |= {name: np.uint16 for name in NODE_NUMBERS}
    types |= {f"{name}.high": np.uint16 for name in NODE_NUMBERS}
    types |= {name: np.uint8 for name in FORMULA_NAMES}
    types |= {f"{name}_length": np.uint16 for name in FORMULA_NAMES}
    return {name: np.dtype(t) for name, t in types.items()}


def _read_column(graph: GraphArrays, name: str) -> NDArray[np.uint32]:
    if name == "edge":
        return np.stack([graph.source, graph.target, graph.relation], axis=1)
    column: NDArray[np.uint32] = getattr(graph, name)
    return column


class ArrayFile:
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
        self._file.seek(0)
        self._write_header()
        self._file.close()


class ShardWriter:
    """Append graphs to a new folder, which appears whole or not at all.

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
            name: ArrayFile(self._part, name, dtype)
            for name, dtype in array_types(schema).items()
        }
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
                formula, where they will be asked for.
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
        for column, name in enumerate(FORMULA_NAMES):
            names = [names[column] for names in self._names]
            self._append_text(name, f"{name}_length", names)
        columns = {
            name: [_read_column(g, name) for g in graphs]
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
        # Surrogates may stand in the ids of a damaged collection.
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        lengths = np.array([len(e) for e in encoded], dtype=np.int64)
        if lengths.max(initial=0) >= WIDE:
            longest = strings[int(lengths.argmax())]
            raise GraphError(
                f"Expected ids of less than {WIDE} bytes in {name}.npy (got "
                f"{longest[:40]!r}... of {lengths.max()})"
            )
        self._files[name].append(np.frombuffer(b"".join(encoded), dtype=np.uint8))
        self._files[length].append(lengths)

    def finish(self) -> None:
        """Write the rest and ``meta.json``, then put the folder in its place."""
        self._flush()
        for file in self._files.values():
            file.close()
        _write_meta(self._part, self.schema, len(self), self._largest)
        self._place.close()

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
            for file in self._files.values():
                file.close()
            self._place.__exit__(kind, error, trace)


def _write_meta(folder: Path, schema: GraphSchema, graphs: int, largest: int) -> None:
    meta = {
        "version": VERSION,
        "schema": asdict(schema),
        "num_graphs": graphs,
        "largest_graph": largest,
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")


def read_meta(folder: Path) -> tuple[GraphSchema, dict[str, Any]]:
    """Read ``meta.json``: the schema and the plain values beside it."""
    path = Path(folder) / "meta.json"
    if not path.is_file():
        raise MissingInputError(
            f"Expected graph shards in {str(folder)!r} (no meta.json there); "
            "run the preprocessing stage first"
        )
    meta = json.loads(path.read_text())
    if meta.get("version") != VERSION:
        raise MalformedInputError(
            f"Expected graph shards of version {VERSION} in {str(folder)!r} "
            f"(got {meta.get('version')!r}); run the preprocessing stage again"
        )
    values = meta.pop("schema")
    values["virtual_relations"] = tuple(values["virtual_relations"])
    return GraphSchema(**values), meta


def join_shards(parts: Iterable[Path], folder: Path) -> None:
    """Join folders written by several workers into one, in the given order."""
    folders = [Path(p) for p in parts]
    if not folders:
        raise InputError(f"Expected folders to join into {str(folder)!r} (got none)")
    metas = [read_meta(p) for p in folders]
    schema = metas[0][0]
    for path, (other, _) in zip(folders, metas, strict=True):
        if other != schema:
            raise MalformedInputError(
                f"Expected the schema of {str(folders[0])!r} in {str(path)!r} "
                f"(got {other!r})"
            )
    graphs = sum(meta["num_graphs"] for _, meta in metas)
    largest = max(meta["largest_graph"] for _, meta in metas)
    with replace_folder(Path(folder)) as part:
        for name, dtype in array_types(schema).items():
            out = ArrayFile(part, name, dtype)
            for path in folders:
                values = np.load(path / f"{name}.npy", mmap_mode="r")
                for start in range(0, len(values), _COPY):
                    out.append(values[start : start + _COPY])
            out.close()
        _write_meta(part, schema, graphs, largest)
