"""Nodes of the preprocessing stage: math graphs to arrays, and what training reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.corpus import FormulaIds
from mathamr_kedro.datasets import MathGraphs, ShardedTable
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.graph import (
    BuildBlocks,
    GraphFolder,
    GraphRecord,
    PreparedGraphs,
    PreprocessingConfig,
    build_arrays,
    describe_prepared,
    record_formula,
    report_preparation,
)


def build_post_arrays(
    math_graphs: MathGraphs, parameters: Mapping[str, Any], folders: Mapping[str, str]
) -> GraphFolder:
    """Turn math graphs of posts into arrays with virtual nodes, or go on."""
    return _build_arrays(math_graphs, parameters, folders, "posts")


def build_topic_arrays(
    topic_math_graphs: MathGraphs,
    parameters: Mapping[str, Any],
    folders: Mapping[str, str],
) -> GraphFolder:
    """Turn math graphs of topics into arrays with virtual nodes, or go on."""
    return _build_arrays(topic_math_graphs, parameters, folders, "topics")


def _build_arrays(
    math_graphs: MathGraphs,
    parameters: Mapping[str, Any],
    folders: Mapping[str, str],
    part: str,
) -> GraphFolder:
    config = PreprocessingConfig.read(parameters)
    return build_arrays(
        Path(folders["arrays"]) / config.variant_key / part,
        checksum(part),
        dict(sorted(math_graphs.checksums().items())),
        BuildBlocks(math_graphs.trees, config.graph),
        math_graphs.shards,
        config.workers,
    )


def build_formula_arrays(
    returnable_formulas: ShardedTable,
    graph_arrays: GraphFolder,
    formula_trees: TreeStore,
    parameters: Mapping[str, Any],
    folders: Mapping[str, str],
) -> GraphFolder:
    """Build a graph for each returnable formula that no other graph has."""
    config = PreprocessingConfig.read(parameters)
    files = returnable_formulas.files() if config.graph.has_formulas else []

    def list_items() -> Iterator[tuple[str, list[GraphRecord]]]:
        without_graph = _FormulasWithoutGraph(
            returnable_formulas, graph_arrays.formula_ids()
        )
        for file in files:
            yield file.stem, without_graph.take(file)

    sources = returnable_formulas.checksum, graph_arrays.checksum
    return build_arrays(
        Path(folders["arrays"]) / config.variant_key / "formulas",
        checksum("formulas", *sources, formula_trees.made_from),
        {file.stem: "" for file in files},
        BuildBlocks(formula_trees.path, config.graph),
        list_items,
        config.workers,
    )


def describe_prepared_graphs(
    prepared_graphs: PreparedGraphs,
) -> tuple[dict[str, Any], str, Figure]:
    """Describe the prepared graphs: sizes, coverage of the vocabulary, pairs."""
    statistics = describe_prepared(prepared_graphs.check())
    return statistics, *report_preparation(statistics)


class _FormulasWithoutGraph:
    """The formulas of a list that have no graph yet."""

    def __init__(self, formulas: ShardedTable, known: Iterable[Sequence[str]]) -> None:
        self._formulas, self._ids = formulas, _list_ids(formulas)
        self._seen = np.zeros(len(self._ids) + 1, dtype=np.bool_)  # the last: unknown
        for names in known:
            self._seen[self._ids.find(names)] = True

    def take(self, file: Path) -> list[GraphRecord]:
        """Return records of those of one shard, each id once; later they have one."""
        names = self._formulas.read_file(file, ["formula_id"])["formula_id"]
        places, rows = np.unique(self._ids.find(names.to_pylist()), return_index=True)
        chosen = np.sort(rows[~self._seen[places]]).tolist()
        self._seen[places] = True
        return [*map(record_formula, self._formulas.read_rows(file, chosen))]


def _list_ids(formulas: ShardedTable) -> FormulaIds:
    return FormulaIds(
        name
        for table in formulas.tables(["formula_id"])
        for name in table["formula_id"].to_pylist()
    )
