"""Layout of graphs in a folder: many of them as a few flat NumPy files.

::

    folder/
      meta.json                  version, schema, counts; written last
      seals.json                 size and checksum of every file
      progress.json              sources of the graphs, and how far each file reaches
      sizes.npy                  per graph: nodes, edges, virtual nodes, members,
                                 representatives
      post_type.npy              per graph: its place in POST_TYPES
      keys.npy, key_length.npy   post ids as UTF-8
      formula_id.npy, formula_id_length.npy, visual_id.npy, visual_id_length.npy
                                 of each representative that is a formula
      node_type.npy              one number per node
      edge.npy                   rows of source, target, relation
      member_count.npy           one number per virtual node
      member.npy
      representative*.npy        node, kind, number, label
      edge.high.npy ...          upper halves of node numbers, only of wide graphs
      label.npy, label_length.npy, label_kind.npy, role.npy, role_length.npy
                                 what the numbers of node types and relations stand for

Node numbers count from 0 in each graph and take two bytes. A graph of 65,536 nodes or
more is *wide*: the upper two bytes of its node numbers are in the ``.high`` files, so
one large post does not double the size of all others.

Node types and relations are numbered as they turn up, whatever a vocabulary makes of
them: 0 to 2 are the kinds of virtual nodes, 3 is the first label. Those of a vocabulary
are put in their place when graphs are read (:class:`Renumbering`). A folder with a
schema in ``meta.json`` has a vocabulary's numbers already, and no labels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.types import FormulaId, VisualId
from mathamr_kedro.graph.arrays import KIND_NAMES, GraphSchema

VERSION = 3
"""Of the folder; 3 numbers node types and relations without a vocabulary."""

WIDE = 1 << 16
"""Number of nodes from which a graph is wide."""

FIRST_LABEL = len(KIND_NAMES)
"""Number of the first label; the kinds of virtual nodes come before."""

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

LABEL_KINDS = CONCEPT, SYMBOL = "concept", "symbol"
"""AMR concepts are stemmed; constants and symbols of formulas are not."""

Label: TypeAlias = tuple[str, str]
"""Kind and PENMAN atom of a node type."""

REMEDY = "run the stage 'preprocessing' again, it rebuilds the graphs"

_META, _PROGRESS = "meta.json", "progress.json"


class Renumbering(NamedTuple):
    """Other numbers for the node types and relations of a folder or block."""

    types: NDArray[np.uint32]
    """Of each node type, those of virtual nodes among them."""
    relations: NDArray[np.uint32]

    def apply(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of a file with the other numbers, if it has any."""
        if name == "node_type":
            return self.types[values]
        if name == "edge" and len(values):
            renumbered = values.copy()
            renumbered[:, 2] = self.relations[values[:, 2]]
            return renumbered
        return values


class BlockNote(NamedTuple):
    """What is known about a part of a folder that was written as a whole."""

    name: str
    source: str
    """Checksum of what it was made from."""
    graphs: int
    largest_graph: int
    failures: Sequence[Sequence[str]]
    """Id and reason of each graph that could not be built."""
    ends: Mapping[str, int]
    """Rows of each file with this block."""


@dataclass(frozen=True)
class ShardMeta:
    """Content of ``meta.json``, which describes the graphs of a folder."""

    schema: GraphSchema | None
    """What the numbers mean; ``None``: they are those of the labels of the folder."""
    num_graphs: int
    largest_graph: int
    """Nodes of the largest graph."""

    @property
    def array_types(self) -> dict[str, np.dtype[Any]]:
        """Data type of each file; node types take four bytes only if they must."""
        return list_files(self.schema)

    def write(self, folder: Path) -> None:
        """Write ``meta.json``; it comes last, so that a folder without it is broken."""
        meta = {"version": VERSION, **asdict(self)}
        write_text(folder / _META, json.dumps(meta, indent=2) + "\n")

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
                "run the stage 'preprocessing', it resumes"
            )
        meta = json.loads(path.read_text())
        if meta.get("version") != VERSION:
            raise MalformedInputError(
                f"Expected graph shards of version {VERSION} in {str(folder)!r} "
                f"(got {meta.get('version')!r}); run the stage 'preprocessing' again"
            )
        values = meta["schema"]
        if values is not None:
            values["virtual_relations"] = tuple(values["virtual_relations"])
        schema = GraphSchema(**values) if values is not None else None
        return cls(schema, meta["num_graphs"], meta["largest_graph"])

    @staticmethod
    def remove(folder: Path) -> None:
        """Let nobody read a folder that is about to be changed."""
        (folder / _META).unlink(missing_ok=True)

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether a folder was written to its end."""
        return (folder / _META).is_file()


def write_progress(folder: Path, made_from: str, blocks: Sequence[BlockNote]) -> None:
    """Note how far a folder is written."""
    notes = [block._asdict() for block in blocks]
    content = {"version": VERSION, "made_from": made_from, "blocks": notes}
    write_text(folder / _PROGRESS, json.dumps(content))


def read_progress(folder: Path, made_from: str | None = None) -> list[BlockNote]:
    """Return what was noted; nothing if a folder was made from something else."""
    try:
        found = json.loads((folder / _PROGRESS).read_text(encoding="utf-8"))
        if found["version"] != VERSION or made_from not in (None, found["made_from"]):
            return []
        return [BlockNote(**note) for note in found["blocks"]]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def list_files(schema: GraphSchema | None) -> dict[str, np.dtype[Any]]:
    """Return the files of a folder and their data types."""
    is_narrow = schema is not None and schema.num_node_types + FIRST_LABEL <= WIDE
    types: dict[str, type[np.unsignedinteger[Any]]] = {
        "node_type": np.uint16 if is_narrow else np.uint32,
        "member_count": np.uint32,
        "representative_kind": np.uint8,
        "representative_number": np.uint32,
        "representative_label": np.uint32,
        "sizes": np.uint32,
        "post_type": np.uint8,
        "keys": np.uint8,
        "key_length": np.uint16,
    }
    types |= {name: np.uint16 for name in NODE_NUMBERS}
    types |= {f"{name}.high": np.uint16 for name in NODE_NUMBERS}
    types |= {name: np.uint8 for name in FORMULA_NAMES}
    types |= {f"{name}_length": np.uint16 for name in FORMULA_NAMES}
    if schema is None:
        types |= {"label": np.uint8, "label_length": np.uint32, "label_kind": np.uint8}
        types |= {"role": np.uint8, "role_length": np.uint32}
    return {name: np.dtype(t) for name, t in types.items()}
