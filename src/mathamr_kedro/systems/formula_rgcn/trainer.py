"""Training of both networks at once, with checkpoints.

::

    model/
      checkpoint.pt   weights, optimizer, epoch, step, history; while it trains
      weights.pt      the networks; when it has ended
      slg.json        vocabulary of each representation
      seals.json

What a step sees follows from the seed, the epoch and the step alone: a training that
was stopped ends with the same weights.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adam

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import TrainingError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.learning.checkpoints import (
    read_checkpoint,
    refuse_other,
    write_checkpoint,
)
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.systems.base import Epochs
from mathamr_kedro.systems.formula_rgcn.config import PAIRINGS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.encoder import NodeEncoders
from mathamr_kedro.systems.formula_rgcn.forest import Forest, Numbers
from mathamr_kedro.systems.formula_rgcn.losses import PairLoss

logger = logging.getLogger(__name__)

_CHECKPOINT = "checkpoint.pt"
_SECONDS = 60.0
"""Between two checkpoints, at most; the end of an epoch has one of its own."""


@dataclass
class _State:
    """Where a training stands, beside the weights."""

    epoch: int = 0
    """Epochs that are done."""
    step: int = 0
    """Steps that are done of the next one."""
    seconds: float = 0.0
    """Time spent in it."""
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Of loss and accuracy over its steps."""
    history: Epochs = field(default_factory=list)


class Trainer:
    """One training, in its folder.

    Args:
        config: what is trained.
        prepared: folder of the forests.
        folder: gets checkpoint and weights.
        seed: decides the first weights, the batches and the sub-expressions.

    Raises:
        TrainingError: there are fewer than two formulas.
        ConfigurationError: the folder has the checkpoint of another training.
    """

    def __init__(
        self, config: RgcnConfig, prepared: Path, folder: Path, seed: int
    ) -> None:
        self.config, self._folder = config, folder
        self._seed, self._device = seed, ComputeConfig().choose_device()
        self.forests = {kind: Forest.open(prepared, kind) for kind in config.kinds}
        self.count = len(next(iter(self.forests.values())))
        if self.count < 2:
            raise TrainingError(
                f"Expected at least two formulas with trees in {str(prepared)!r} (got "
                f"{self.count}); others are what a formula is told apart from"
            )
        vocabularies = {kind: f.vocabulary for kind, f in self.forests.items()}
        self.encoders = NodeEncoders.make(config, vocabularies, seed)
        self.encoders.to(self._device)
        self._optimizer = Adam(self.encoders.parameters(), lr=config.learning_rate)
        self._state = self._resume() or _State()

    def run(self) -> Epochs:
        """Train to the end; return the history."""
        while self._state.epoch < self.config.num_epochs:
            self._run_epoch()
        self.encoders.save(self._folder)
        (self._folder / _CHECKPOINT).unlink(missing_ok=True)
        return self._state.history

    def compare(self, rows: Numbers, draws: Numbers) -> PairLoss:
        """Return the loss of a batch.

        Args:
            rows: which formulas.
            draws: (representations, rows) what chooses their sub-expressions.
        """
        pairs = PAIRINGS[self.config.pairs]
        needed = {name for pair in pairs for name in pair}
        graphs: dict[str, RaggedVectors[Tensor]] = {}
        for (kind, forest), own in zip(self.forests.items(), draws, strict=True):
            has_parts = f"{kind}_sub" in needed
            batch = forest.pair(rows, own) if has_parts else forest.assemble(rows)
            vectors = self.encoders[kind](batch.to(self._device))
            ptr, count = batch.node_ptr.to(self._device).long(), len(rows)
            graphs[kind] = RaggedVectors(vectors, ptr[: count + 1])
            if has_parts:
                graphs[f"{kind}_sub"] = RaggedVectors(vectors, ptr[count:])
        return PairLoss.of_graphs(graphs, pairs, self.config.temperature)

    def _run_epoch(self) -> None:
        state, size = self._state, self.config.batch_size
        order, draws = self._draw(state.epoch)
        bounds = list(range(0, self.count, size))
        if self.count - bounds[-1] < 2:  # a formula alone has nobody to differ from
            bounds.pop()
        started = time.monotonic()
        saved, before = started, state.seconds
        sums = torch.tensor(state.sums, dtype=torch.float64, device=self._device)
        for step in range(state.step, len(bounds)):
            rows = order[bounds[step] : bounds[step] + size]
            sums += self._take_step(rows, draws[:, rows])
            now = time.monotonic()
            if now - saved >= _SECONDS:
                state.step, state.sums = step + 1, sums.tolist()
                state.seconds = before + now - started
                self._save()
                saved = time.monotonic()
        loss, accuracy = (sums / len(bounds)).tolist()
        seconds = before + time.monotonic() - started
        if not np.isfinite(loss):
            raise TrainingError(
                f"Expected a finite loss in epoch {state.epoch + 1} (got {loss!r}); "
                "lower systems.formula_rgcn.model.learning_rate"
            )
        record = {
            "epoch": state.epoch + 1, "loss": loss, "accuracy": accuracy,
            "seconds": seconds, "formulas": self.count,
        }  # fmt: skip
        self._state = _State(epoch=state.epoch + 1, history=[*state.history, record])
        self._save()
        logger.info(
            "epoch %d of %d: loss %.4f, partners at home %.1f %%, %.1f s",
            state.epoch + 1, self.config.num_epochs, loss, 100 * accuracy, seconds,
        )  # fmt: skip

    def _take_step(self, rows: Numbers, draws: Numbers) -> Tensor:
        self._optimizer.zero_grad(set_to_none=True)
        found = self.compare(rows, draws)
        found.loss.backward()
        self._optimizer.step()
        return torch.stack([t.detach().double() for t in found])

    def _draw(self, epoch: int) -> tuple[Numbers, Numbers]:
        """Return the order of formulas, and (representations, formulas) draws."""
        random = np.random.default_rng([self._seed, epoch])
        order = random.permutation(self.count)
        return order, random.random((len(self.forests), self.count))

    @property
    def _made_from(self) -> str:
        return checksum(asdict(self.config), self._seed, self.count)

    def _save(self) -> None:
        values = {
            "made_from": self._made_from,
            "state": asdict(self._state),
            "weights": self.encoders.copy_weights(),
            "optimizer": self._optimizer.state_dict(),
        }
        write_checkpoint(self._folder / _CHECKPOINT, values)

    def _resume(self) -> _State | None:
        path = self._folder / _CHECKPOINT
        values = read_checkpoint(path)
        if values is None:
            return None
        remedy = "formulas or parameters changed: delete it to start anew"
        refuse_other(path, values, self._made_from, remedy)
        self.encoders.load_state_dict(values["weights"])
        self._optimizer.load_state_dict(values["optimizer"])
        logger.info("going on after epoch %d", values["state"]["epoch"])
        return _State(**values["state"])
