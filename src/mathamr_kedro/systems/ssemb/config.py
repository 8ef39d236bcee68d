"""Parameters of SSEmb; the defaults are those of its paper, section 3.1.3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError


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
        _check_shares(
            self, "substitution", "attribute_masking", "node_dropping",
            "edge_perturbation",
        )  # fmt: skip


@dataclass(frozen=True)
class StructureConfig:
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
        if self.dimension < 2 or self.dimension % 2:
            raise ConfigurationError(
                "Expected dimension to be a multiple of 2, the number of layers (got "
                f"{self.dimension!r})"
            )
        if self.min_label_count < 1 or self.num_epochs < 1 or self.batch_size < 2:
            raise ConfigurationError(
                "Expected min_label_count and num_epochs of at least 1 and batch_size "
                f"of at least 2 (got {self.min_label_count!r}, {self.num_epochs!r}, "
                f"{self.batch_size!r})"
            )
        if self.learning_rate <= 0:
            raise ConfigurationError(
                f"Expected learning_rate above 0 (got {self.learning_rate!r})"
            )


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
        _check_shares(self, "structure_weight", "curve")


@dataclass(frozen=True)
class SSEmbConfig:
    """Parameters below ``systems.ssemb``."""

    model: StructureConfig = field(default_factory=StructureConfig)
    search: RankingConfig = field(default_factory=RankingConfig)


def _check_shares(config: Any, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        values = value if isinstance(value, tuple) else (value,)
        if not all(0 <= v <= 1 for v in values):
            raise ConfigurationError(f"Expected {name} within 0 and 1 (got {value!r})")
