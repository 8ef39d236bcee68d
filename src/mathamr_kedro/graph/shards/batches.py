"""Several graphs as one disconnected graph (thesis 3.4.1), without padding."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.graph.arrays import GraphArrays, GraphSchema


@dataclass(frozen=True)
class GraphBatch:
    """Graphs side by side; node numbers count through the whole batch.

    The nodes of graph ``g`` are ``node_ptr[g]`` to ``node_ptr[g + 1] - 1``. All tensors
    are ``int32``. Tensors may be longer than the batch (see ``DeviceShards``): spare
    edges and members point to node ``num_nodes``, spare virtual nodes too.
    """

    schema: GraphSchema
    node_type: Tensor
    """(N,) virtual nodes have ``num_node_types + kind``."""
    node_ptr: Tensor
    """(G + 1,)"""
    source: Tensor
    target: Tensor
    relation: Tensor
    """(E,) forward edges only."""
    virtual_node: Tensor
    """(V,) node of each virtual node, ascending."""
    member: Tensor
    """(M,) member nodes, those of the first virtual node first."""
    member_of: Tensor
    """(M,) position in ``virtual_node``, ascending."""
    representative: Tensor
    """(P,) nodes that become vectors, those of the first graph first."""
    representative_kind: Tensor
    representative_label: Tensor
    representative_row: Tensor
    """(P,) the place of each in the files of the shards; -1 for graphs in no shard."""
    representative_ptr: Tensor
    """(G + 1,)"""
    text: Tensor | None = None
    """(G, width) vectors of a sentence encoder, if the graphs have them; floats."""

    @classmethod
    def of_graph(
        cls,
        graph: GraphArrays,
        schema: GraphSchema,
        text: NDArray[np.floating] | None = None,
    ) -> GraphBatch:
        """Make a batch of one graph that is in no shard, such as a query.

        Args:
            graph: its arrays.
            schema: what their numbers mean.
            text: (width,) vector of its text.
        """
        num_virtual = len(graph.member_count)
        arrays = {
            "node_type": graph.node_type,
            "node_ptr": np.array([0, graph.num_nodes]),
            "source": graph.source,
            "target": graph.target,
            "relation": graph.relation,
            "virtual_node": np.arange(graph.num_content, graph.num_nodes),
            "member": graph.member,
            "member_of": np.repeat(np.arange(num_virtual), graph.member_count),
            "representative": graph.representative,
            "representative_kind": graph.representative_kind,
            "representative_label": graph.representative_label,
            "representative_row": np.full(len(graph.representative), -1),
            "representative_ptr": np.array([0, len(graph.representative)]),
        }
        tensors = {k: torch.from_numpy(v.astype(np.int32)) for k, v in arrays.items()}
        if text is not None:
            tensors["text"] = torch.from_numpy(text[None]).float()
        return cls(schema=schema, **tensors)

    @property
    def num_graphs(self) -> int:
        """Number of graphs ``G``."""
        return self.node_ptr.numel() - 1

    @property
    def num_nodes(self) -> int:
        """Number of nodes ``N``, spare ones included."""
        return self.node_type.numel()

    def is_virtual(self) -> Tensor:
        """(N,) mark virtual nodes, by their type."""
        return self.node_type >= self.schema.num_node_types

    def joins_virtual(self) -> Tensor:
        """(E,) mark forward edges with a virtual node at an end."""
        last, is_virtual = max(self.num_nodes - 1, 0), self.is_virtual()
        ends = (e.clamp(max=last) for e in (self.source, self.target))
        source, target = (is_virtual[e] for e in ends)
        return source | target

    def list_edges(self) -> tuple[Tensor, Tensor, Tensor]:
        """List every directed edge: source, target and relation, in ``int64``.

        Order: forward, inverse, virtual node to member, member to virtual node.
        """
        schema = self.schema
        source, target, relation = (
            t.long() for t in (self.source, self.target, self.relation)
        )
        owner = self.virtual_node.long()[self.member_of.long()]
        member = self.member.long()
        kind = self.node_type.long()[owner] - schema.num_node_types
        virtual = torch.tensor(schema.virtual_relations, device=kind.device)[kind]
        inverse = schema.num_forward
        return (
            torch.cat([source, target, owner, member]),
            torch.cat([target, source, member, owner]),
            torch.cat([relation, relation + inverse, virtual, virtual + inverse]),
        )

    def to(self, device: torch.device | str) -> GraphBatch:
        """Copy the batch to a device."""
        moved = {
            f.name: getattr(self, f.name).to(device, non_blocking=True)
            for f in fields(self)
            if f.name != "schema" and getattr(self, f.name) is not None
        }
        return replace(self, **moved)
