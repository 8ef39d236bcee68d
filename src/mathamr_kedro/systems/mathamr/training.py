"""Fine-tuning: one model for each fold of topics, and one for all.

::

    model/
      0/ 1/ ... all/      text models in half precision: the best epoch of each
      0.json ...          histories, written when the training of a model has ended
      folds.json          fold of each topic

A checkpoint is written after each epoch. What is random in an epoch follows from the
seed, the model and the number of the epoch: a stopped training resumes to the same
weights.
"""

from __future__ import annotations

import json
import logging
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.learning.loop import VALIDATION_LOSS, ModuleLearner, Training
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.folds import ALL
from mathamr_kedro.systems.mathamr.config import ModelConfig
from mathamr_kedro.systems.mathamr.encoder import TextEncoder
from mathamr_kedro.systems.mathamr.losses import (
    contrastive_loss,
    multiple_negatives_loss,
)
from mathamr_kedro.systems.mathamr.triples import (
    Triple,
    choose_triples,
    correlate_ranks,
    cut_batches,
    read_triples,
    split_triples,
)

logger = logging.getLogger(__name__)

TRIPLES, BASE, FOLDS = "triples.jsonl", "text_model", "folds.json"
"""Files that were prepared."""
_WEIGHT_DECAY, _CLIP_NORM = 0.01, 1.0
_WARMUP = 0.1
"""Part of the steps in which the learning rate grows; then it falls to 0."""
_VALIDATION = 0.1
"""Part of the triples of each grade that chooses the epoch."""


def train_models(
    config: ModelConfig, prepared: Path, folder: Path, seed: int
) -> Epochs:
    """Train what is not trained yet; return the histories of all models.

    Args:
        config: see there.
        prepared: triples, folds and the text model.
        folder: of the models.
        seed: of everything random.

    Raises:
        MissingInputError: ``prepared`` is not whole.
        TrainingError: the loss is not a number.
    """
    for name in (TRIPLES, BASE, FOLDS):
        if not (prepared / name).exists():
            raise MissingInputError(
                f"Expected {name} in {str(prepared)!r}; run the stage 'training'"
            )
    fold_of: dict[str, str] = json.loads((prepared / FOLDS).read_text("utf-8"))
    triples = read_triples(prepared / TRIPLES)
    if config.epochs == 0 or not triples:
        if config.epochs:
            logger.warning("no formula is judged: the text model stays as it is")
        with replace_folder(folder / ALL) as part:
            shutil.copytree(prepared / BASE, part, dirs_exist_ok=True)
        write_text(folder / FOLDS, "{}")
        return []
    epochs: Epochs = []
    for model in [*sorted(set(fold_of.values()), key=int), ALL]:
        chosen = choose_triples(triples, fold_of, model)
        done, checkpoint = folder / f"{model}.json", folder / f"{model}.pt"
        if not done.is_file():
            training = FoldTraining(config, model, chosen, seed)
            history = training.run(prepared / BASE, folder / model, checkpoint)
            write_text(done, json.dumps(history, indent=2))
        checkpoint.unlink(missing_ok=True)
        epochs += json.loads(done.read_text(encoding="utf-8"))
    write_text(folder / FOLDS, json.dumps(fold_of, indent=1))
    return epochs


class Batch(NamedTuple):
    """Triples of a step."""

    triples: list[Triple]
    is_ranking: bool
    """Whether it is for the multiple-negatives loss; else for the contrastive one."""


@dataclass
class FoldTraining:
    """Training of one model.

    Args:
        config: see there.
        model: its name.
        triples: what it may learn from.
        seed: of everything random.
    """

    config: ModelConfig
    model: str
    triples: Sequence[Triple]
    seed: int

    def __post_init__(self) -> None:
        self._seed = int(checksum(self.seed, self.model)[:8], 16)
        self._kept, held = split_triples(self.triples, _VALIDATION, self._seed)
        self._held = held or self._kept
        texts = {text for t in self.triples for text in (t.query, t.candidate)}
        self._numbers = {text: n for n, text in enumerate(sorted(texts))}

    def run(self, base: Path, folder: Path, checkpoint: Path) -> Epochs:
        """Train, or resume; return one record for each epoch.

        Args:
            base: the text model that it starts from.
            folder: gets the best epoch.
            checkpoint: from which a stopped training resumes.
        """
        if not self._kept:
            return []
        config = self.config
        encoder = TextEncoder(base, config.max_length)
        rate = config.learning_rate

        def save() -> None:
            with replace_folder(folder) as part:
                encoder.save(part)

        learner = ModuleLearner(
            name=f"mathamr, model {self.model}",
            module=encoder,
            optimizer=torch.optim.AdamW(
                encoder.parameters(), rate, weight_decay=_WEIGHT_DECAY
            ),
            draw_batches=self.draw_batches,
            compute=lambda batch: self.compute(encoder, batch),
            validate=lambda: self._validate(encoder),
            keep_best=save,
            measures=("loss", "is_ranking"),
            rate=find_rate,
            clip_norm=_CLIP_NORM,
            describe=_describe,
            facts={"model": self.model},
            batch_size=config.batch_size,
            unit="triples",
        )
        made_from = checksum(self._seed, self.model, self.triples, repr(config))
        # Only after epochs: dropout depends on the steps before.
        training = Training(
            learner, checkpoint, made_from, config.epochs, checkpoint_seconds=math.inf
        )
        return [dict(record) for record in training.run()]

    def draw_batches(self, epoch: int) -> list[Batch]:
        """Return batches of both losses in turn; all triples once.

        Pairs of the second loss begin again if there are fewer batches of them.
        """
        rng = np.random.default_rng([self._seed, epoch])
        torch.manual_seed(int(rng.integers(2**31)))  # dropout
        size = self.config.batch_size
        batches = cut_batches(self._kept, size, rng)
        positives = [t for t in self._kept if t.score == 1.0]
        pairs = cut_batches(positives, size, rng) if len(positives) > 1 else []
        found: list[Batch] = []
        for number, batch in enumerate(batches):
            found.append(Batch(batch, is_ranking=False))
            if pairs:
                found.append(Batch(pairs[number % len(pairs)], is_ranking=True))
        return found

    def compute(self, encoder: TextEncoder, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch, and which of both it is."""
        triples, is_ranking = batch
        vectors = encoder([t.query for t in triples] + [t.candidate for t in triples])
        queries, candidates = vectors.split(len(triples))
        kind = torch.tensor(float(is_ranking), device=vectors.device)
        if not is_ranking:
            scores = torch.tensor([t.score for t in triples], device=vectors.device)
            return contrastive_loss(queries, candidates, scores), kind
        numbers = [
            torch.tensor([self._numbers[text] for text in texts], device=vectors.device)
            for texts in ([t.query for t in triples], [t.candidate for t in triples])
        ]
        return multiple_negatives_loss(queries, candidates, *numbers), kind

    def _validate(self, encoder: TextEncoder) -> dict[str, float]:
        queries = encoder.encode([t.query for t in self._held])
        candidates = encoder.encode([t.candidate for t in self._held])
        scores = np.array([t.score for t in self._held], dtype=np.float32)
        tensors = (torch.from_numpy(a) for a in (queries, candidates, scores))
        cosines = (queries * candidates).sum(1)
        return {
            VALIDATION_LOSS: contrastive_loss(*tensors).item(),
            "spearman": correlate_ranks(cosines, scores),
        }


def find_rate(step: int, steps: int) -> float:
    """Return the part of the learning rate at a step of so many.

    >>> [round(find_rate(step, 100), 3) for step in (0, 5, 10, 55)]
    [0.0, 0.5, 1.0, 0.5]
    """
    done = step / steps
    return done / _WARMUP if done < _WARMUP else (1.0 - done) / (1.0 - _WARMUP)


def _describe(measures: Tensor) -> dict[str, float]:
    """Return the mean of each loss, and their sum."""
    losses, is_ranking = measures.double().unbind(1)
    kinds = {"contrastive": is_ranking == 0, "multiple_negatives": is_ranking == 1}
    means = {k: losses[m].mean().item() for k, m in kinds.items() if m.any()}
    return {"loss": sum(means.values()), **means}
