"""A trained encoder of MathAMR+: graphs in, vectors out."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.ragged import scale_to_length_one
from mathamr_kedro.graph import (
    ArrayBuilder,
    GraphArrays,
    GraphBatch,
    GraphSchema,
    MathGraph,
    PreparedGraphs,
    VocabularyNumbering,
)
from mathamr_kedro.learning.checkpoints import MODEL
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import find_model_files, load_model, read_shape
from mathamr_kedro.systems.training import Training
from mathamr_kedro.vectors.post_vectors import Vectors

FACTS = "facts.json"
"""How a training went, beside its model."""


class Encoder(Training):
    """The best model of a training, with the vocabularies of its graphs.

    ::

        encoder = catalog.load("mathamr_plus.model")
        vectors = encoder(graph)    # a row for each formula and sentence, the document
    """

    def __init__(self, folder: Path, compute: ComputeConfig | None = None) -> None:
        super().__init__(folder)
        self.compute = compute
        """Where it computes; the default of this machine if ``None``."""

    def __repr__(self) -> str:
        width = count_nouns(self.config.projection_dim, "number")
        return f"<{type(self).__name__}: vectors of {width}, in {self.folder}>"

    @property
    def facts(self) -> dict[str, Any]:
        """What identifies it, and how its training went: best epoch, loss, pairs."""
        file = self.model / FACTS
        return {"folder": self.folder.name, **json.loads(file.read_text("utf-8"))}

    @property
    def model_folder(self) -> Path:
        """Folder of the weights."""
        return self.model / MODEL

    @property
    def config(self) -> ModelConfig:
        """Its shape, read without the weights."""
        return read_shape(self.model_folder)[0]

    @cached_property
    def graphs(self) -> PreparedGraphs:
        """The graphs that it was trained on."""
        return PreparedGraphs(self.prepared)

    @cached_property
    def checksum(self) -> str:
        """Of its weights and its graphs; its vectors are stored under this name."""
        return checksum_encoder(self.model_folder, self.graphs.encoded_from)

    @property
    def vectors_folder(self) -> Path:
        """Folder of the vectors of its collection."""
        return self.folder / "vectors" / self.checksum

    @cached_property
    def network(self) -> MathAMRPlus:
        """The network, loaded when it is first asked for."""
        if not self.model_folder.is_dir():
            raise MissingInputError(
                f"No trained encoder in {str(self.model_folder)!r}; run the stage "
                "'training'"
            )
        return load_model(self.model_folder, self.compute)

    def __call__(
        self,
        graph: MathGraph | GraphArrays,
        text: NDArray[np.float32] | None = None,
    ) -> Vectors:
        """Encode a graph: one vector of length 1 for each representative node.

        Args:
            graph: of a post, with the trees of its formulas; or its arrays.
            text: vector of its text, for an encoder that reads texts.
        """
        found = graph if isinstance(graph, GraphArrays) else self._builder.build(graph)
        schema = self.graphs.vocabularies.schema
        return encode_graph(self.network, found, schema, text)

    @cached_property
    def _builder(self) -> ArrayBuilder:
        numbering = VocabularyNumbering(self.graphs.vocabularies)
        return ArrayBuilder(numbering, self.graphs.variant)


def encode_graph(
    model: MathAMRPlus,
    graph: GraphArrays,
    schema: GraphSchema,
    text: NDArray[np.float32] | None = None,
) -> Vectors:
    """Return the vectors of one graph, of length 1."""
    device = model.head.inner.weight.device
    batch = GraphBatch.of_graph(graph, schema, text).to(device)
    with torch.no_grad():
        vectors = model.encode(batch, model.prepare(batch))
    return scale_to_length_one(vectors.float().cpu().numpy())


def checksum_encoder(model_folder: Path, graphs: str) -> str:
    """Name an encoder by its weights and by the graphs whose numbers it knows."""
    hasher = hashlib.blake2b(digest_size=16)
    for file in find_model_files(model_folder):
        hasher.update(file.read_bytes())
    return checksum(hasher.hexdigest(), graphs)
