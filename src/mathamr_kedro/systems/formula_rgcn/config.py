"""Parameters of the system: what decides its weights, and what is done with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError

Kind: TypeAlias = Literal["slg", "opg"]
"""A representation: symbol layout graph (visual) or operator graph (semantic)."""

KINDS: tuple[Kind, ...] = ("slg", "opg")

Pairing: TypeAlias = Literal["slg", "opg", "slg_opg", "inner", "outer", "inner_outer"]
Fusion: TypeAlias = Literal["max", "avg", "f1", "rrf"]

_CROSSED = (("slg", "opg"), ("opg", "slg"))
_INNER = (("slg", "slg_sub"), ("opg", "opg_sub"))
_OUTER = (("slg", "opg_sub"), ("opg", "slg_sub"))
PAIRINGS: Mapping[Pairing, tuple[tuple[str, str], ...]] = {
    "slg": _INNER[:1],
    "opg": _INNER[1:],
    "slg_opg": _CROSSED,
    "inner": (*_INNER, *_CROSSED),
    "outer": (*_CROSSED, *_OUTER),
    "inner_outer": (*_INNER, *_OUTER, *_CROSSED),
}
"""The six ways to pair graphs (section 3): the reference, and where its nodes look for
partners; ``_sub`` is a sub-expression."""


@dataclass(frozen=True)
class RgcnConfig:
    """What decides the weights."""

    pairs: Pairing = "inner_outer"
    """Which graphs are paired in training; see :data:`PAIRINGS`."""
    hidden_dim: int = 128
    """Numbers of a node vector (100 in the paper; our kernels know 16, 32, 64, 128)."""
    num_layers: int = 2
    decomposition: Literal["basis", "block", "none"] = "none"
    """Of the matrices of relations; ``none``: one free matrix each."""
    num_bases: int = 8
    """Shared matrices of ``basis``, or diagonal blocks of ``block``."""
    temperature: float = 0.1
    """The τ of Eq. 2."""
    batch_size: int = 256
    """Formulas of a step, the N of Eq. 2."""
    num_epochs: int = 5
    learning_rate: float = 3e-4
    min_count: int = 2
    """Labels and edges met less often in the collection share one number."""
    max_nodes: int = 256
    """Larger trees are not trained on; they are indexed all the same."""
    max_formulas: int = 0
    """Train on so many, drawn at random; 0: on all."""

    def __post_init__(self) -> None:
        for name in (
            "hidden_dim", "num_layers", "num_bases", "min_count", "max_nodes",
        ):  # fmt: skip
            _expect_at_least(name, getattr(self, name), 1)
        for name in ("num_epochs", "max_formulas"):
            _expect_at_least(name, getattr(self, name), 0)
        _expect_at_least("batch_size", self.batch_size, 2)
        for name in ("temperature", "learning_rate"):
            if getattr(self, name) <= 0:
                raise ConfigurationError(
                    f"Expected {name} above 0 (got {getattr(self, name)!r})"
                )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The representations that are trained and searched."""
        named = {name for pair in PAIRINGS[self.pairs] for name in pair}
        return tuple(k for k in KINDS if named & {k, f"{k}_sub"})


@dataclass(frozen=True)
class NodeSearchConfig:
    """What is done with the weights."""

    fusion: Fusion = "max"
    """How the system's own name fuses the scores of both representations."""
    parts: tuple[Kind | Fusion, ...] = ("slg", "opg", "avg", "f1", "rrf")
    """What is compared beside it, as ``formula_rgcn/slg``: a representation alone, or
    another fusion."""
    normalise: bool = True
    """Divide Eq. 4 by the number of query nodes: the graphs of a formula differ in
    size, and the larger one would decide ``max``. The paper does not."""
    candidates: int = 1000
    """Formulas of each representation whose scores are fused."""
    rrf_k: int = 60
    """Constant of reciprocal rank fusion (Cormack et al. 2009)."""
    engine: Literal["exact", "edge"] = "exact"
    """``exact`` compares with every node; ``edge`` asks Qdrant's HNSW graph."""
    neighbours: int = 20
    """Of each query node in the HNSW graph of ``edge``."""
    hnsw_m: int = 16
    """Edges per node of that graph."""
    dtype: Literal["float16", "float32"] = "float16"
    """Of the vectors on disk."""

    def __post_init__(self) -> None:
        for name in ("candidates", "neighbours", "hnsw_m"):
            _expect_at_least(name, getattr(self, name), 1)
        _expect_at_least("rrf_k", self.rrf_k, 0)


@dataclass(frozen=True)
class Config:
    """Parameters below ``systems.formula_rgcn``."""

    model: RgcnConfig = field(default_factory=RgcnConfig)
    search: NodeSearchConfig = field(default_factory=NodeSearchConfig)


def _expect_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ConfigurationError(f"Expected {name} of at least {least} (got {value!r})")
