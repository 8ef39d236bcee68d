r"""The relational convolution as products of rows, sorted by relation.

Eq. 2.4 of the thesis is a sum over directed edges. Most of them join a virtual node to
its members, and share one relation and one end, so they are summed before (or after)
the product instead of one by one. For a sentence node 3 over nodes 0, 1, 2::

    0 ─┐                                   row  reads        times     adds to
    1 ─┼─> 3   three edges become one row  t    x0 + x1 + x2  W_r / 3   node 3
    2 ─┘
    0 <─┐
    1 <─┼─ 3   and so do their inverses    u    x3           W_r'      nodes 0, 1, 2
    2 <─┘

With :math:`x_{ext} = [x; \text{member sums}]` and :math:`g_{ext}` likewise,

.. math::
    Y_t = s_t\, x_{ext}[f_t] W_{r_t} + a_t\, c_{r_t}, \qquad
    \text{out} = x W_0 + b + Q Y,

    \partial X_t = s_t\, g_{ext}[b_t] W_{r_t}^T, \qquad
    \partial x = g W_0^T + P\, \partial X, \qquad
    \partial W_r = \sum_{t \in r} s_t\, x_{ext}[f_t]^T g_{ext}[b_t].

``Q`` and ``P`` are sums over the rows of each node, so nothing is added in an order
that changes from run to run. :math:`c_r = e_r W_r` is the edge-attribute term of thesis
3.3.2, where :math:`e_r` is added to each neighbour before the product.

Dropped edges leave :math:`\mathcal{N}_i^r`: the mean is over the edges that remain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mathamr_kedro.graph import GraphBatch

_LARGEST_KEY = 2**31 - 1


@dataclass(frozen=True)
class RowPlan:
    """The rows of a batch: what each reads, its relation, and where it adds."""

    num_nodes: int
    num_virtual: int
    num_relations: int
    gather: Tensor
    """(T,) row of ``x_ext`` that is read."""
    scatter: Tensor
    """(T,) row of ``g_ext`` that is read in the backward pass."""
    scale: Tensor
    """(T,) factor of the product; 0 for dropped edges and spare rows."""
    shift: Tensor
    """(T,) factor of the edge-attribute term."""
    relation: Tensor
    """(T,) ascending; spare rows have ``num_relations``."""
    relation_ptr: Tensor
    """(R + 1,) where each relation starts."""
    node_ptr: Tensor
    """(N + 1,) where each node starts in the three tensors below."""
    out_row: Tensor
    """(I,) rows that add to a node, ``Q``."""
    out_weight: Tensor
    """(I,) 1, or less for a member of several virtual nodes of one kind."""
    in_row: Tensor
    """(I,) rows that read a node, ``P``."""
    member_ptr: Tensor
    """(V + 1,) where each virtual node starts in the two tensors below."""
    member: Tensor
    """(M,) members of virtual nodes."""
    member_weight: Tensor
    """(M,) weight of the virtual node at the member."""

    @classmethod
    def of_batch(cls, batch: GraphBatch, keep: Tensor | None = None) -> RowPlan:
        """Plan the rows of a batch; one plan serves all layers, both passes.

        Shapes depend only on the shapes of the batch, and nothing waits for the
        device, so this can be captured in a CUDA graph.

        Args:
            batch: graphs side by side.
            keep: (2 E,) which directed edges stay, forward ones first; all if ``None``.
        """
        n, num_virtual = batch.num_nodes, batch.virtual_node.numel()
        num_relations = batch.schema.num_relations
        presorted = _list_rows(batch)
        gather, scatter, relation, place = presorted
        # Four bytes sort in half the passes of eight.
        wide = torch.int64 if num_relations * (n + 2) > _LARGEST_KEY else torch.int32
        # By relation, for the products; within one by the node whose neighbourhood it
        # is, so that rows of one mean are adjacent.
        key, order = torch.sort(relation.to(wide) * (n + 1) + place, stable=True)
        relation = torch.div(key, n + 1, rounding_mode="floor").int()
        row_of = torch.empty_like(order)
        row_of[order] = torch.arange(order.numel(), device=order.device)
        member_ptr = _pointers(batch.member_of, num_virtual)
        scale, shift = _scale_rows(batch, keep, key, order, member_ptr)
        alive = relation < num_relations
        member_weight = _weigh_members(batch)
        nodes, out_row, in_row, out_weight = _list_incidences(
            batch, row_of, member_weight
        )
        return cls(
            num_nodes=n,
            num_virtual=num_virtual,
            num_relations=num_relations,
            gather=torch.where(alive, gather[order], 0),
            scatter=torch.where(alive, scatter[order], 0),
            scale=torch.where(alive, scale, 0.0),
            shift=torch.where(alive, shift, 0.0),
            relation=relation,
            relation_ptr=_pointers(relation, num_relations),
            node_ptr=_pointers(nodes, n),
            out_row=out_row,
            out_weight=out_weight,
            in_row=in_row,
            member_ptr=member_ptr,
            member=batch.member.clamp(max=max(n - 1, 0)),
            member_weight=member_weight,
        )

    @property
    def num_rows(self) -> int:
        """Number of rows ``T``, spare ones included."""
        return self.gather.numel()

    def trim(self) -> RowPlan:
        """Cut off spare entries; waits for the device."""
        ends = torch.stack(
            [self.relation_ptr[-1], self.node_ptr[-1], self.member_ptr[-1]]
        )
        rows, incidences, members = ends.tolist()
        lengths = (
            (rows, ("gather", "scatter", "scale", "shift", "relation")),
            (incidences, ("out_row", "out_weight", "in_row")),
            (members, ("member", "member_weight")),
        )
        cut = {name: getattr(self, name)[:n] for n, names in lengths for name in names}
        return replace(self, **cut)

    def number_present(self) -> tuple[RowPlan, Tensor]:
        """Renumber the relations that have rows; also return these relations."""
        relations, number = torch.unique_consecutive(self.relation, return_inverse=True)
        return (
            replace(
                self,
                num_relations=len(relations),
                relation=number.int(),
                relation_ptr=_pointers(number.int(), len(relations)),
            ),
            relations.long(),
        )


def _pointers(ascending: Tensor, count: int) -> Tensor:
    """Where each of 0 .. ``count`` starts in an ascending tensor."""
    steps = torch.arange(count + 1, device=ascending.device, dtype=ascending.dtype)
    return torch.searchsorted(ascending, steps, out_int32=True)


def _virtual_relations(batch: GraphBatch) -> Tensor:
    """(V,) forward relation of each virtual node; spare ones have ``num_relations``."""
    schema, n = batch.schema, batch.num_nodes
    node = batch.virtual_node.clamp(max=max(n - 1, 0))
    kind = batch.node_type[node] - schema.num_node_types
    formula, sentence, document = schema.virtual_relations
    relation = torch.where(kind == 1, sentence, document)
    relation = torch.where(kind == 0, formula, relation)
    return torch.where(batch.virtual_node < n, relation, schema.num_relations)


def _list_rows(batch: GraphBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Rows before sorting: forward edges, inverse edges, into and out of virtual nodes.

    Returns what each reads, where it adds, its relation, and the node that makes its
    neighbourhood (the target of an edge).
    """
    n, schema = batch.num_nodes, batch.schema
    source, target, virtual = batch.source, batch.target, batch.virtual_node
    dead = schema.num_relations
    # x_ext has the sum over the members of virtual node v in row n + v.
    pooled = n + torch.arange(virtual.numel(), device=virtual.device, dtype=torch.int32)
    spare = source >= n
    forward = torch.where(spare, dead, batch.relation)
    inverse = torch.where(spare, dead, batch.relation + schema.num_forward)
    away = _virtual_relations(batch)
    into = torch.where(away < dead, away + schema.num_forward, dead)
    gather = torch.cat([source, target, pooled, virtual])
    scatter = torch.cat([target, source, virtual, pooled])
    relation = torch.cat([forward, inverse, into, away])
    place = torch.cat([target, source, virtual, virtual])
    return gather, scatter, relation, place


def _scale_rows(
    batch: GraphBatch,
    keep: Tensor | None,
    key: Tensor,
    order: Tensor,
    member_ptr: Tensor,
) -> tuple[Tensor, Tensor]:
    """Factors of each sorted row: 1 / |N_i^r|, or 1 / |members|, or 1."""
    edges, num_virtual = 2 * batch.source.numel(), batch.virtual_node.numel()
    device = key.device
    size = member_ptr.diff().float()
    ones = torch.ones(num_virtual, device=device)
    # A dropped edge has factor 0 and is not counted in its neighbourhood.
    kept = torch.ones(edges, device=device) if keep is None else keep.float()
    # Rows of one node and relation are side by side; counts below 2^24 are exact.
    segment = torch.cumsum(key[1:] != key[:-1], 0, dtype=torch.int32)
    segment = torch.cat([segment.new_zeros(min(1, key.numel())), segment])
    kept_sorted = torch.cat([kept, ones, ones])[order]
    count = torch.zeros(key.numel(), device=device).index_add_(0, segment, kept_sorted)
    mean = kept_sorted / count[segment].clamp(min=1.0)
    pool_scale = torch.where(size > 0, 1.0 / size.clamp(min=1.0), 0.0)
    fixed = torch.cat([kept, pool_scale, ones])[order]
    is_edge = order < edges
    scale = torch.where(is_edge, mean, fixed)
    has_members = (size > 0).float()
    shift = torch.where(is_edge, mean, torch.cat([kept, has_members, ones])[order])
    return scale, shift


def _weigh_members(batch: GraphBatch) -> Tensor:
    """(M,) 1 / number of virtual nodes of the same kind that the member belongs to."""
    n, num_virtual = batch.num_nodes, batch.virtual_node.numel()
    if num_virtual == 0:
        return torch.zeros(0, device=batch.member.device)
    virtual = batch.virtual_node.clamp(max=n - 1)
    kind = batch.node_type[virtual] - batch.schema.num_node_types
    owner = batch.member_of.clamp(max=num_virtual - 1)
    # A member of several virtual nodes of one kind has them all in one neighbourhood,
    # of which Eq. 2.4 takes the mean.
    place = batch.member * 3 + kind[owner].clamp(min=0, max=2)
    ones = torch.ones(place.numel(), device=place.device)
    count = torch.zeros(3 * n + 3, device=place.device).index_add_(0, place, ones)
    return 1.0 / count[place]


def _list_incidences(
    batch: GraphBatch, row_of: Tensor, member_weight: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Rows at each node, by node: those that add to it and those that read it.

    An edge that adds to a node is read by its inverse, so one order serves both.
    """
    e, v = batch.source.numel(), batch.virtual_node.numel()
    forward, inverse, into, away = row_of.int().split([e, e, v, v])
    owner = batch.member_of.clamp(max=max(v - 1, 0))
    nodes = torch.cat([batch.target, batch.source, batch.virtual_node, batch.member])
    adds = torch.cat([forward, inverse, into, away[owner]])
    reads = torch.cat([inverse, forward, away, into[owner]])
    ones = torch.ones(2 * e + v, device=nodes.device)
    nodes, order = torch.sort(nodes, stable=True)
    weight = torch.cat([ones, member_weight])
    return nodes, adds[order], reads[order], weight[order]
