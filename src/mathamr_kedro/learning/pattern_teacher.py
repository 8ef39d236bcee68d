r"""A teacher for formula vectors: the patterns of their trees.

A formula of the tree store is a set of patterns: the symbols of its layout tree, two
symbols with the edges down from the first to the second, and the same with variables
and numbers made kinds::

    x^2 + y      V!x   N!2   +   V!y                            of no edge
                 V!x a N!2   V!x n +   + n V!y                  of one
                 V! a N!     V! n +    + n V!
                 V!x nn V!y  V! nn V!                           of two

Patterns are sound judges of similarity (BM25 over them is the baseline to beat), but
need an index of terms and know nothing of the text around. Sets of patterns become
vectors: weights are :math:`\sqrt{\text{idf}}`, hashed into 2,048 dimensions with signs,
of which the principal ones remain. Formula vectors learn from them by
:mod:`.distillation`. Operator trees have patterns of the same kind; with ``both``, the
similarity of two formulas is the mean of those by either tree.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import FORMULA, GraphBatch, GraphShards
from mathamr_kedro.learning.augmentation import mix_bits
from mathamr_kedro.learning.distillation import (
    DistillationConfig,
    compare_similarities,
    is_formula,
)
from mathamr_kedro.learning.formula_symbols import FormulaSymbols

_GRAPHS = 128
"""Graphs described at once."""
_TERM_BITS = 22
"""Bits of the hash of a pattern."""
_WIDTH = 2048
"""Dimensions of hashed sets."""
_DIMENSION = 256
"""Principal dimensions that remain, as for the released encoders."""
_PATH_LENGTH = 3
"""Edges of a pattern, at most, as for the released encoders."""
_SAMPLE = 200_000
"""Vectors of posts whose formulas the principal dimensions are found with."""


class PatternTeacher:
    """The vectors of the pattern sets of all formulas in some shards."""

    def __init__(
        self,
        shards: GraphShards,
        config: DistillationConfig,
        device: torch.device,
        symbols: FormulaSymbols | None = None,
    ) -> None:
        self.weight, self.config = config.weight, config
        known = symbols or FormulaSymbols.of_schema(shards.schema)
        chosen = {"layout": [known], "operator": [known.turn_to_operators()]}
        chosen["both"] = chosen["layout"] + chosen["operator"]
        parts = [
            self._describe(shards, device, names) for names in chosen[config.trees]
        ]
        self.vectors = parts[0]
        if len(parts) > 1:  # of length 1 together: the mean of both similarities
            both = torch.cat(parts, 1).float()
            self.vectors = F.normalize(both, dim=1).half()

    def _describe(
        self, shards: GraphShards, device: torch.device, symbols: FormulaSymbols
    ) -> Tensor:
        """(rows + 1, width) vectors of formulas by one of their trees."""
        self._symbols = symbols
        rows = int(shards.offsets["representative"][-1])
        width = min(_DIMENSION, _WIDTH)
        # One row more, of zeros, for formulas that are in no shard.
        found = torch.zeros(rows + 1, width, dtype=torch.float16, device=device)
        idf = self._weigh_terms(shards, device)
        principal = self._find_principal(shards, device, idf, width)
        for batch in _read(shards, device):
            formulas, sets = self._hash(batch, idf)
            row_of = torch.full((batch.num_nodes,), -1, device=device)
            row_of[batch.representative.long()] = batch.representative_row.long()
            rows_of = row_of[batch.virtual_node.long()[formulas]]
            vectors = F.normalize(sets @ principal, dim=1)
            found[rows_of] = vectors.half()  # -1: the spare row
        found[-1] = 0
        return found

    def _weigh_terms(self, shards: GraphShards, device: torch.device) -> Tensor:
        """Weights of terms by the number of formulas that have them."""
        found = torch.zeros(1 << _TERM_BITS, dtype=torch.int64, device=device)
        total = 0
        for batch in _read(shards, device):
            owners, terms = self._list(batch)
            found += torch.bincount(terms, minlength=len(found))
            total += len(owners.unique())
        return torch.log((total + 1) / (found + 0.5)).clamp(min=0).sqrt()

    def _find_principal(
        self, shards: GraphShards, device: torch.device, idf: Tensor, width: int
    ) -> Tensor:
        """(hashed, width) eigenvectors of the largest second moments."""
        moments = torch.zeros(_WIDTH, _WIDTH, dtype=torch.float64, device=device)
        every = max(1, int(shards.offsets["representative"][-1]) // _SAMPLE)
        for batch in _read(shards, device, every):
            _, sets = self._hash(batch, idf)
            sets = F.normalize(sets, dim=1)
            moments += (sets.T @ sets).double()
        return torch.linalg.eigh(moments)[1][:, -width:].float()

    def _list(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """Formulas, rising, and their different terms."""
        owners, terms = list_patterns(batch, _PATH_LENGTH, self._symbols)
        both = torch.unique(owners << _TERM_BITS | terms)
        return both >> _TERM_BITS, both & ((1 << _TERM_BITS) - 1)

    def _hash(self, batch: GraphBatch, idf: Tensor) -> tuple[Tensor, Tensor]:
        """(n,) formulas and (n, hashed) their weighted sets."""
        owners, terms = self._list(batch)
        formulas, place = torch.unique_consecutive(owners, return_inverse=True)
        bits = mix_bits(terms)
        values = idf[terms] * torch.where(bits & 1 > 0, 1.0, -1.0)
        # Summed in a fixed order: the same teacher in each run.
        cells, order = (place * _WIDTH + (bits >> 1) % _WIDTH).sort(stable=True)
        cells, counts = torch.unique_consecutive(cells, return_counts=True)
        sets = torch.zeros(len(formulas) * _WIDTH, device=terms.device)
        sets[cells] = torch.segment_reduce(
            values[order], "sum", lengths=counts, unsafe=True
        )
        return formulas, sets.view(-1, _WIDTH)

    def distil(
        self,
        queries: RaggedVectors,
        documents: RaggedVectors,
        temperature: Tensor,
        scores: Tensor | None = None,
    ) -> Tensor:
        """The loss between the formulas of queries and those of documents."""
        q, d = (
            self.vectors[p.columns["row"].long()].float() for p in (queries, documents)
        )
        anchor, partner = ((t.abs().amax(1) > 0) & is_formula(p)
                           for t, p in ((q, queries), (d, documents)))  # fmt: skip
        return self.weight * compare_similarities(
            q @ d.T / self.config.temperature,
            queries.vectors @ documents.vectors.T / temperature,
            anchor,
            partner,
        )


def list_patterns(
    batch: GraphBatch, max_length: int, symbols: FormulaSymbols
) -> tuple[Tensor, Tensor]:
    """List the patterns inside formulas: (M,) virtual nodes, and (M,) terms.

    The virtual node is a position in ``batch.virtual_node``; equal terms are equal
    patterns, up to collisions of their bits. A pattern is listed as often as it occurs.
    """
    device, forward = batch.node_type.device, batch.schema.num_forward
    type_of = batch.node_type.long()
    kind_of = _find_kinds(type_of, symbols)
    is_layout = torch.from_numpy(symbols.is_layout).to(device)[batch.relation.long()]
    owner = _find_owners(batch)
    source, target = batch.source.long(), batch.target.long()
    on_tree = torch.zeros_like(owner, dtype=torch.bool)
    on_tree[target[is_layout]] = True
    owner = torch.where(on_tree, owner, -1)
    inside = is_layout & (owner[source] >= 0) & (owner[source] == owner[target])
    # Trees: one edge comes in. The largest is taken if a graph has several.
    step = torch.where(inside, source * forward + batch.relation.long(), -1)
    above = torch.full_like(owner, -1)
    above = above.scatter_reduce(0, target, step, "amax")
    node = torch.arange(len(owner), device=device)
    start, path = node, torch.zeros_like(node)
    alive = owner >= 0
    owners, terms = [], []
    for length in range(max_length + 1):
        names = [(type_of, alive)]
        if length:  # a single kind says nothing
            has_kind = (kind_of != type_of)[start] | (kind_of != type_of)
            names.append((kind_of, alive & has_kind))
        for name, counted in names:
            ends = mix_bits(mix_bits(name[start] * 8 + length) ^ path) ^ name
            owners.append(owner[counted])
            terms.append(mix_bits(ends)[counted] & ((1 << _TERM_BITS) - 1))
        alive = alive & (above[start] >= 0)
        edge = above[start].clamp(min=0)
        path = mix_bits(path + edge % forward + 1)
        start = torch.where(alive, edge // forward, start)
    return torch.cat(owners), torch.cat(terms)


def _find_kinds(type_of: Tensor, symbols: FormulaSymbols) -> Tensor:
    """(N,) kinds of nodes; virtual types are their own."""
    kinds = torch.from_numpy(symbols.kind_of).to(type_of.device)
    content = type_of < len(kinds)
    return torch.where(content, kinds[type_of.clamp(max=len(kinds) - 1)], type_of)


def _find_owners(batch: GraphBatch) -> Tensor:
    """(N,) position of the formula that a node belongs to; -1 for none."""
    kind = batch.node_type.long()[batch.virtual_node.long()]
    is_formula = kind == batch.schema.num_node_types + FORMULA
    owner = torch.full_like(batch.node_type.long(), -1)
    position = batch.member_of.long()
    value = torch.where(is_formula[position], position, -1)
    return owner.scatter_reduce(0, batch.member.long(), value, "amax")


def _read(
    shards: GraphShards, device: torch.device, every: int = 1
) -> Iterator[GraphBatch]:
    starts = range(0, len(shards), _GRAPHS * every)
    named = "batches read for the teacher of formulas"
    for start in report_progress(starts, named, total=len(starts)):
        chosen = np.arange(start, min(start + _GRAPHS, len(shards)))
        yield shards.assemble(chosen).to(device)
