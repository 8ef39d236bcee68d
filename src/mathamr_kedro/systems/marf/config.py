"""Parameters of MaRF; numbers without a remark are the paper's (B.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range

Scoring: TypeAlias = Literal["passage", "token"]
"""How formulas are compared: the mean of their tokens, or token by token (3.2)."""

Selection: TypeAlias = Literal["longest", "several"]
"""Which formulas of a post are fused: one, or up to six (3.4)."""

Objective: TypeAlias = Literal["softmax", "ratio"]
"""``ratio`` is Eq. 3 as it is printed, ``softmax`` has the usual exponentials."""

_MAX_FORMULAS = 6


@dataclass(frozen=True)
class PhaseConfig:
    """How one of the parts is trained; no epochs: it is not."""

    epochs: int = 3
    learning_rate: float = 1e-4
    batch_size: int = 32
    """Pairs of a step; answers of the others are the negatives."""

    def __post_init__(self) -> None:
        check_range(self, "epochs", least=0)
        check_range(self, "batch_size", least=2)
        check_range(self, "learning_rate", above=0)


@dataclass(frozen=True)
class _Pretraining(PhaseConfig):
    """Masked tokens and next sentences (3.4), with tokens of LaTeX of their own."""

    epochs: int = 1
    learning_rate: float = 5e-5


@dataclass(frozen=True)
class _ContextPhase(PhaseConfig):
    """Fine-tuning, as of BERT in the paper; Qwen3 stays as it came."""

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
    """Parameters that decide the weights."""

    context: str = "mpnet"
    """Context encoder: a known name, or the folder of any encoder of transformers."""
    context_width: int = 0
    """Width to which its tokens are projected before the fusion, 768 in the paper
    for Qwen3; 0: they stay as they are."""
    max_tokens: int = 256
    """Tokens of a post that the context encoder reads."""
    scoring: Scoring = "passage"
    selection: Selection = "several"
    objective: Objective = "softmax"
    layers: int = 8
    heads: int = 8
    """Of the formula encoder, and of the cross-attention."""
    width: int = 512
    """Hidden size of the formula encoder."""
    max_pairs: int = 50_000
    """Pairs of question and answer to learn from; 0: all."""
    pretraining: _Pretraining = field(default_factory=_Pretraining)
    context_training: _ContextPhase = field(default_factory=_ContextPhase)
    formula_training: _FormulaPhase = field(default_factory=_FormulaPhase)
    fusion_training: _FusionPhase = field(default_factory=_FusionPhase)

    def __post_init__(self) -> None:
        check_range(self, "max_tokens", least=8)
        check_range(self, "layers", "heads", "width", least=1)
        check_range(self, "max_pairs", "context_width", least=0)
        if self.width % (2 * self.heads):
            raise ConfigurationError(
                f"Expected width to be a multiple of twice the heads, {2 * self.heads} "
                f"(got {self.width!r})"
            )

    @property
    def max_formulas(self) -> int:
        """How many formulas of a post are fused at most."""
        return 1 if self.selection == "longest" else _MAX_FORMULAS


@dataclass(frozen=True)
class SearchConfig:
    """Parameters of the index and the search."""

    candidates: int = 1000
    """Documents, the nearest by the mean of their tokens, that are scored by MaxSim;
    0: all of them, as in the paper."""
    tasks: tuple[int, ...] = (1, 2)
    """1: posts, 2: formulas; others are not indexed."""
    parts: tuple[Literal["context", "formula"], ...] = ("context", "formula")
    """Encoders that are also searched, as ``marf/context`` and ``marf/formula``."""

    def __post_init__(self) -> None:
        check_range(self, "candidates", least=0)
        if not self.tasks or set(self.tasks) - {1, 2}:
            raise ConfigurationError(
                f"Expected tasks among [1, 2] (got {list(self.tasks)!r})"
            )


@dataclass(frozen=True)
class MarfConfig:
    """Parameters below ``systems.marf``."""

    model: ModelConfig = field(default_factory=ModelConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
