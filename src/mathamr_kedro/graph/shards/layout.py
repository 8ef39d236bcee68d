"""Layout of graphs in a folder: many of them as a few flat NumPy files.

::

    folder/
      meta.json                  version, schema, counts
      seals.json                 size and checksum of every file; written last
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
      texts.npy                  a vector of a sentence encoder per graph, in half
                                 precision; only if an encoder reads them

Node numbers count from 0 in each graph and take two bytes. A graph of 65,536 nodes or
more is *wide*: the upper two bytes of its node numbers are in the ``.high`` files, so
one large post does not double the size of all others.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.types import FormulaId, VisualId
from mathamr_kedro.graph.arrays import GraphSchema

VERSION = 2
"""Of the folder; 2 added formula ids and visual ids."""

WIDE = 1 << 16
"""Number of nodes from which a graph is wide."""

TEXTS = "texts.npy"

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

_META = "meta.json"


@dataclass(frozen=True)
class ShardMeta:
    """Content of ``meta.json``, which describes the graphs of a folder."""

    schema: GraphSchema
    num_graphs: int
    largest_graph: int
    """Nodes of the largest graph."""

    @property
    def array_types(self) -> dict[str, np.dtype[Any]]:
        """Data type of each file; node types take four bytes only if they must."""
        types: dict[str, type[np.unsignedinteger[Any]]] = {
            "node_type": np.uint16
            if self.schema.num_node_types + 3 <= WIDE
            else np.uint32,
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

    def write(self, folder: Path) -> None:
        """Write ``meta.json``; it comes last, so that a folder without it is broken."""
        meta = {"version": VERSION, **asdict(self)}
        (folder / _META).write_text(json.dumps(meta, indent=2) + "\n")

    @classmethod
    def read(cls, folder: Path) -> ShardMeta:
        """Read what :meth:`write` wrote.

        Raises:
            MissingInputError: there are no graphs.
            MalformedInputError: they are of another version.
        """
        path = Path(folder) / _META
        if not path.is_file():
            raise MissingInputError(
                f"Expected graph shards in {str(folder)!r} (no {_META} there); "
                "run the preprocessing stage first"
            )
        meta = json.loads(path.read_text())
        if meta.get("version") != VERSION:
            raise MalformedInputError(
                f"Expected graph shards of version {VERSION} in {str(folder)!r} "
                f"(got {meta.get('version')!r}); run the preprocessing stage again"
            )
        values = meta["schema"]
        values["virtual_relations"] = tuple(values["virtual_relations"])
        schema = GraphSchema(**values)
        return cls(schema, meta["num_graphs"], meta["largest_graph"])
