"""An adapted sentence encoder as a system: prepared, trained, indexed, asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.systems.base import Collection, Epochs, Index, Target


@dataclass(frozen=True)
class ModelConfig:
    """What decides the weights."""

    base: str = "minilm"
    """Sentence encoder: a known name, or a folder."""
    pairs: Mapping[str, str] = field(default_factory=dict)
    """Further pairs of texts by kind, beside those of the collection: a file
    ``.jsonl`` or ``.jsonl.gz`` of records with ``question`` and ``answer``, or a
    folder of such files."""
    rank: int = 32
    epochs: int = 6
    steps: int = 100
    """Batches of an epoch."""
    batch_size: int = 256
    learning_rate: float = 4e-4
    teachers: tuple[str, ...] = ()
    """Sentence encoders whose mean similarities it also learns, so that it forgets
    less; by name or folder."""
    teacher_weight: float = 1.0
    """How much they count, beside what the pairs say."""

    def __post_init__(self) -> None:
        check_range(self, "teacher_weight", least=0)
        for name in ("rank", "epochs", "steps"):
            check_range(self, name, least=1)
        check_range(self, "batch_size", least=2)


@dataclass(frozen=True)
class AdapterConfig:
    """Parameters of ``systems.adapter``."""

    model: ModelConfig = field(default_factory=ModelConfig)


class Adapter:
    """A sentence encoder with low-rank adapters, trained on pairs of texts."""

    Config: ClassVar[type] = AdapterConfig
    READS: ClassVar[tuple[str, ...]] = ("posts", "pairs")
    name = "adapter"
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    reads = ("formulas", "posts")

    def __init__(self, config: AdapterConfig) -> None:
        self.config = config

    # What a machine that only trains lacks is imported in the steps that need it.

    def prepare(self, data: Collection, folder: Path) -> Mapping[str, Any]:
        """Write pairs of texts, base model and teachers, these in half precision."""
        from mathamr_kedro.systems.adapter.pairs import write_pairs  # noqa: PLC0415
        from mathamr_kedro.systems.adapter.training import copy_models  # noqa: PLC0415

        copy_models(self.config.model, folder)
        return write_pairs(data, self.config.model.pairs, folder)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train the adapters, or resume."""
        from mathamr_kedro.systems.adapter.training import (  # noqa: PLC0415
            train_adapter,
        )

        return train_adapter(prepared, folder, self.config.model, seed)

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Encode all texts and write their vectors."""
        from mathamr_kedro.systems.sentence import SentenceVectors  # noqa: PLC0415

        return SentenceVectors(self.name, str(model)).index(data, model, folder)

    def open(self, data: Collection, model: Path, folder: Path) -> Index:
        """Return the index, to be asked."""
        from mathamr_kedro.systems.sentence import SentenceVectors  # noqa: PLC0415

        return SentenceVectors(self.name, str(model)).open(data, model, folder)
