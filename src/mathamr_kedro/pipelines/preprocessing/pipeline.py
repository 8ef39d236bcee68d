"""Wiring of the preprocessing stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kedro.pipeline import Node, Pipeline

from mathamr_kedro.datasets.artefact import TABLES, collect
from mathamr_kedro.graph import GraphFolder, PreparedGraphs
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.preprocessing import nodes
from mathamr_kedro.systems import list_systems, read_system
from mathamr_kedro.systems.registry import OWN

_REPORTS = ["preprocessing_statistics", "preprocessing_report", "preprocessing_figure"]


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: math graphs and training pairs in, prepared graphs out.

    Args:
        parameters: of the environment; encoders and teachers may read texts, too.
    """
    return box(
        "preprocessing",
        make_node(nodes.build_post_arrays, "graph_arrays"),
        make_node(nodes.build_topic_arrays, "topic_graph_arrays"),
        make_node(nodes.build_formula_arrays, "formula_graph_arrays"),
        _prepare(list_systems(parameters)[OWN]),
        make_node(
            nodes.describe_prepared_graphs,
            _REPORTS,
            prepared_graphs="mathamr_plus.prepared",
        ),
    )


def _prepare(values: Mapping[str, Any]) -> Node:
    system = read_system(OWN, values)

    def prepare(
        graph_arrays: GraphFolder,
        topic_graph_arrays: GraphFolder,
        formula_graph_arrays: GraphFolder,
        folders: Mapping[str, str],
        **tables: Any,
    ) -> PreparedGraphs:
        """Count vocabularies, split pairs; refuse formulas without a graph."""
        parts = graph_arrays, topic_graph_arrays, formula_graph_arrays
        arrays = dict(zip(("posts", "topics", "formulas"), parts, strict=True))
        folder = Path(folders["prepared"]) / OWN
        counts = system.prepare(replace(collect(tables), arrays=arrays), folder)
        return PreparedGraphs(folder / counts["folder"])

    reads = system.training_reads
    return make_node(
        prepare,
        f"{OWN}.prepared",
        tags="gpu" if "posts" in reads else None,
        **{part: TABLES[part] for part in reads},
    )
