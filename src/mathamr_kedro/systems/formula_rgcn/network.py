r"""The R-GCN of one representation: graphs in, a vector for each node out.

.. math::
    h_i^{(l+1)} = \sigma\left(\sum_{r \in R} \sum_{j \in N_i^r} \frac{1}{c_{i,r}}
        W_r^{(l)} h_j^{(l)} + W_0^{(l)} h_i^{(l)}\right), \quad c_{i,r} = |N_i^r|
    \quad (1)

:math:`\sigma` is ReLU, but after the last layer, where vectors get length 1.
:math:`h_i^{(0)}` is a learned vector of the label and one of its type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model import ModelConfig, choose_backend, current_compute
from mathamr_kedro.model.backends import TRITON_DIMS, can_use_triton
from mathamr_kedro.model.member_pooling import look_up
from mathamr_kedro.model.relation_weights import RelationWeights, xavier_uniform
from mathamr_kedro.systems.formula_rgcn.forest import (
    ForestBuilder,
    Kind,
    TreeVocabulary,
)
from mathamr_kedro.systems.weights import load_weights, save_weights

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree
    from mathamr_kedro.systems.formula_rgcn.config import RgcnConfig

_LAYERS = 2
"""The paper names no number."""
_WEIGHTS = "weights.arrays"
_NODES = 1 << 15
"""Nodes that are encoded at once."""


class NodeEncoder(nn.Module):
    """An R-GCN; the convolution is computed by our backends."""

    types: Tensor

    def __init__(
        self, width: int, vocabulary: TreeVocabulary, layers: int = _LAYERS
    ) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        types = torch.tensor(vocabulary.types, dtype=torch.int32)
        self.register_buffer("types", types, persistent=False)
        scale = width**-0.5
        kinds = int(types.max()) + 1
        self.label_vectors = nn.Parameter(torch.randn(len(types), width) * scale)
        self.type_vectors = nn.Parameter(torch.randn(kinds, width) * scale)
        # One free matrix for each relation: the paper decomposes none.
        shape = ModelConfig(hidden_dim=width, num_layers=layers, decomposition="none")
        self.weights = RelationWeights(shape, vocabulary.schema.num_relations)
        self.root = xavier_uniform(layers, width, width)
        self.bias = nn.Parameter(torch.zeros(layers, width))
        self.compute = current_compute()

    def forward(self, batch: GraphBatch) -> Tensor:
        """(N, d) vectors of length 1, of the nodes of graphs side by side."""
        h = look_up(self.label_vectors, batch.node_type)
        h = h + look_up(self.type_vectors, self.types[batch.node_type.long()])
        width = h.shape[1]
        h = fill_width(h)
        more = h.shape[1] - width
        backend = choose_backend(
            self.compute.backend, self.compute.precision, h.device, h.shape[1]
        )
        graph: Any = backend.prepare(batch)
        weight = self.weights(getattr(graph, "relations", None))
        weight, root = (F.pad(w, (0, more, 0, more)) for w in (weight, self.root))
        bias = F.pad(self.bias, (0, more)).unbind()
        layers = zip(weight.unbind(), root.unbind(), bias, strict=True)
        for number, (w, own, shift) in enumerate(layers):
            h = backend.convolve(h, w, own, shift, None, graph)
            if number < len(weight) - 1:
                h = F.relu(h)
        return F.normalize(h[:, :width], dim=1)

    @torch.inference_mode()
    def encode(self, trees: Sequence[FormulaTree]) -> list[NDArray[np.float32]]:
        """Return the vectors of the nodes of each tree, in preorder."""
        builder = ForestBuilder()
        for tree in trees:
            builder.add(tree)
        forest = builder.finish(self.vocabulary)
        found: list[NDArray[np.float32]] = []
        # As many trees at once as have so many nodes, whatever their sizes.
        turn = forest.ptr[:-1] // _NODES
        for rows in np.split(np.arange(len(trees)), np.flatnonzero(np.diff(turn)) + 1):
            batch = forest.assemble(rows)
            vectors = self(batch.to(self.bias.device)).float().cpu().numpy()
            found += [vectors[a:b] for a, b in pairwise(batch.node_ptr.tolist())]
        return found


def fill_width(vectors: Tensor) -> Tensor:
    """Return vectors with zeros up to the next width that kernels on a GPU know.

    Products and convolutions with zeros in the same places are what they were: the
    paper's 100 numbers are computed as 128.
    """
    width = vectors.shape[1]
    wide = min((w for w in TRITON_DIMS if w >= width), default=width)
    if not can_use_triton(vectors.device, wide):
        return vectors
    return F.pad(vectors, (0, wide - width))


def make_encoders(
    config: RgcnConfig, vocabularies: Mapping[Kind, TreeVocabulary], seed: int = 0
) -> dict[str, NodeEncoder]:
    """Return new networks; the same for the same seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        width = config.hidden_dim
        return {k: NodeEncoder(width, v) for k, v in vocabularies.items()}


def save_encoders(encoders: Mapping[str, NodeEncoder], folder: Path) -> None:
    """Write networks with their vocabularies."""
    for kind, encoder in encoders.items():
        encoder.vocabulary.save(folder, kind)
    save_weights(nn.ModuleDict(encoders), folder / _WEIGHTS)


def load_encoders(config: RgcnConfig, folder: Path) -> dict[str, NodeEncoder]:
    """Read trained networks to the device that there is."""
    found = {kind: TreeVocabulary.load(folder, kind) for kind in config.kinds}
    encoders = make_encoders(config, found)
    networks = nn.ModuleDict(encoders)
    load_weights(networks, folder / _WEIGHTS)
    networks.to(current_compute().choose_device()).eval()
    return encoders
