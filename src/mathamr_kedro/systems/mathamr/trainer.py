"""Fine-tuning: one model for each fold of topics, and one for all.

::

    model/
      0/ 1/ ... all/      text models in half precision: the best epoch of each
      0.json ...          histories; there when the training of a model has ended
      checkpoint.pt       weights, optimizer and history of the model that is trained
      folds.json          fold of each topic

A checkpoint is written after each epoch. What is random in an epoch follows from the
seed, the model and the number of the epoch, so a stopped training goes on to the same
weights.
"""

from __future__ import annotations

import json
import logging
import math
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MissingInputError, TrainingError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.learning.checkpoints import (
    read_checkpoint,
    write_checkpoint,
)
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
    TripleFile,
    choose_triples,
    correlate_ranks,
    cut_batches,
    split_triples,
)

logger = logging.getLogger(__name__)

TRIPLES, BASE, FOLDS = "triples.jsonl", "text_model", "folds.json"
"""Files that were prepared."""
_CHECKPOINT = "checkpoint.pt"
_CONTRASTIVE, _NEGATIVES = "contrastive", "multiple_negatives"


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
    triples = list(TripleFile(prepared / TRIPLES))
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
        done = folder / f"{model}.json"
        if not done.is_file():
            training = _FoldTraining(config, model, chosen, prepared / BASE, folder)
            history = training.run(seed)
            write_text(done, json.dumps(history, indent=2))
            (folder / _CHECKPOINT).unlink(missing_ok=True)
        epochs += json.loads(done.read_text(encoding="utf-8"))
    write_text(folder / FOLDS, json.dumps(fold_of, indent=1))
    return epochs


class _FoldTraining:
    """Training of one model.

    Args:
        config: see there.
        model: its name.
        triples: what it may learn from.
        base: the text model that it starts from.
        folder: gets the checkpoint, and the best epoch below the name of the model.
    """

    def __init__(
        self,
        config: ModelConfig,
        model: str,
        triples: Sequence[Triple],
        base: Path,
        folder: Path,
    ) -> None:
        self._config, self._model, self._triples = config, model, triples
        self._base, self._folder = base, folder
        texts = {text for t in triples for text in (t.query, t.candidate)}
        self._numbers = {text: n for n, text in enumerate(sorted(texts))}

    def run(self, seed: int) -> Epochs:
        """Train, or go on; return one record for each epoch."""
        config = self._config
        seed = int(checksum(seed, self._model)[:8], 16)
        kept, held = split_triples(self._triples, config.validation, seed)
        if not kept:
            return []
        encoder = TextEncoder(self._base, config.max_length)
        optimizer = torch.optim.AdamW(
            encoder.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        made_from = checksum(seed, self._model, self._triples, repr(config))
        history = self._load(encoder, optimizer, made_from)
        for epoch in range(len(history), config.epochs):
            started = time.perf_counter()
            record = self._train_epoch(encoder, optimizer, kept, epoch, seed)
            record |= self._validate(encoder, held or kept)
            record["seconds"] = time.perf_counter() - started
            best = min((r["validation_loss"] for r in history), default=math.inf)
            if record["validation_loss"] < best:
                encoder.save(self._folder / self._model)
            history.append({"model": self._model, "epoch": epoch + 1, **record})
            self._save(encoder, optimizer, made_from, history)
            logger.info(
                "model %s, epoch %d of %d: loss %.4f, validation %.4f, Spearman %.3f",
                self._model, epoch + 1, config.epochs, record["loss"],
                record["validation_loss"], record["spearman"],
            )  # fmt: skip
        return history

    def _train_epoch(
        self,
        encoder: TextEncoder,
        optimizer: torch.optim.Optimizer,
        triples: Sequence[Triple],
        epoch: int,
        seed: int,
    ) -> dict[str, Any]:
        rng = np.random.default_rng([seed, epoch])
        torch.manual_seed(int(rng.integers(2**31)))  # dropout
        steps = list(self._list_batches(triples, epoch, rng))
        losses: dict[str, list[float]] = {_CONTRASTIVE: [], _NEGATIVES: []}
        encoder.train()
        for number, (kind, batch) in enumerate(steps):
            for group in optimizer.param_groups:
                done = (epoch + number / len(steps)) / self._config.epochs
                group["lr"] = self._config.learning_rate * self._rate(done)
            loss = self._compute(encoder, kind, batch)
            if not torch.isfinite(loss):
                raise TrainingError(
                    f"The loss of model {self._model!r} is {loss.item()!r} in epoch "
                    f"{epoch + 1}; lower systems.mathamr.model.learning_rate"
                )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            losses[kind].append(loss.item())
        means = {kind: float(np.mean(v)) for kind, v in losses.items() if v}
        return {"loss": sum(means.values()), **means}

    def _rate(self, done: float) -> float:
        """Return the part of the learning rate when a part of the steps is done."""
        warmup = self._config.warmup
        if done < warmup:
            return done / warmup
        return (1.0 - done) / (1.0 - warmup) if warmup < 1 else 1.0

    def _list_batches(
        self, triples: Sequence[Triple], epoch: int, rng: np.random.Generator
    ) -> Iterator[tuple[str, list[Triple]]]:
        """Yield batches of both losses in turn, or of one; all triples once.

        Pairs of the second loss begin anew when there are fewer batches of them.
        """
        config = self._config
        batches = cut_batches(triples, config.batch_size, rng)
        positives = [t for t in triples if t.score == 1.0]
        pairs = (
            cut_batches(positives, config.batch_size, rng) if len(positives) > 1 else []
        )
        if config.schedule == "phases" and pairs:
            first = 2 * epoch < config.epochs
            kind = _CONTRASTIVE if first else _NEGATIVES
            yield from ((kind, batch) for batch in (batches if first else pairs))
            return
        for number, batch in enumerate(batches):
            yield _CONTRASTIVE, batch
            if pairs:
                yield _NEGATIVES, pairs[number % len(pairs)]

    def _compute(
        self, encoder: TextEncoder, kind: str, batch: Sequence[Triple]
    ) -> Tensor:
        vectors = encoder([t.query for t in batch] + [t.candidate for t in batch])
        queries, candidates = vectors.split(len(batch))
        if kind == _CONTRASTIVE:
            scores = torch.tensor([t.score for t in batch], device=vectors.device)
            return contrastive_loss(queries, candidates, scores, self._config.margin)
        return multiple_negatives_loss(
            queries,
            candidates,
            torch.tensor([self._numbers[t.query] for t in batch]).to(vectors.device),
            torch.tensor([self._numbers[t.candidate] for t in batch]).to(
                vectors.device
            ),
            self._config.scale,
        )

    def _validate(
        self, encoder: TextEncoder, triples: Sequence[Triple]
    ) -> dict[str, float]:
        queries = encoder.encode([t.query for t in triples])
        candidates = encoder.encode([t.candidate for t in triples])
        scores = np.array([t.score for t in triples], dtype=np.float32)
        loss = contrastive_loss(
            torch.from_numpy(queries),
            torch.from_numpy(candidates),
            torch.from_numpy(scores),
            self._config.margin,
        )
        cosines = (queries * candidates).sum(1)
        return {
            "validation_loss": loss.item(),
            "spearman": correlate_ranks(cosines, scores),
        }

    def _save(
        self,
        encoder: TextEncoder,
        optimizer: torch.optim.Optimizer,
        made_from: str,
        history: Epochs,
    ) -> None:
        values = {
            "made_from": made_from,
            "model": encoder.state_dict(),
            "optimizer": optimizer.state_dict(),
            "history": history,
        }
        write_checkpoint(self._folder / _CHECKPOINT, values)

    def _load(
        self, encoder: TextEncoder, optimizer: torch.optim.Optimizer, made_from: str
    ) -> Epochs:
        values = read_checkpoint(self._folder / _CHECKPOINT, encoder.device)
        # One of the model before, which has ended, does not count.
        if values is None or values["made_from"] != made_from:
            return []
        encoder.load_state_dict(values["model"])
        optimizer.load_state_dict(values["optimizer"])
        found: Epochs = values["history"]
        return found
