"""Parameters of formula_rgcn: those of its weights, and those of its search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.systems.formula_rgcn.forest import KINDS, Kind
from mathamr_kedro.systems.formula_training import FormulaTrainingConfig

Pairing: TypeAlias = Literal["slg", "opg", "slg_opg", "inner", "outer", "inner_outer"]

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

Fusion: TypeAlias = Literal["max", "avg", "f1", "rrf"]


@dataclass(frozen=True)
class RgcnConfig(FormulaTrainingConfig):
    """Parameters that decide the weights."""

    pairs: Pairing = "inner_outer"
    """Which graphs are paired in training; see :data:`PAIRINGS`."""
    hidden_dim: int = 100
    """Numbers of a node vector; 100 in the paper."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, "hidden_dim", least=1)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The representations that are trained and searched."""
        named = {name for pair in PAIRINGS[self.pairs] for name in pair}
        return tuple(k for k in KINDS if named & {k, f"{k}_sub"})


@dataclass(frozen=True)
class SearchConfig:
    """Parameters of the index and the search."""

    fusion: Fusion = "max"
    """How the system's own name fuses the scores of both representations."""
    parts: tuple[Kind | Fusion, ...] = ("slg", "opg", "avg", "f1", "rrf")
    """What is compared beside it, as ``formula_rgcn/slg``: one representation, or
    another fusion."""
    normalise: bool = True
    """Divide Eq. 4 by the number of query nodes: the graphs of a formula differ in
    size, and the larger one would decide ``max``. The paper does not."""


@dataclass(frozen=True)
class FormulaRgcnConfig:
    """Parameters below ``systems.formula_rgcn``."""

    model: RgcnConfig = field(default_factory=RgcnConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
