"""Inputs of a training, and their preparation before the first step.

::

    shards, pairs, config ─┬─ identify      which training this is: checkpoints name it
    start, symbols         ├─ describe      what is written to training.json
                           └─ make_step     model, loss, teachers and optimizer
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.distillation import (
    FormulaSymbols,
    PatternTeacher,
    TextTeacher,
)
from mathamr_kedro.learning.losses import ContrastiveLoss, Teacher
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.steps import TrainingStep
from mathamr_kedro.model import MathAMRPlus, checksum_model, load_model

_SAMPLED_TEXTS = 10_000
"""Maximum vectors from which the principal axes are computed."""


@dataclass(frozen=True, eq=False)
class TrainingInputs:
    """Everything that determines the weights of a training."""

    shards: GraphShards
    pairs: TrainingPairs
    config: TrainingConfig
    start: Path | None = None
    """Model folder with the initial weights; ``None``: random ones."""
    symbols: FormulaSymbols | None = None
    """Symbols of formulas, for their teacher; ``None``: all differ."""

    def split_pairs(self) -> tuple[TrainingPairs, TrainingPairs]:
        """Split the pairs into training and validation pairs."""
        return self.pairs.split(self.config.seed)

    def identify(self) -> str:
        """Checksum of everything that determines the weights."""
        pairs, sizes = self.pairs, self.shards.arrays["sizes"]
        columns = [pairs.queries, pairs.documents, pairs.validation]
        checksums = [checksum(None if c is None else c.tolist()) for c in columns]
        totals = sizes.sum(0, dtype=np.int64).tolist()
        texts = self._texts
        if texts is not None:
            content = np.ascontiguousarray(texts).data
            checksums.append(hashlib.blake2b(content).hexdigest())
        made_from = checksum(checksums, len(self.shards), totals, self._settings)
        if self.start is not None:
            made_from = checksum(made_from, checksum_model(self.start))
        if self.symbols is not None and self.config.distillation.weight > 0:
            made_from = checksum(made_from, *(c.tolist() for c in self.symbols))
        return made_from

    def describe(self) -> dict[str, object]:
        """Facts about the training, for the card of the encoder."""
        learn, held_out = self.split_pairs()
        facts: dict[str, object] = {
            "pairs": len(learn),
            "validation_pairs": len(held_out),
        }
        facts["settings"] = self._settings
        if self.start is not None:
            facts["start"] = checksum_model(self.start)
        return facts

    def make_step(self, device: torch.device) -> TrainingStep:
        """Make the step of a training, at its start.

        Fresh weights come from the seed: the same on every device.
        """
        config = self.config
        self._check_texts()
        teachers = self._make_teachers(device)
        _seed_everything(config.seed)
        # Drawn on the CPU, so a seed gives the same start everywhere.
        model = MathAMRPlus(config.model, self.shards.schema)
        texts = self._texts
        if model.text is not None and texts is not None:
            sample = texts[:: max(1, len(texts) // _SAMPLED_TEXTS)].copy()
            model.text.fit(torch.from_numpy(sample))
        model = model.to(device)
        model.set_compute(config.compute)
        loss = ContrastiveLoss(config.loss, config.compute.precision, teachers)
        step = TrainingStep(
            model, loss.to(device), config.optimizer, config.augmentation
        )
        if self.start is not None:
            fresh = step.model.state_dict()
            known = load_model(self.start).state_dict()
            # What reads texts stays fresh if the start has none of it.
            reading = {n: v for n, v in fresh.items() if n.startswith("text.")}
            step.model.load_state_dict(reading | known)
        return step

    def _check_texts(self) -> None:
        """Raise if graphs lack the text vectors that the encoder reads."""
        wanted, texts = self.config.model.text_dim, self.shards.texts
        width = 0 if texts is None else texts.shape[1]
        if wanted not in (0, width):
            raise ConfigurationError(
                f"Expected model.text_dim {width or 0}, the width of the vectors in "
                f"{str(self.shards.folder)!r} (got {wanted!r}); "
                "preprocessing.text_model chooses the sentence encoder"
            )

    @property
    def _texts(self) -> NDArray[np.float16] | None:
        """Text vectors of all graphs, if the encoder reads them."""
        return self.shards.texts if self.config.model.text_dim else None

    @cached_property
    def _settings(self) -> dict[str, object]:
        """The settings, with a checksum of document vectors instead of their path."""
        settings, distillation = self.config.describe_result(), self.config.distillation
        path, content = distillation.document_vectors, None
        if distillation.uses_texts and path is not None:
            vectors = _read_vectors(path).numpy()
            content = hashlib.blake2b(vectors.data, digest_size=8).hexdigest()
        settings["distillation"] = asdict(distillation) | {"document_vectors": content}
        return settings

    def _make_teachers(self, device: torch.device) -> list[Teacher]:
        config, teachers = self.config.distillation, list[Teacher]()
        if config.weight > 0:
            teachers.append(PatternTeacher(self.shards, config, device, self.symbols))
        if config.uses_texts:
            if config.document_vectors is None:
                raise ConfigurationError(
                    "Expected distillation.document_vectors for document_weight "
                    f"{config.document_weight!r} and score_weight "
                    f"{config.score_weight!r} (got none); the stage 'training' makes "
                    "them by itself"
                )
            vectors = _read_vectors(config.document_vectors).to(device)
            teachers.append(TextTeacher(vectors, self.shards, config))
        return teachers


def _read_vectors(path: str) -> Tensor:
    """Read the file that ``distillation.document_vectors`` names."""
    named = f"{path!r} (distillation.document_vectors)"
    try:
        return torch.from_numpy(np.load(path, allow_pickle=False)).float()
    except FileNotFoundError as exc:
        raise MissingInputError(f"Expected vectors in {named}") from exc
    except (ValueError, TypeError, EOFError) as exc:
        raise MalformedInputError(
            f"Expected numbers as .npy in {named}: {exc}"
        ) from exc


def _seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch, on all devices.

    Training itself draws from generators of its own (the order of pairs from seed and
    epoch, augmentation from seed and step), so that it can resume from any step.
    """
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
