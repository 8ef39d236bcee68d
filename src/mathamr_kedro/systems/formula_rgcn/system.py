"""The system, and its parameters: those of its weights, and those of its search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.systems.base import Collection, Epochs, PaperSystem, Target
from mathamr_kedro.systems.formula_rgcn.forest import KINDS, Kind, write_forests
from mathamr_kedro.systems.formula_rgcn.training import PAIRINGS, Pairing, PairTraining
from mathamr_kedro.systems.formula_training import FormulaTrainingConfig

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


class FormulaRgcn(PaperSystem):
    """Formula graph retrieval of Amador & Zanibbi 2025."""

    Config: ClassVar[type] = FormulaRgcnConfig
    READS: ClassVar[tuple[str, ...]] = ("formulas", "training_formulas", "trees_of")
    name = "formula_rgcn"
    finds: frozenset[Target] = frozenset({"formulas"})
    reads = ("formulas", "trees_of")

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write both trees of each visually distinct formula as flat arrays."""
        return write_forests(sources, folder, self.config.model.max_formulas)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train both networks together, or resume."""
        return PairTraining(self.config.model, prepared, seed).run(folder)
