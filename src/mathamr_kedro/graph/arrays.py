"""A math graph as flat arrays.

A post "`x` is even" with one formula, as the arrays hold it::

    content nodes                     virtual nodes (always after the content nodes)
    0 even-01                         4 formula   members 2 3
    1 FORMULA_0     0 -ARG1-> 1       5 sentence  members 0 1
    2 V!x  (OPT)    1 -opt--> 2       6 document  members 4 5 0
    3 V!x  (SLT)    1 -slt--> 3

    node_type        [17, 9, 42, 42, V+0, V+1, V+2]     V = number of content node types
    source, target   [0, 1, 1], [1, 2, 3]               relation [ARG1, opt, slt]
    member_count     [2, 2, 3]                          member   [2, 3, 0, 1, 4, 5, 0]
    representative   [4, 5, 6]

Only forward edges are stored. The inverse of relation ``r`` is ``r + F``, where ``F``
is the number of forward relations (:attr:`GraphSchema.num_forward`), and is made when
graphs are batched. The edges between a virtual node and its members are given by the
member lists only: forward from the virtual node to the member, by the relation of its
kind, and inverse from the member to the virtual node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import GraphError

Ids: TypeAlias = NDArray[np.uint32]

FORMULA, SENTENCE, DOCUMENT = range(3)
"""Kinds of virtual nodes and of representatives (thesis 3.2)."""

UNKNOWN_TYPE = 0
"""Node type of what a vocabulary does not have."""

KIND_NAMES = ("formula", "sentence", "document")


@dataclass(frozen=True)
class GraphSchema:
    """What the numbers in a collection of graphs mean; the same for all its graphs."""

    num_node_types: int
    """Content node types, UNK and MASK among them; virtual types follow them."""
    num_forward: int
    """Forward relations ``F``, virtual and auxiliary ones among them."""
    mask_type: int
    """Node type that node masking writes (thesis 3.4.4)."""
    virtual_relations: tuple[int, int, int]
    """Forward relation of formula, sentence and document virtual nodes."""

    def __post_init__(self) -> None:
        if not 0 <= self.mask_type < self.num_node_types:
            raise GraphError(
                f"Expected mask_type below {self.num_node_types} "
                f"(got {self.mask_type!r})"
            )
        relations = self.virtual_relations
        if len(set(relations)) != len(KIND_NAMES):
            raise GraphError(
                f"Expected one relation for each virtual kind (got {relations!r})"
            )
        if not all(0 <= r < self.num_forward for r in relations):
            raise GraphError(
                f"Expected virtual relations below {self.num_forward} "
                f"(got {relations!r})"
            )

    @property
    def num_relations(self) -> int:
        """Forward and inverse relations together, the ``|R|`` of Eq. 2.4."""
        return 2 * self.num_forward


def to_ids(values: Iterable[int] = ()) -> Ids:
    """Return numbers as an array."""
    if isinstance(values, np.ndarray):
        return values.astype(np.uint32, copy=False)
    return np.fromiter(values, dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class GraphArrays:
    """One math graph; the interface between graph building and the encoder.

    Nodes are numbered from 0: content nodes, then virtual nodes, the document last.
    All arrays are ``uint32``. :meth:`check` refuses what breaks the layout.
    """

    node_type: Ids
    """Type of each node; a virtual node has ``num_node_types + kind``."""
    source: Ids = field(default_factory=to_ids)
    target: Ids = field(default_factory=to_ids)
    relation: Ids = field(default_factory=to_ids)
    """Forward edges, auxiliary edges between virtual nodes among them."""
    member_count: Ids = field(default_factory=to_ids)
    """Number of members of each virtual node; its length is the number of them."""
    member: Ids = field(default_factory=to_ids)
    """Members of the first virtual node, then of the second, ..."""
    representative: Ids = field(default_factory=to_ids)
    """Nodes whose final states become vectors of the post (thesis 4.3.2)."""
    representative_kind: Ids = field(default_factory=to_ids)
    representative_number: Ids = field(default_factory=to_ids)
    """``n`` of ``FORMULA_n``, or the number of the sentence."""
    representative_label: Ids = field(default_factory=to_ids)
    """Formulas that look the same share a label; 0 for none."""

    @property
    def num_nodes(self) -> int:
        """Content and virtual nodes."""
        return len(self.node_type)

    @property
    def num_content(self) -> int:
        """Nodes of the graph itself, without virtual nodes."""
        return len(self.node_type) - len(self.member_count)

    @property
    def known_share(self) -> float:
        """Share of the nodes of the graph itself whose type the vocabulary has."""
        return float(np.mean(self.node_type[: self.num_content] != UNKNOWN_TYPE))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphArrays) and all(
            np.array_equal(mine, vars(other)[name]) for name, mine in vars(self).items()
        )

    __hash__ = None  # type: ignore[assignment]

    def column(self, name: str) -> NDArray[np.uint32]:
        """Return an array as files hold it: ``edge`` has source, target, relation."""
        if name == "edge":
            return np.stack([self.source, self.target, self.relation], axis=1)
        values: NDArray[np.uint32] = getattr(self, name)
        return values

    def check(self, schema: GraphSchema) -> None:
        """Raise :class:`GraphError` if the layout above is broken."""
        n, content, types = self.num_nodes, self.num_content, schema.num_node_types
        virtual_types = self.node_type[content:]
        _refuse(self.node_type[:content] >= types, "node_type of a content node", types)
        _refuse(virtual_types < types, "node_type of a virtual node", f">= {types}")
        _refuse(virtual_types >= types + 3, "node_type of a virtual node", types + 3)
        for name in ("source", "target", "member", "representative"):
            _refuse(getattr(self, name) >= n, name, n)
        _refuse(self.relation >= schema.num_forward, "relation", schema.num_forward)
        is_virtual = np.isin(self.relation, schema.virtual_relations)
        _refuse(is_virtual, "relation", "no relation of virtual nodes: use members")
        _refuse(virtual_types[:-1] == types + DOCUMENT, "document", "the last node")
        _refuse(self.representative_kind >= 3, "representative_kind", 3)
        if not len(self.source) == len(self.target) == len(self.relation):
            raise GraphError(
                f"Expected source, target and relation of one length (got "
                f"{len(self.source)}, {len(self.target)}, {len(self.relation)})"
            )
        if int(self.member_count.sum()) != len(self.member):
            raise GraphError(
                f"Expected {int(self.member_count.sum())} members by member_count "
                f"(got {len(self.member)})"
            )
        owner = np.repeat(np.arange(content, n), self.member_count)
        _refuse(owner == self.member, "member", "another node than the virtual node")
        pairs = np.sort(owner.astype(np.int64) * n + self.member)
        _refuse(pairs[1:] == pairs[:-1], "member", "each node once in a virtual node")
        if self.representative.size == 0:
            raise GraphError("Expected at least one representative (got none)")


def _refuse(broken: NDArray[np.bool_], name: str, limit: object) -> None:
    if broken.any():
        expected = f"below {limit}" if isinstance(limit, int) else limit
        raise GraphError(
            f"Expected {name} to be {expected} (broken at position "
            f"{int(np.flatnonzero(broken)[0])})"
        )
