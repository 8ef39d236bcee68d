"""Math graphs: an AMR with the trees of its formulas, from text to batches.

::

    AMR record ── fusion ──> fused record          fusion, penman_records
        MathGraph: nodes and lines of a text       math_graph, penman_graph, sentences
            GraphVariant: what the encoder sees    virtual_nodes, drawing
                GraphArrays: NumPy arrays          arrays, builder, blocks
                    numbered by vocabularies       vocabulary, released
    PreparedGraphs: a folder of all of these       prepared, preparation, entries
        GraphShards ──> GraphBatch                 shards/
    statistics and reports                         report

Names are loaded when they are first asked for: who wants a :class:`MathGraph` does not
wait for torch, and a machine that only trains needs only torch and NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.graph.arrays import (
        DOCUMENT,
        FORMULA,
        KIND_NAMES,
        SENTENCE,
        GraphArrays,
        GraphSchema,
    )
    from mathamr_kedro.graph.blocks import (
        BuildFormulaBlocks,
        GraphBlock,
        LabelCounts,
        Vocabularies,
        build_graph_blocks,
    )
    from mathamr_kedro.graph.builder import RecordArrays
    from mathamr_kedro.graph.drawing import draw_math_graph, write_page
    from mathamr_kedro.graph.entries import (
        FORMULA_TYPE,
        POST_TYPES,
        find_owner,
        name_entry,
        split_entry,
    )
    from mathamr_kedro.graph.fusion import (
        FusedRecord,
        FuseRecords,
        StoredTrees,
    )
    from mathamr_kedro.graph.math_graph import MathGraph, read_placeholder
    from mathamr_kedro.graph.penman_graph import (
        format_math_graph,
        read_label,
        read_math_graph,
    )
    from mathamr_kedro.graph.penman_records import GraphRecord, RecordFile
    from mathamr_kedro.graph.preparation import (
        PairSplit,
        Preparation,
        PreprocessingConfig,
    )
    from mathamr_kedro.graph.prepared import PreparedGraphs, PreparedStore
    from mathamr_kedro.graph.released import ReleasedEncoder
    from mathamr_kedro.graph.report import (
        GraphTally,
        describe_prepared,
        report_graphs,
        report_preparation,
    )
    from mathamr_kedro.graph.sentences import renumber_sentences
    from mathamr_kedro.graph.shards import (
        BatchSize,
        DeviceShards,
        GraphBatch,
        GraphShards,
        ShardWriter,
        join_shards,
    )
    from mathamr_kedro.graph.virtual_nodes import (
        GraphVariant,
    )
    from mathamr_kedro.graph.vocabulary import (
        RARE_NUMBERS,
        make_schema,
    )

__all__ = [
    "DOCUMENT",
    "FORMULA",
    "FORMULA_TYPE",
    "KIND_NAMES",
    "POST_TYPES",
    "RARE_NUMBERS",
    "SENTENCE",
    "BatchSize",
    "BuildFormulaBlocks",
    "DeviceShards",
    "FuseRecords",
    "FusedRecord",
    "GraphArrays",
    "GraphBatch",
    "GraphBlock",
    "GraphRecord",
    "GraphSchema",
    "GraphShards",
    "GraphTally",
    "GraphVariant",
    "LabelCounts",
    "MathGraph",
    "PairSplit",
    "Preparation",
    "PreparedGraphs",
    "PreparedStore",
    "PreprocessingConfig",
    "RecordArrays",
    "RecordFile",
    "ReleasedEncoder",
    "ShardWriter",
    "StoredTrees",
    "Vocabularies",
    "build_graph_blocks",
    "describe_prepared",
    "draw_math_graph",
    "find_owner",
    "format_math_graph",
    "join_shards",
    "make_schema",
    "name_entry",
    "read_label",
    "read_math_graph",
    "read_placeholder",
    "renumber_sentences",
    "report_graphs",
    "report_preparation",
    "split_entry",
    "write_page",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
