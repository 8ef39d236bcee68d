"""Parameters of SSEmb; the numbers are those of its paper, section 3.1.3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError


@dataclass(frozen=True)
class AugmentationConfig:
    """How two views of a formula are made; a rate of 0 leaves a step out."""

    substitution: tuple[float, ...] = (0.3, 0.005, 0.002)
    """Probability that a leaf, the parent of a leaf, its parent, ... becomes a wildcard
    (p1, p2, p3)."""
    wildcards: int = 10
    """Labels that a wildcard is drawn from."""
    attribute_masking: float = 0.01
    """Share of nodes whose label is hidden."""
    node_dropping: float = 0.0
    """Share of nodes that go, with their edges (StructEmb-attr_node_edge)."""
    edge_perturbation: float = 0.0
    """Share of edges that go, and that come anew between random nodes of the graph."""

    def __post_init__(self) -> None:
        _check_shares(self, "substitution", "attribute_masking")
        _check_shares(self, "node_dropping", "edge_perturbation")
        _check_counts(self, 1, "wildcards")


@dataclass(frozen=True)
class StructureConfig:
    """StructEmb: the graph network and its training; decides the weights."""

    dimension: int = 400
    """Of a formula's vector: the layers' sums of nodes, side by side."""
    num_layers: int = 2
    min_label_count: int = 11
    """Rarer labels are read as their kind, e.g. all rare numbers as one."""
    min_nodes: int = 3
    """Smaller graphs are no training examples."""
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    temperature: float = 0.2
    """Of InfoNCE; the paper names none, GraphCL has 0.2."""
    batch_size: int = 2560
    num_epochs: int = 25
    learning_rate: float = 1e-4

    def __post_init__(self) -> None:
        _check_counts(self, 1, "dimension", "num_layers", "min_label_count")
        _check_counts(self, 1, "min_nodes", "num_epochs")
        _check_counts(self, 2, "batch_size")  # the others of a batch are the negatives
        if self.dimension % self.num_layers:
            raise ConfigurationError(
                f"Expected dimension to be a multiple of num_layers {self.num_layers} "
                f"(got {self.dimension!r})"
            )
        if self.temperature <= 0 or self.learning_rate <= 0:
            raise ConfigurationError(
                "Expected temperature and learning_rate above 0 (got "
                f"{self.temperature!r}, {self.learning_rate!r})"
            )


@dataclass(frozen=True)
class RankingConfig:
    """SemEmb and the ranking: texts, candidates, fusion."""

    text_model: str = "mpnet"
    """A sentence encoder by name or folder (``mathamr models``; the paper: minilm)."""
    context_length: int = 1024
    """Characters of the text around a formula."""
    context_step: int = 512
    """Windows start at multiples of it: formulas nearby share a text."""
    candidates: int = 500_000
    """Visual ids that the first stage keeps, by structure alone."""
    structure_weight: float = 0.5
    """Lambda of Eq. 3; the text has the rest."""
    curve: tuple[float, ...] = ()
    """Further lambdas, each a system of its own: ``ssemb/lambda_0.3``."""

    def __post_init__(self) -> None:
        _check_counts(self, 1, "context_length", "context_step", "candidates")
        _check_shares(self, "structure_weight", "curve")


@dataclass(frozen=True)
class SSEmbConfig:
    """Both parts."""

    model: StructureConfig = field(default_factory=StructureConfig)
    search: RankingConfig = field(default_factory=RankingConfig)


def _check_counts(config: Any, least: int, *names: str) -> None:
    for name in names:
        if getattr(config, name) < least:
            raise ConfigurationError(
                f"Expected {name} of at least {least} (got {getattr(config, name)!r})"
            )


def _check_shares(config: Any, *names: str) -> None:
    for name in names:
        value = getattr(config, name)
        values = value if isinstance(value, tuple) else (value,)
        if not all(0 <= v <= 1 for v in values):
            raise ConfigurationError(f"Expected {name} within 0 and 1 (got {value!r})")
