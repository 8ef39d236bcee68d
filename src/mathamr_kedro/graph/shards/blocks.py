"""Blocks: some graphs as the files of a folder hold them, on their way to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph.arrays import FORMULA, GraphArrays
from mathamr_kedro.graph.entries import POST_TYPES
from mathamr_kedro.graph.shards.layout import (
    FORMULA_NAMES,
    GROUPS,
    NO_NAME,
    NODE_NUMBERS,
    WIDE,
    FormulaName,
    Label,
)


class BlockGraph(NamedTuple):
    """One graph with what its folder says about it."""

    key: str
    """Post id."""
    arrays: GraphArrays
    post_type: str = "document"
    formulas: Sequence[FormulaName] = ()
    """Formula id and visual id of each representative that is a formula; none, if
    they will never be asked for."""


class GraphBlock(NamedTuple):
    """Files of some graphs, and what their numbers stand for in this block alone."""

    keys: list[str]
    files: dict[str, NDArray[Any]]
    largest_graph: int = 0
    """Nodes."""
    labels: Sequence[Label] = ()
    """Kind and PENMAN atom of each node type from ``FIRST_LABEL`` on."""
    roles: Sequence[str] = ()
    """Of each relation."""
    failures: Sequence[tuple[str, str]] = ()
    """Id and reason of each graph that could not be built."""

    @classmethod
    def of(
        cls,
        graphs: Sequence[BlockGraph],
        labels: Sequence[Label] = (),
        roles: Sequence[str] = (),
        failures: Sequence[tuple[str, str]] = (),
    ) -> GraphBlock:
        """Lay out graphs one after another.

        Raises:
            GraphError: the names of the formulas are not as many, or an id is too long.
        """
        arrays = [graph.arrays for graph in graphs]
        files = {
            name: _concatenate(name, [graph.column(name) for graph in arrays])
            for names in GROUPS.values()
            for name in names
        }
        files["sizes"] = np.array(
            [[len(graph.column(names[0])) for names in GROUPS.values()]
             for graph in arrays],
            dtype=np.uint32,
        ).reshape(-1, len(GROUPS))  # fmt: skip
        wide = [graph for graph in arrays if graph.num_nodes >= WIDE]
        for name in NODE_NUMBERS:
            high = _concatenate(name, [graph.column(name) for graph in wide]) >> 16
            files[f"{name}.high"] = high.astype(np.uint16)
            files[name] = files[name].astype(np.uint16)  # the lower half
        types = (_number_type(graph.post_type) for graph in graphs)
        files["post_type"] = np.fromiter(types, np.uint8)
        keys = [graph.key for graph in graphs]
        files |= _lay_out("keys", "key_length", keys)
        formulas = [formula for graph in graphs for formula in _name_formulas(graph)]
        for place, name in enumerate(FORMULA_NAMES):
            ids = [names[place] for names in formulas]
            files |= _lay_out(name, f"{name}_length", ids)
        largest = max((graph.num_nodes for graph in arrays), default=0)
        return cls(keys, files, largest, labels, roles, failures)


def _concatenate(name: str, parts: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    empty = np.empty((0, 3) if name == "edge" else 0, dtype=np.uint32)
    return np.concatenate([empty, *parts])


def _number_type(name: str) -> int:
    return POST_TYPES.index(name if name in POST_TYPES else "document")


def _name_formulas(graph: BlockGraph) -> Sequence[FormulaName]:
    count = int(np.count_nonzero(graph.arrays.representative_kind == FORMULA))
    if graph.formulas and len(graph.formulas) != count:
        raise GraphError(
            f"Expected names of {count} formulas for {graph.key!r} "
            f"(got {len(graph.formulas)})"
        )
    return graph.formulas or [NO_NAME] * count


def _lay_out(name: str, length: str, strings: Sequence[str]) -> dict[str, NDArray[Any]]:
    column = TextColumn.of(strings)
    lengths = np.diff(column.ends, prepend=0)
    if lengths.max(initial=0) >= WIDE:
        longest = strings[int(lengths.argmax())]
        raise GraphError(
            f"Expected ids of less than {WIDE} bytes in {name}.npy (got "
            f"{longest[:40]!r}... of {lengths.max()})"
        )
    return {name: column.text, length: lengths}
