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
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.checksums import check_file, replace_checked_file
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model import ComputeConfig, ModelConfig, choose_backend
from mathamr_kedro.model.member_pooling import look_up
from mathamr_kedro.model.relation_weights import RelationWeights, xavier_uniform
from mathamr_kedro.systems.formula_rgcn.config import Kind, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import Forest
from mathamr_kedro.systems.formula_rgcn.vocabulary import Vocabulary

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree, FormulaTrees

Vectors: TypeAlias = NDArray[Any]

_WEIGHTS = "weights.pt"
_NODES = 1 << 15
"""Nodes that are encoded at once."""


class NodeEncoder(nn.Module):
    """An R-GCN; the convolution is computed by our backends."""

    types: Tensor

    def __init__(self, config: RgcnConfig, kind: Kind, vocabulary: Vocabulary) -> None:
        super().__init__()
        d, layers = config.hidden_dim, config.num_layers
        self.kind, self.vocabulary = kind, vocabulary
        types = torch.tensor(vocabulary.types, dtype=torch.int32)
        self.register_buffer("types", types, persistent=False)
        scale = d**-0.5
        self.label_vectors = nn.Parameter(torch.randn(len(types), d) * scale)
        self.type_vectors = nn.Parameter(torch.randn(int(types.max()) + 1, d) * scale)
        shape = ModelConfig(
            hidden_dim=d,
            num_layers=layers,
            decomposition=config.decomposition,
            num_bases=config.num_bases,
        )
        self.weights = RelationWeights(shape, vocabulary.schema.num_relations)
        self.root = xavier_uniform(layers, d, d)
        self.bias = nn.Parameter(torch.zeros(layers, d))
        self.compute = ComputeConfig()

    def forward(self, batch: GraphBatch) -> Tensor:
        """(N, d) vectors of length 1, of the nodes of graphs side by side."""
        h = look_up(self.label_vectors, batch.node_type)
        h = h + look_up(self.type_vectors, self.types[batch.node_type.long()])
        d = self.bias.shape[1]
        backend = choose_backend(
            self.compute.backend, self.compute.precision, h.device, d
        )
        graph: Any = backend.prepare(batch)
        weight = self.weights(getattr(graph, "relations", None))
        layers = zip(weight.unbind(), self.root.unbind(), self.bias, strict=True)
        for number, (w, root, bias) in enumerate(layers):
            h = backend.convolve(h, w, root, bias, None, graph)
            if number < len(weight) - 1:
                h = F.relu(h)
        return F.normalize(h, dim=1)

    def pick(self, trees: FormulaTrees | None) -> FormulaTree | None:
        """Return the tree that is encoded, if it shows anything."""
        tree = None if trees is None else trees.slt if self.kind == "slg" else trees.opt
        return None if tree is None or tree.is_blank else tree

    @torch.inference_mode()
    def encode(self, trees: Sequence[FormulaTree]) -> list[Vectors]:
        """Return the vectors of the nodes of each tree, in preorder."""
        found: list[Vectors] = []
        forest = Forest.of(trees, self.vocabulary)
        # As many trees at once as have so many nodes, whatever their sizes.
        turn = forest.ptr[:-1] // _NODES
        for rows in np.split(np.arange(len(trees)), np.flatnonzero(np.diff(turn)) + 1):
            batch = forest.assemble(rows)
            vectors = self(batch.to(self.bias.device)).float().cpu().numpy()
            found += [vectors[a:b] for a, b in pairwise(batch.node_ptr.tolist())]
        return found


class NodeEncoders(nn.ModuleDict):
    """The networks of the representations that a configuration trains."""

    def __getitem__(self, kind: str) -> NodeEncoder:
        """Return the network of a representation."""
        found = super().__getitem__(kind)
        assert isinstance(found, NodeEncoder)
        return found

    @classmethod
    def make(
        cls, config: RgcnConfig, vocabularies: Mapping[Kind, Vocabulary], seed: int = 0
    ) -> NodeEncoders:
        """Return new networks; the same for the same seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls({k: NodeEncoder(config, k, v) for k, v in vocabularies.items()})

    @classmethod
    def load(cls, config: RgcnConfig, folder: Path) -> NodeEncoders:
        """Read trained networks to the device that there is.

        Raises:
            MissingInputError: there are none.
            DamagedFileError: they are not what was written.
        """
        path = folder / _WEIGHTS
        if not path.is_file():
            raise MissingInputError(
                f"Expected {path.name} in {str(folder)!r}; run the stage 'training'"
            )
        made = cls.make(config, {k: Vocabulary.read(folder, k) for k in config.kinds})
        made.load_state_dict(cls.read_file(path, "delete its folder and train again"))
        return made.to(ComputeConfig().choose_device()).eval()

    def save(self, folder: Path) -> None:
        """Write them with their vocabularies."""
        for kind in self:
            self[kind].vocabulary.write(folder, kind)
        with replace_checked_file(folder / _WEIGHTS) as part, part.open("wb") as file:
            torch.save(self.copy_weights(), file)

    def copy_weights(self) -> dict[str, Tensor]:
        """Return the weights on the host."""
        return {name: t.detach().cpu() for name, t in self.state_dict().items()}

    @staticmethod
    def read_file(path: Path, remedy: str) -> dict[str, Any]:
        """Read what torch wrote, with a checksum; ``remedy`` ends the messages.

        Raises:
            DamagedFileError: it is not what was written.
            MalformedInputError: it cannot be read.
        """
        check_file(path, remedy)
        try:
            found: dict[str, Any] = torch.load(
                path, map_location="cpu", weights_only=True
            )
        except Exception as exc:
            raise MalformedInputError(
                f"Expected weights in {str(path)!r} ({exc}); {remedy}"
            ) from exc
        return found
