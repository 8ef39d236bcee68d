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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mathamr_kedro.base.checksums import checksum, remove_checked_file
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.learning.loop import VALIDATION_LOSS, ModuleLearner, Training
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.folds import ALL
from mathamr_kedro.systems.mathamr.config import ModelConfig
from mathamr_kedro.systems.mathamr.encoder import (
    TextEncoder,
    contrastive_loss,
    multiple_negatives_loss,
)

logger = logging.getLogger(__name__)

TRIPLES, BASE, FOLDS = "triples.jsonl", "text_model", "folds.json"
"""Files that were prepared."""
_SCORES = {0: 0.0, 1: 0.5, 2: 1.0, 3: 1.0}
"""Of each grade (MathAMR, section 4)."""
_WEIGHT_DECAY, _CLIP_NORM = 0.01, 1.0
_WARMUP = 0.1
"""Part of the steps in which the learning rate grows; then it falls to 0."""
_VALIDATION = 0.1
"""Part of the triples of each grade that chooses the epoch."""


class Triple(NamedTuple):
    """A query, a formula that was judged for it, and how."""

    topic_id: TopicId
    query: str
    candidate: str
    grade: int

    @property
    def score(self) -> float:
        """1, 0.5 or 0."""
        return _SCORES[min(self.grade, 3)]


def train_models(
    config: ModelConfig, prepared: Path, folder: Path, seed: int
) -> Epochs:
    """Train what is not trained yet; return the histories of all models."""
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
        remove_checked_file(checkpoint)
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
    """Training of one model."""

    config: ModelConfig
    model: str
    """Its name."""
    triples: Sequence[Triple]
    """What it may learn from."""
    seed: int

    def __post_init__(self) -> None:
        self._seed = int(checksum(self.seed, self.model)[:8], 16)
        self._kept, held = split_triples(self.triples, _VALIDATION, self._seed)
        self._held = held or self._kept
        texts = {text for t in self.triples for text in (t.query, t.candidate)}
        self._numbers = {text: n for n, text in enumerate(sorted(texts))}

    def run(self, base: Path, folder: Path, checkpoint: Path) -> Epochs:
        """Train the text model ``base``, or resume; ``folder`` gets the best epoch."""
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
        return training.run()

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
        return {VALIDATION_LOSS: contrastive_loss(*tensors).item()}


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


def read_triples(path: Path) -> list[Triple]:
    """Read what :func:`write_triples` wrote."""
    triples = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                triples.append(Triple(**json.loads(line)))
            except (ValueError, TypeError) as exc:
                raise MalformedInputError(
                    f"Expected a triple in line {number} of {str(path)!r} (got "
                    f"{line[:80]!r}); run the stage 'training' again"
                ) from exc
    return triples


def choose_triples(
    triples: Sequence[Triple], fold_of: Mapping[TopicId, str], model: str
) -> list[Triple]:
    """Return what a model may learn from: no topic that it will search for."""
    return [t for t in triples if fold_of[t.topic_id] != model]


def split_triples(
    triples: Sequence[Triple], part: float, seed: int
) -> tuple[list[Triple], list[Triple]]:
    """Split off a part of the triples of each grade, at random.

    Returns:
        What is learned from, and what chooses the epoch.
    """
    rng = np.random.default_rng(seed)
    held: set[int] = set()
    for grade in sorted({t.grade for t in triples}):
        places = [n for n, t in enumerate(triples) if t.grade == grade]
        held.update(rng.permutation(places)[: round(part * len(places))].tolist())
    kept = [t for n, t in enumerate(triples) if n not in held]
    return kept, [triples[n] for n in sorted(held)]


def cut_batches(
    triples: Sequence[Triple], size: int, rng: np.random.Generator
) -> list[list[Triple]]:
    """Return batches in a random order; a rest of one joins the batch before."""
    order = rng.permutation(len(triples)).tolist()
    starts = list(range(0, len(order), size))
    if len(starts) > 1 and len(order) - starts[-1] == 1:
        starts.pop()
    ends = [*starts[1:], len(order)]
    return [[triples[n] for n in order[a:b]] for a, b in zip(starts, ends, strict=True)]
