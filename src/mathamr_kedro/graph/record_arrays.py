"""One graph at a time, with the vocabulary of prepared graphs: queries, new posts."""

from __future__ import annotations

from mathamr_kedro.graph.array_building import ArrayBuilder
from mathamr_kedro.graph.blocks import build_arrays
from mathamr_kedro.graph.fusing import fuse_record
from mathamr_kedro.graph.fusion import FusionMode
from mathamr_kedro.graph.numbering import VocabularyNumbering
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.prepared import PreparedGraphs
from mathamr_kedro.graph.tensors import GraphArrays, GraphSchema
from mathamr_kedro.graph.tree_lookup import TreeLookup
from mathamr_kedro.graph.virtual_nodes import GraphVariant


class RecordArrays:
    """Turns AMR records into arrays as prepared graphs have them.

    Args:
        prepared: their variant and vocabularies are used.
        find_trees: trees of formulas, e.g.
            :class:`~mathamr_kedro.graph.tree_lookup.StoredTrees`.
        mode: of fusion.
    """

    def __init__(
        self,
        prepared: PreparedGraphs,
        find_trees: TreeLookup,
        mode: FusionMode = "mathamr_plus",
    ) -> None:
        numbering = VocabularyNumbering(prepared.types, prepared.relations)
        variant = GraphVariant(**prepared.configuration["graph"])
        self._builder = ArrayBuilder(numbering, variant)
        self._find_trees, self._mode = find_trees, mode

    @property
    def schema(self) -> GraphSchema:
        """What the numbers mean."""
        return self._builder.numbering.schema

    def __call__(self, record: GraphRecord) -> GraphArrays:
        """Fuse an AMR record and return its arrays.

        Raises:
            GraphError: the AMR is no graph.
        """
        fused, _, _ = fuse_record(record, self._find_trees, self._mode)
        arrays = build_arrays(fused, self._builder)
        arrays.check(self.schema)
        return arrays
