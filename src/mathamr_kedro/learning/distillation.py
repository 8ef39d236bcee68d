r"""Distillation: vectors whose similarities agree with those of a teacher.

The similarities of a query to the documents of a batch should be those of the teacher,
which has vectors :math:`t_i` of the same posts or formulas:

.. math::
    \mathcal{L} = \frac{1}{n} \sum_i \text{KL}\left(
        \text{softmax}_j(t_i^\top t_j / \tau_t) \,\|\,
        \text{softmax}_j(z_i^\top z_j / \tau)\right)

Formulas learn from the patterns of their trees (:class:`PatternTeacher`), posts
from a sentence encoder (:class:`TextTeacher`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.formula import SLT_EDGES, find_kind
from mathamr_kedro.graph import (
    FORMULA,
    RARE_NUMBERS,
    GraphBatch,
    GraphSchema,
    GraphShards,
    PreparedGraphs,
)
from mathamr_kedro.graph.math_graph import OPT_ROLE, SLT_ROLE
from mathamr_kedro.learning.augmentation import mix_bits
from mathamr_kedro.model.maxsim import take_documents

_TEXT_TEMPERATURE = 0.05
"""Temperature of the teacher of documents, as for the released encoders; 0.1 is as good
(docs/results/pool.md)."""
_GRAPHS = 128
"""Graphs processed at once."""
_TERM_BITS = 22
"""Bits of the hash of a pattern."""
_WIDTH = 2048
"""Dimensions of hashed sets."""
_DIMENSION = 256
"""Principal dimensions that are kept, as for the released encoders."""
_PATH_LENGTH = 3
"""Maximum edges of a pattern, as for the released encoders."""
_SAMPLE = 200_000
"""Vectors of posts from whose formulas the principal dimensions are computed."""

_KINDS = ("V!", "N!")
_ARGUMENTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Edges of operator trees, by the number of the argument; further ones are rare, and
named as edges of layout trees are."""


class FormulaSymbols(NamedTuple):
    """What the numbers of a schema mean in formulas."""

    kind_of: NDArray[np.int64]
    """(T,) the type itself; T for all variables and T + 1 for all numbers."""
    is_layout: NDArray[np.bool_]
    """(F,) forward relations of layout trees, the one to their root among them."""
    is_operator: NDArray[np.bool_]
    """(F,) the same of operator trees."""

    @classmethod
    def of_schema(cls, schema: GraphSchema) -> FormulaSymbols:
        """Without names: all types differ, and all edges belong to both trees."""
        every = np.ones(schema.num_forward, np.bool_)
        return cls(np.arange(schema.num_node_types), every, every)

    @classmethod
    def of_names(cls, types: Sequence[str], roles: Sequence[str]) -> FormulaSymbols:
        """Read kinds and layout edges off the names of types and relations.

        Graphs without layout trees (``formula_mode: opt``) use the edges of operators.

        >>> roles = ["n", "slt", "0", "opt", "ARG1"]
        >>> found = FormulaSymbols.of_names(["[UNK]", "V!x", "+", "N!2"], roles)
        >>> found.kind_of.tolist(), found.is_layout.tolist()
        ([0, 4, 2, 5], [True, True, False, False, False])
        >>> found.is_operator.tolist()
        [False, False, True, True, False]
        """
        names = ["N!" if t in RARE_NUMBERS.values() else find_kind(t) for t in types]
        number = {kind: len(types) + i for i, kind in enumerate(_KINDS)}
        kinds = [number.get(name, i) for i, name in enumerate(names)]
        layout = [role == SLT_ROLE or role in SLT_EDGES for role in roles]
        operator = [role in (OPT_ROLE, *_ARGUMENTS) for role in roles]
        if SLT_ROLE not in roles:
            layout = [True] * len(roles)
        return cls(np.array(kinds), np.array(layout), np.array(operator))

    @classmethod
    def of_graphs(cls, graphs: PreparedGraphs) -> FormulaSymbols:
        """Read them off the vocabularies of prepared graphs."""
        return cls.of_names(graphs.types.names, graphs.relations.names)


@dataclass(frozen=True)
class DistillationConfig:
    """Weights and temperatures of the teachers."""

    weight: float = 0.0
    """Weight of the formula loss beside the contrastive ones; 0: no distillation."""
    trees: Literal["layout", "operator", "both"] = "layout"
    """Trees whose patterns formulas learn from; ``both``: in equal parts."""
    temperature: float = 0.1
    """Temperature of that teacher; a low one emphasises the nearest formulas."""
    document_weight: float = 0.0
    """Weight of the loss between document vectors and those of a sentence encoder."""
    score_weight: float = 0.0
    """Weight of the loss between MaxSim scores and those of the sentence encoder."""
    document_vectors: str | None = None
    """``.npy`` file with a vector of the sentence encoder for each graph."""

    @property
    def uses_texts(self) -> bool:
        """Whether vectors of a sentence encoder are needed."""
        return self.document_weight > 0 or self.score_weight > 0

    def __post_init__(self) -> None:
        check_range(self, "weight", "document_weight", "score_weight", least=0)
        check_range(self, "temperature", above=0)


class TextTeacher:
    """Vectors of a sentence encoder for all posts of some shards."""

    def __init__(
        self, vectors: Tensor, shards: GraphShards, config: DistillationConfig
    ) -> None:
        if vectors.ndim != 2 or len(vectors) != len(shards):
            raise MalformedInputError(
                f"Expected a vector for each of {len(shards)} graphs in "
                f"distillation.document_vectors (got shape {tuple(vectors.shape)})"
            )
        self.config = config
        ends = torch.from_numpy(shards.offsets["representative"][1:])
        self._ends = ends.to(vectors.device)
        self._vectors = F.normalize(vectors, dim=1)

    def distil(
        self,
        queries: RaggedVectors,
        documents: RaggedVectors,
        temperature: Tensor,
        scores: Tensor | None = None,
    ) -> Tensor:
        """The weighted losses of document vectors and of MaxSim ``scores``."""
        q, d = (self._find(p) for p in (queries, documents))
        anchor, partner = (t.abs().amax(1) > 0 for t in (q, d))
        wanted = q @ d.T / _TEXT_TEMPERATURE
        weighted: list[tuple[float, Tensor]] = []
        if self.config.document_weight > 0:
            similar = take_documents(queries) @ take_documents(documents).T
            weighted.append((self.config.document_weight, similar))
        if self.config.score_weight > 0 and scores is not None:
            weighted.append((self.config.score_weight, scores))
        loss = wanted.new_zeros(())
        for weight, scored in weighted:
            found = scored / temperature
            loss = loss + weight * compare_similarities(wanted, found, anchor, partner)
        return loss

    def _find(self, posts: RaggedVectors) -> Tensor:
        last = posts.columns["row"].long()[posts.ptr[1:].long() - 1]
        return self._vectors[torch.searchsorted(self._ends, last, right=True)]


def is_formula(posts: RaggedVectors) -> Tensor:
    """(P,) which vectors are formulas of posts; spare ones are not."""
    place = torch.arange(len(posts.vectors), device=posts.ptr.device)
    is_inside = (place >= posts.ptr[0]) & (place < posts.ptr[-1])
    return is_inside & (posts.columns["kind"] == FORMULA)


def compare_similarities(
    wanted: Tensor, found: Tensor, anchor: Tensor, partner: Tensor
) -> Tensor:
    """Mean KL divergence of rows of softmaxed similarities.

    Args:
        wanted: (n, m) the teacher's, divided by its temperature.
        found: (n, m) the student's, divided by its temperature.
        anchor: (n,) rows that count.
        partner: (m,) columns that count.
    """
    lowest = torch.finfo(torch.float32).min
    losses = F.kl_div(
        F.log_softmax(found.float().masked_fill(~partner, lowest), 1),
        F.log_softmax(wanted.masked_fill(~partner, lowest), 1),
        reduction="none",
        log_target=True,
    ).sum(1)
    counted = anchor & partner.any()
    return torch.where(counted, losses, 0.0).sum() / counted.sum().clamp(min=1)


class PatternTeacher:
    r"""A teacher of formula vectors: the pattern sets of all formulas in shards.

    Patterns are the symbols of a layout tree, two symbols with the edges down from the
    first to the second, and the same with variables and numbers made kinds::

        x^2 + y      V!x   N!2   +   V!y                            of no edge
                     V!x a N!2   V!x n +   + n V!y                  of one
                     V! a N!     V! n +    + n V!
                     V!x nn V!y  V! nn V!                           of two

    They measure similarity well (BM25 over them is the baseline to beat), but need an
    index of terms and ignore the surrounding text. Sets become vectors: weights are
    :math:`\sqrt{\text{idf}}`, hashed into 2,048 dimensions with signs, of which the
    principal ones are kept. Operator trees have patterns of the same kind; with
    ``both``, the similarity of two formulas is the mean of those by either tree.
    """

    def __init__(
        self,
        shards: GraphShards,
        config: DistillationConfig,
        device: torch.device,
        symbols: FormulaSymbols | None = None,
    ) -> None:
        self.weight, self.config = config.weight, config
        known = symbols or FormulaSymbols.of_schema(shards.schema)
        chosen = [known] if config.trees != "operator" else []
        if config.trees != "layout":  # operator trees in place of layout trees
            chosen.append(known._replace(is_layout=known.is_operator))
        parts = [self._describe(shards, device, names) for names in chosen]
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
        idf = self._weigh_terms(shards, device)
        principal = self._find_principal(shards, device, idf)
        # One row more, of zeros, for formulas that are in no shard.
        found = torch.zeros(
            rows + 1, principal.shape[1], dtype=torch.float16, device=device
        )
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
        self, shards: GraphShards, device: torch.device, idf: Tensor
    ) -> Tensor:
        """(hashed, dimension) eigenvectors of the largest second moments."""
        moments = torch.zeros(_WIDTH, _WIDTH, dtype=torch.float64, device=device)
        every = max(1, int(shards.offsets["representative"][-1]) // _SAMPLE)
        for batch in _read(shards, device, every):
            _, sets = self._hash(batch, idf)
            sets = F.normalize(sets, dim=1)
            moments += (sets.T @ sets).double()
        return torch.linalg.eigh(moments)[1][:, -_DIMENSION:].float()

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
    patterns, up to collisions of their bits. A pattern is listed once for each
    occurrence.
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
