"""Graphs in a folder, read with NumPy alone: memory-mapped, by position or by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import TextColumn, spread_ranges
from mathamr_kedro.base.checksums import check_folder, checksum_files
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError, suggest
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.graph.arrays import FORMULA
from mathamr_kedro.graph.shards.layout import (
    FORMULA_NAMES,
    GROUPS,
    LABEL_KINDS,
    REMEDY,
    Label,
    ShardMeta,
    read_progress,
)

Offsets: TypeAlias = NDArray[np.int64]


def make_offsets(counts: NDArray[Any]) -> Offsets:
    """Return where each of some counted things starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def spread(bounds: Offsets, chosen: Offsets) -> Offsets:
    """List the elements of the chosen graphs, given where each graph starts."""
    return spread_ranges(bounds[chosen], bounds[chosen + 1] - bounds[chosen])


def read_strings(folder: Path, name: str, length: str) -> list[str]:
    """Read a file of strings, beside that of their lengths."""
    text, lengths = (np.load(folder / f"{file}.npy") for file in (name, length))
    return list(TextColumn(text, np.cumsum(lengths, dtype=np.int64)))


def read_labels(folder: Path) -> list[Label]:
    """Return kind and atom of each node type, in the order of their numbers."""
    kinds = np.load(folder / "label_kind.npy").tolist()
    atoms = read_strings(folder, "label", "label_length")
    return [(LABEL_KINDS[n], atom) for n, atom in zip(kinds, atoms, strict=True)]


def read_roles(folder: Path) -> list[str]:
    """Return the role of each relation."""
    return read_strings(folder, "role", "role_length")


class GraphFolder:
    """Graphs in memory-mapped flat files, with the numbers that these have."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.meta = ShardMeta.read(self.folder)
        check_folder(self.folder, REMEDY, whole=False)
        # Views as plain arrays: slicing a memmap object costs far more.
        self.arrays: dict[str, NDArray[Any]] = {
            name: np.load(self.folder / f"{name}.npy", mmap_mode="r").view(np.ndarray)
            for name in self.meta.array_types
        }
        sizes = self.arrays["sizes"]
        if len(sizes) != self.meta.num_graphs:
            raise MalformedInputError(
                f"Expected {self.meta.num_graphs} graphs in {str(folder)!r} "
                f"(got {len(sizes)}); the folder was changed, write it again"
            )
        self.offsets: dict[str, Offsets] = {
            group: make_offsets(sizes[:, column]) for column, group in enumerate(GROUPS)
        }
        for group, names in GROUPS.items():
            for name in names:
                if len(self.arrays[name]) != self.offsets[group][-1]:
                    raise MalformedInputError(
                        f"Expected {self.offsets[group][-1]} values in {name}.npy of "
                        f"{str(folder)!r} (got {len(self.arrays[name])})"
                    )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.describe()}, in {self.folder}>"

    def describe(self) -> str:
        """Return the numbers of graphs and nodes in words."""
        nodes = int(self.offsets["node"][-1])
        return f"{count_nouns(len(self), 'graph')}, {count_nouns(nodes, 'node')}"

    def check(self) -> None:
        """Refuse files whose bytes were changed; they are read once in a process.

        Raises:
            DamagedFileError: one is not what was written.
        """
        check_folder(self.folder, REMEDY, whole=True)

    @cached_property
    def checksum(self) -> str:
        """Of the bytes of all arrays."""
        return checksum_files(self.folder, ".npy")

    def __len__(self) -> int:
        return len(self.arrays["sizes"])

    @cached_property
    def keys(self) -> list[str]:
        """Post id of each graph."""
        return read_strings(self.folder, "keys", "key_length")

    @property
    def post_types(self) -> NDArray[np.uint8]:
        """Place in ``POST_TYPES`` of the post of each graph."""
        return self.arrays["post_type"]

    @cached_property
    def labels(self) -> list[Label]:
        """What the node types stand for, from ``FIRST_LABEL`` on."""
        return read_labels(self.folder)

    @cached_property
    def roles(self) -> list[str]:
        """What the relations stand for."""
        return read_roles(self.folder)

    @property
    def failures(self) -> list[Sequence[str]]:
        """Id and reason of each graph that could not be built."""
        return [row for note in read_progress(self.folder) for row in note.failures]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.keys)}

    def position(self, key: str) -> int:
        """Find the graph of a post."""
        if key not in self._positions:
            hint = suggest(key, self.keys[:10_000])
            raise MissingInputError(
                f"Expected a graph for post {key!r} in {str(self.folder)!r}{hint}"
            )
        return self._positions[key]

    @cached_property
    def _formula_bounds(self) -> dict[str, Offsets]:
        """Where the formulas of each graph start: their number, the bytes of ids."""
        kinds = self.arrays["representative_kind"]
        count = make_offsets(kinds == FORMULA)[self.offsets["representative"]]
        bounds = {"formula": count}
        for name in FORMULA_NAMES:
            lengths = self.arrays[f"{name}_length"]
            if len(lengths) != count[-1]:
                raise MalformedInputError(
                    f"Expected {count[-1]} values in {name}_length.npy of "
                    f"{str(self.folder)!r} (got {len(lengths)})"
                )
            bounds[name] = make_offsets(lengths)[count]
        return bounds

    def formula_ids(self, size: int = 1 << 20) -> Iterator[list[str]]:
        """Yield the ids of all formulas, in order, some at a time."""
        ends = np.cumsum(self.arrays["formula_id_length"], dtype=np.int64)
        ids = TextColumn(self.arrays["formula_id"], ends)
        for first in range(0, len(ids), size):
            yield list(ids.take(range(first, min(first + size, len(ids)))))

    def name_formulas(
        self, positions: Sequence[int] | NDArray[Any]
    ) -> tuple[TextColumn, TextColumn]:
        """Return formula ids and visual ids of the formulas of some graphs.

        There is one for each representative of kind ``FORMULA``, in their order; an
        empty one if the graph was written without names.
        """
        chosen = np.asarray(positions, dtype=np.int64)
        bounds = self._formula_bounds
        rows = self.number_formulas(chosen)
        formula_ids, visual_ids = (
            TextColumn(
                self.arrays[name][spread(bounds[name], chosen)],
                np.cumsum(self.arrays[f"{name}_length"][rows], dtype=np.int64),
            )
            for name in FORMULA_NAMES
        )
        return formula_ids, visual_ids

    def number_formulas(
        self, positions: Sequence[int] | NDArray[Any]
    ) -> NDArray[np.int64]:
        """Return the places of the formulas of some graphs among all formulas."""
        chosen = np.asarray(positions, dtype=np.int64)
        return spread(self._formula_bounds["formula"], chosen)

    def count_formulas(self, graphs: int) -> int:
        """Return how many formulas the first graphs have."""
        return int(self._formula_bounds["formula"][graphs])
