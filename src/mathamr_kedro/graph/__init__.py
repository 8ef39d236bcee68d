"""Math graphs: an AMR with the trees of its formulas, from text to batches.

::

    AMR record ── fusion ──> fused record          fusion, penman_records, tally
        MathGraph: nodes and lines of a text       math_graph, penman_graph, sentences
            GraphVariant: what the encoder sees    virtual_nodes, drawing
                GraphArrays: NumPy arrays          arrays, builder
                    GraphFolder: many of them      shards/, building
    PreparedGraphs: pairs, and vocabularies        preparation, prepared, entries
        that number a folder of arrays             vocabulary, counting, released
        GraphShards ──> GraphBatch                 shards/
    reports                                        report

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
    from mathamr_kedro.graph.builder import ArrayBuilder, VocabularyNumbering
    from mathamr_kedro.graph.building import BuildBlocks, build_arrays, record_formula
    from mathamr_kedro.graph.counting import (
        LabelCounts,
        choose_vocabularies,
        number_labels,
    )
    from mathamr_kedro.graph.drawing import draw_math_graph, write_page
    from mathamr_kedro.graph.entries import (
        FORMULA_TYPE,
        POST_TYPES,
        find_owner,
        name_entry,
        split_entry,
    )
    from mathamr_kedro.graph.fusion import FusedRecord, StoredTrees, fuse_graph
    from mathamr_kedro.graph.math_graph import MathGraph, read_placeholder
    from mathamr_kedro.graph.penman_graph import (
        format_math_graph,
        from_amr,
        read_label,
        read_math_graph,
    )
    from mathamr_kedro.graph.penman_records import (
        GraphRecord,
        RecordFile,
        number_formulas,
    )
    from mathamr_kedro.graph.preparation import (
        PairSplit,
        PreprocessingConfig,
        encode_texts,
        prepare_graphs,
    )
    from mathamr_kedro.graph.prepared import PreparedGraphs, join_prepared
    from mathamr_kedro.graph.released import ReleasedEncoder
    from mathamr_kedro.graph.report import (
        describe_prepared,
        report_graphs,
        report_preparation,
    )
    from mathamr_kedro.graph.sentences import renumber_sentences
    from mathamr_kedro.graph.shards import (
        BatchSize,
        DeviceShards,
        GraphBatch,
        GraphFolder,
        GraphShards,
        ShardWriter,
        join_shards,
    )
    from mathamr_kedro.graph.tally import (
        CheckedRecord,
        CheckRecords,
        GraphTally,
        ShardFacts,
    )
    from mathamr_kedro.graph.virtual_nodes import GraphVariant
    from mathamr_kedro.graph.vocabulary import RARE_NUMBERS, Vocabularies

__all__ = [
    "DOCUMENT",
    "FORMULA",
    "FORMULA_TYPE",
    "KIND_NAMES",
    "POST_TYPES",
    "RARE_NUMBERS",
    "SENTENCE",
    "ArrayBuilder",
    "BatchSize",
    "BuildBlocks",
    "CheckRecords",
    "CheckedRecord",
    "DeviceShards",
    "FusedRecord",
    "GraphArrays",
    "GraphBatch",
    "GraphFolder",
    "GraphRecord",
    "GraphSchema",
    "GraphShards",
    "GraphTally",
    "GraphVariant",
    "LabelCounts",
    "MathGraph",
    "PairSplit",
    "PreparedGraphs",
    "PreprocessingConfig",
    "RecordFile",
    "ReleasedEncoder",
    "ShardFacts",
    "ShardWriter",
    "StoredTrees",
    "Vocabularies",
    "VocabularyNumbering",
    "build_arrays",
    "choose_vocabularies",
    "describe_prepared",
    "draw_math_graph",
    "encode_texts",
    "find_owner",
    "format_math_graph",
    "from_amr",
    "fuse_graph",
    "join_prepared",
    "join_shards",
    "name_entry",
    "number_formulas",
    "number_labels",
    "prepare_graphs",
    "read_label",
    "read_math_graph",
    "read_placeholder",
    "record_formula",
    "renumber_sentences",
    "report_graphs",
    "report_preparation",
    "split_entry",
    "write_page",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
