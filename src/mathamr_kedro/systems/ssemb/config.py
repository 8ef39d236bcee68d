"""Parameters of SSEmb; the defaults are those of its paper, section 3.1.3."""

from __future__ import annotations

from dataclasses import dataclass, field

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.systems.formula_training import FormulaTrainingConfig


@dataclass(frozen=True)
class AugmentationConfig:
    """How two views of a formula are made; a rate of 0 skips a step."""

    substitution: tuple[float, ...] = (0.3, 0.005, 0.002)
    """Probability that a leaf, the parent of a leaf, its parent, ... becomes a wildcard
    (p1, p2, p3)."""
    attribute_masking: float = 0.01
    """Share of nodes whose label is hidden."""
    node_dropping: float = 0.0
    """Share of nodes that are dropped, with their edges (StructEmb-attr_node_edge)."""
    edge_perturbation: float = 0.0
    """Share of edges that are replaced by edges between random nodes of the graph."""

    def __post_init__(self) -> None:
        check_range(self, *vars(self), least=0, most=1)


@dataclass(frozen=True)
class StructureConfig(FormulaTrainingConfig):
    """StructEmb: the graph network and its training; decides the weights."""

    dimension: int = 400
    """Of a formula's vector: the layers' sums of nodes, side by side."""
    min_label_count: int = 11
    """Rarer labels are read as their kind, e.g. all rare numbers as one."""
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    batch_size: int = 2560
    num_epochs: int = 25
    learning_rate: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension < 2 or self.dimension % 2:
            raise ConfigurationError(
                "Expected dimension to be a multiple of 2, the number of layers (got "
                f"{self.dimension!r})"
            )
        check_range(self, "min_label_count", least=1)


@dataclass(frozen=True)
class RankingConfig:
    """SemEmb and the fusion of both."""

    text_model: str = "mpnet"
    """A sentence encoder by name or folder (``mathamr models``; the paper: minilm)."""
    structure_weight: float = 0.5
    """Lambda of Eq. 3; the text has the rest."""
    curve: tuple[float, ...] = ()
    """Further lambdas, each a system of its own: ``ssemb/lambda_0.3``."""

    def __post_init__(self) -> None:
        check_range(self, "structure_weight", "curve", least=0, most=1)


@dataclass(frozen=True)
class SSEmbConfig:
    """Parameters below ``systems.ssemb``."""

    model: StructureConfig = field(default_factory=StructureConfig)
    search: RankingConfig = field(default_factory=RankingConfig)
