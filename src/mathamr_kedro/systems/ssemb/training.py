"""Contrastive training of StructEmb, from a table of graphs to weights.

::

    prepared/   graphs.bin  labels.json
    model/      checkpoint.pt  weights.pt  labels.json

Order and views of an epoch come from the seed, the epoch and the step alone: a training
that was stopped goes on from its checkpoint to the same weights.
"""

from __future__ import annotations

import logging
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError, TrainingError
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.learning.checkpoints import (
    read_checkpoint,
    refuse_other,
    write_checkpoint,
)
from mathamr_kedro.systems.ssemb.config import StructureConfig
from mathamr_kedro.systems.ssemb.graphs import GraphBatch, GraphTable, LabelVocabulary
from mathamr_kedro.systems.ssemb.network import StructureEncoder, info_nce
from mathamr_kedro.systems.ssemb.views import Draws, make_view

logger = logging.getLogger(__name__)

GRAPHS, LABELS, WEIGHTS = "graphs.bin", "labels.json", "weights.pt"
_CHECKPOINT = "checkpoint.pt"
_SECONDS = 60.0
"""Between two checkpoints inside of an epoch."""


class StructureTraining:
    """One training.

    Args:
        config: settings.
        prepared: folder with the graphs.
        seed: of weights, order and views.
    """

    def __init__(self, config: StructureConfig, prepared: Path, seed: int) -> None:
        self.config, self.seed = config, seed
        self.table = GraphTable.read(prepared / GRAPHS)
        self._labels = prepared / LABELS
        self.vocabulary = LabelVocabulary.read(self._labels)
        if len(self.table) < 2:
            raise ConfigurationError(
                f"Expected at least 2 graphs of {config.min_nodes} nodes or more to "
                f"train ssemb (got {len(self.table)}); lower systems.ssemb.model."
                "min_nodes or take a larger collection"
            )
        torch.manual_seed(seed)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = StructureEncoder(config, len(self.vocabulary))
        self.model = model.to(self.device).train()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate)
        # the last batch of an epoch may be up to half larger than the others
        self.batches = max(1, round(len(self.table) / config.batch_size))

    def run(self, folder: Path) -> list[dict[str, Any]]:
        """Train, or go on; leave the weights in a folder and return the history."""
        state = self._load(folder) or {"epoch": 0, "losses": [], "history": []}
        saved = time.monotonic()
        while state["epoch"] < self.config.num_epochs:
            order, started = self._shuffle(state["epoch"]), time.perf_counter()
            before = state.pop("seconds", 0.0)
            for step in range(len(state["losses"]), self.batches):
                state["losses"].append(self._step(state["epoch"], step, order[step]))
                if time.monotonic() - saved > _SECONDS:
                    now = before + time.perf_counter() - started
                    self._save(folder, {**state, "seconds": now})
                    saved = time.monotonic()
            self._end_epoch(state, before + time.perf_counter() - started)
            self._save(folder, state)
        self.model.save(folder / WEIGHTS)
        shutil.copyfile(self._labels, folder / LABELS)
        history: list[dict[str, Any]] = state["history"]
        return history

    def _step(self, epoch: int, step: int, chosen: NDArray[np.int64]) -> float:
        chance = torch.Generator().manual_seed(_mix(self.seed, epoch, step))
        batch = self.table.take(chosen).to(self.device)
        first, second = (self._encode_view(batch, chance) for _ in range(2))
        loss = info_nce(first, second, self.config.temperature)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        value = float(loss.detach())
        if not np.isfinite(value):
            raise TrainingError(
                f"The loss of ssemb is {value!r} in epoch {epoch + 1}, step {step + 1};"
                " lower systems.ssemb.model.learning_rate"
            )
        return value

    def _encode_view(self, batch: GraphBatch, chance: torch.Generator) -> Tensor:
        settings = self.config.augmentation
        draws = Draws.draw(batch, len(settings.substitution), chance)
        view = make_view(batch, settings, self.vocabulary.wildcards, draws)
        vectors: Tensor = self.model.head(self.model(view))
        return vectors

    def _shuffle(self, epoch: int) -> list[NDArray[np.int64]]:
        chance = np.random.default_rng([self.seed, epoch])
        return np.array_split(chance.permutation(len(self.table)), self.batches)

    def _end_epoch(self, state: dict[str, Any], seconds: float) -> None:
        loss = float(np.mean(state["losses"]))
        state["epoch"] += 1
        state["losses"] = []
        state["history"].append(
            {
                "epoch": state["epoch"],
                "loss": loss,
                "seconds": seconds,
                "graphs": len(self.table),
                "machine": asdict(Machine.find(str(self.device))),
            }
        )
        logger.info(
            "ssemb: epoch %d of %d, loss %.4f, %.1f s (%d graphs)",
            state["epoch"], self.config.num_epochs, loss, seconds, len(self.table),
        )  # fmt: skip

    @property
    def _made_from(self) -> str:
        sizes = [len(self.table), len(self.table.labels), len(self.vocabulary)]
        return checksum(asdict(self.config), self.seed, sizes)

    def _save(self, folder: Path, state: dict[str, Any]) -> None:
        values = {
            **state,
            "made_from": self._made_from,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        write_checkpoint(folder / _CHECKPOINT, values)

    def _load(self, folder: Path) -> dict[str, Any] | None:
        path = folder / _CHECKPOINT
        values = read_checkpoint(path, self.device)
        if values is None:
            return None
        refuse_other(path, values, self._made_from)
        values.pop("made_from")
        self.model.load_state_dict(values.pop("model"))
        self.optimizer.load_state_dict(values.pop("optimizer"))
        logger.info(
            "ssemb: going on after epoch %d, step %d",
            values["epoch"], len(values["losses"]),
        )  # fmt: skip
        return values


def _mix(seed: int, epoch: int, step: int) -> int:
    """Return a seed of its own for every step."""
    return int(np.random.SeedSequence([seed, epoch, step]).generate_state(1)[0])
