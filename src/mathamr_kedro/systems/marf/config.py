"""Everything that decides MaRF; numbers without a remark are the paper's (B.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError

Scoring: TypeAlias = Literal["passage", "token"]
"""How formulas are compared: the mean of their tokens, or token by token (3.2)."""
Selection: TypeAlias = Literal["longest", "several"]
"""Which formulas of a post are fused: one, or up to ``max_formulas`` (3.4)."""


@dataclass(frozen=True)
class PhaseConfig:
    """How one of the three parts is trained."""

    epochs: int = 3
    learning_rate: float = 1e-4
    batch_size: int = 32
    """Pairs of a step; answers of the others are the negatives."""
    temperature: float = 0.05
    """Divides the scores in the loss; not in the paper."""
    objective: Literal["softmax", "ratio"] = "softmax"
    """``ratio`` is Eq. 3 as it is printed, ``softmax`` has the usual exponentials."""

    def __post_init__(self) -> None:
        _check_least(self, epochs=0, batch_size=2)
        _check_positive(self, "learning_rate", "temperature")


@dataclass(frozen=True)
class _ContextPhase(PhaseConfig):
    """No epochs: the encoder stays as it came, as Qwen3 does in the paper."""

    epochs: int = 0
    learning_rate: float = 2e-5


@dataclass(frozen=True)
class _FormulaPhase(PhaseConfig):
    """From nothing; formulas are short, and many fit into a batch."""

    batch_size: int = 128


@dataclass(frozen=True)
class _FusionPhase(PhaseConfig):
    """The only part that learns from whole posts with their formulas."""

    epochs: int = 4
    learning_rate: float = 2e-4


@dataclass(frozen=True)
class ModelConfig:
    """What decides the weights."""

    context: str = "mpnet"
    """Context encoder: a known name, or the folder of any encoder of transformers."""
    max_tokens: int = 256
    """Tokens of a post that the context encoder reads."""
    scoring: Scoring = "token"
    selection: Selection = "several"
    max_formulas: int = 6
    max_formula_tokens: int = 128
    vocabulary: int = 8000
    """Different tokens of LaTeX that have a vector; the rarest share one."""
    layers: int = 8
    heads: int = 8
    """Of the formula encoder, and of the cross-attention."""
    width: int = 512
    """Hidden size of the formula encoder."""
    max_pairs: int = 50_000
    """Pairs of question and answer to learn from; 0: all."""
    validation_share: float = 0.1
    """Share of the questions that choose the best epoch."""
    context_training: _ContextPhase = field(default_factory=_ContextPhase)
    formula_training: _FormulaPhase = field(default_factory=_FormulaPhase)
    fusion_training: _FusionPhase = field(default_factory=_FusionPhase)

    def __post_init__(self) -> None:
        _check_least(
            self, max_tokens=8, max_formulas=1, max_formula_tokens=1, vocabulary=1,
            layers=1, heads=1, width=2, max_pairs=0,
        )  # fmt: skip
        if self.width % (2 * self.heads):
            raise ConfigurationError(
                f"Expected width to be a multiple of twice the heads, {2 * self.heads} "
                f"(got {self.width!r})"
            )
        if not 0 <= self.validation_share < 1:
            raise ConfigurationError(
                f"Expected validation_share in [0, 1) (got {self.validation_share!r})"
            )

    @property
    def formulas_of_a_post(self) -> int:
        """How many formulas of a post are fused at most."""
        return 1 if self.selection == "longest" else self.max_formulas


@dataclass(frozen=True)
class SearchConfig:
    """What is done with the weights."""

    candidates: int = 1000
    """Documents, the nearest by the mean of their tokens, that are scored by MaxSim;
    0: all of them, as in the paper."""
    tasks: tuple[int, ...] = (1, 2)
    """1: posts, 2: formulas; what is left out is not indexed."""
    parts: tuple[Literal["context", "formula"], ...] = ("context", "formula")
    """Encoders that are also asked alone, as ``marf/context`` and ``marf/formula``."""

    def __post_init__(self) -> None:
        _check_least(self, candidates=0)
        if not self.tasks or set(self.tasks) - {1, 2}:
            raise ConfigurationError(
                f"Expected tasks among [1, 2] (got {list(self.tasks)!r})"
            )


@dataclass(frozen=True)
class MarfConfig:
    """Parameters below ``systems.marf``."""

    model: ModelConfig = field(default_factory=ModelConfig)
    search: SearchConfig = field(default_factory=SearchConfig)


def _check_least(config: object, **least: int) -> None:
    for name, number in least.items():
        if getattr(config, name) < number:
            raise ConfigurationError(
                f"Expected {name} of at least {number} (got {getattr(config, name)!r})"
            )


def _check_positive(config: object, *names: str) -> None:
    for name in names:
        if getattr(config, name) <= 0:
            raise ConfigurationError(
                f"Expected {name} above 0 (got {getattr(config, name)!r})"
            )
