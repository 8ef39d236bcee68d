"""One of the three trainings: batches of pairs, the best epoch, checkpoints.

Order and draws of each step follow from the seed, the epoch and the step alone: a
training that was stopped anywhere ends with the same weights.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError, TrainingError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.learning.checkpoints import (
    read_checkpoint,
    refuse_other,
    write_checkpoint,
)
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.marf.config import PhaseConfig

logger = logging.getLogger(__name__)

_WARM_UP = 0.1
"""Share of the steps in which the learning rate rises; then it falls to 0."""
_CLIP = 1.0
_VALIDATION_SEED = 0

Rows: TypeAlias = NDArray[np.int64]
LossOfBatch: TypeAlias = Callable[[Rows, np.random.Generator], Tensor]
"""(B, 2) rows of questions and answers, and what draws their formulas: their loss."""


@dataclass
class Phase:
    """Training of a module.

    Args:
        name: of the part that is trained.
        module: it; ends with the weights of its best epoch.
        config: how.
        seed: of order and draws.
        pairs: (P, 2) to learn from.
        held_out: (P, 2) to choose the best epoch by; none: the last one is taken.
        loss: of a batch.
        checkpoint_seconds: between two checkpoints inside an epoch.
    """

    name: str
    module: nn.Module
    config: PhaseConfig
    seed: int
    pairs: Rows
    held_out: Rows
    loss: LossOfBatch
    checkpoint_seconds: float = 300.0
    _done: dict[str, Any] = field(init=False, default_factory=dict)

    def run(self, folder: Path) -> Epochs:
        """Train, or go on from the checkpoint in a folder; return the epochs.

        Raises:
            ConfigurationError: there are too few pairs, or the checkpoint is of another
                training.
            TrainingError: the loss is no number.
        """
        if not self.config.epochs:
            return []
        if len(self.pairs) < 2:
            raise ConfigurationError(
                f"Expected at least 2 pairs of question and answer with what the "
                f"{self.name} encoder of MaRF learns from (got {len(self.pairs)})"
            )
        path = folder / f"{self.name}.pt"
        parameters = [p for p in self.module.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(parameters, lr=self.config.learning_rate)
        if not self._resume(path, optimizer):
            best = self._validate()
            logger.info("%s: loss of held out pairs %.4f at first", self.name, best)
            self._done = {
                "epoch": 0, "step": 0, "losses": [], "seconds": 0.0, "history": [],
                "best_loss": best, "best": self._copy_weights(),
            }  # fmt: skip
        while self._done["epoch"] < self.config.epochs:
            self._run_epoch(path, optimizer)
        self.module.load_state_dict(self._done["best"])
        history: Epochs = self._done["history"]
        if not any(record["best"] for record in history):
            logger.warning(
                "%s: no epoch was better than the start on the pairs that are held "
                "out; the start is kept", self.name,
            )  # fmt: skip
        return history

    def _run_epoch(self, path: Path, optimizer: torch.optim.Optimizer) -> None:
        done = self._done
        epoch, started = done["epoch"] + 1, time.perf_counter() - done["seconds"]
        last = time.perf_counter()
        batches = self._draw_batches(epoch)
        steps = range(done["step"], len(batches))
        title = f"{self.name} epoch {epoch}/{self.config.epochs}: steps"
        self.module.train()
        for step in report_progress(steps, title, total=len(steps)):
            done["losses"].append(self._take_step(optimizer, epoch, step, batches))
            done["step"], done["seconds"] = step + 1, time.perf_counter() - started
            if time.perf_counter() - last >= self.checkpoint_seconds:
                self._save(path, optimizer)
                last = time.perf_counter()
        validation = self._validate()
        record: dict[str, Any] = {
            "epoch": epoch,
            "part": self.name,
            "loss": float(np.mean(done["losses"])),
            "validation_loss": None if math.isnan(validation) else validation,
            "seconds": time.perf_counter() - started,
        }
        logger.info(
            "%s epoch %d/%d: loss %.4f, held out %.4f", self.name, epoch,
            self.config.epochs, record["loss"], validation,
        )  # fmt: skip
        record["best"] = math.isnan(validation) or validation < done["best_loss"]
        if record["best"]:
            done |= {"best_loss": validation, "best": self._copy_weights()}
        done["history"].append(record)
        done |= {"epoch": epoch, "step": 0, "losses": [], "seconds": 0.0}
        self._save(path, optimizer)

    def _take_step(
        self,
        optimizer: torch.optim.Optimizer,
        epoch: int,
        step: int,
        batches: list[Rows],
    ) -> float:
        total = self.config.epochs * len(batches)
        number = (epoch - 1) * len(batches) + step + 1
        warm = max(1.0, _WARM_UP * total)
        rate = min(number / warm, (total - number + 1) / max(1.0, total - warm))
        for group in optimizer.param_groups:
            group["lr"] = self.config.learning_rate * min(1.0, rate)
        rng = np.random.default_rng((self.seed, epoch, step))
        torch.manual_seed(int(rng.integers(2**31)))  # of dropout
        loss = self.loss(self.pairs[batches[step]], rng)
        if not torch.isfinite(loss):
            raise TrainingError(
                f"The loss of the {self.name} encoder of MaRF is no number in epoch "
                f"{epoch}, step {step + 1}; lower its learning_rate"
            )
        optimizer.zero_grad()
        if loss.requires_grad:  # a batch without any formula teaches the fusion nothing
            loss.backward()
            nn.utils.clip_grad_norm_(self.module.parameters(), _CLIP)
            optimizer.step()
        return float(loss.detach())

    @torch.no_grad()
    def _validate(self) -> float:
        """Return the mean loss of the pairs that are held out; ``nan`` without any."""
        size = self.config.batch_size
        self.module.eval()
        losses = [
            (len(rows), float(self.loss(rows, rng)))
            for rows, rng in self._draw_held_out(size)
        ]
        weight = sum(number for number, _ in losses)
        return sum(n * x for n, x in losses) / weight if weight else math.nan

    def _draw_held_out(self, size: int) -> Iterator[tuple[Rows, np.random.Generator]]:
        for start in range(0, len(self.held_out), size):
            rows = self.held_out[start : start + size]
            if len(rows) > 1:  # a pair alone has no negatives
                yield rows, np.random.default_rng((_VALIDATION_SEED, start))

    def _draw_batches(self, epoch: int) -> list[Rows]:
        order = np.random.default_rng((self.seed, epoch)).permutation(len(self.pairs))
        size = self.config.batch_size
        batches = [order[a : a + size] for a in range(0, len(order), size)]
        return [batch for batch in batches if len(batch) > 1]

    def _copy_weights(self) -> dict[str, Tensor]:
        return {k: v.detach().cpu().clone() for k, v in self._state().items()}

    def _state(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = self.module.state_dict()
        return found

    @property
    def _made_from(self) -> str:
        data = [rows.tolist() for rows in (self.pairs, self.held_out)]
        return checksum(self.name, asdict(self.config), self.seed, data)

    def _save(self, path: Path, optimizer: torch.optim.Optimizer) -> None:
        values = {
            "made_from": self._made_from,
            "module": self._state(),
            "optimizer": optimizer.state_dict(),
            "done": self._done,
        }
        write_checkpoint(path, values)

    def _resume(self, path: Path, optimizer: torch.optim.Optimizer) -> bool:
        values = read_checkpoint(path)
        if values is None:
            return False
        refuse_other(path, values, self._made_from)
        self.module.load_state_dict(values["module"])
        optimizer.load_state_dict(values["optimizer"])
        self._done = deepcopy(values["done"])
        return True
