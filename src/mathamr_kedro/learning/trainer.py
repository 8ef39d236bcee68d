"""Training from graphs and pairs to the best model.

::

    result = train(GraphShards(folder), pairs, TrainingConfig(), out_dir)
    model = load_model(result.model_dir)

A training that was stopped goes on when it is started again with the same arguments,
and ends with the same weights, bit by bit, as one that was not.
"""

from __future__ import annotations

import json
import logging
import math
import resource
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch

from mathamr_kedro.base.errors import (
    ConfigurationError,
    TrainingError,
)
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.formatting import draw_sparkline
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.augmentation import step_key
from mathamr_kedro.learning.checkpoints import TrainingState
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.formula_symbols import FormulaSymbols
from mathamr_kedro.learning.history import EpochRecord, Progress, ProgressCallback
from mathamr_kedro.learning.inputs import TrainingInputs
from mathamr_kedro.learning.pairs import EpochPlan, TrainingPairs
from mathamr_kedro.learning.processes import Processes
from mathamr_kedro.learning.single_formulas import add_single_formulas
from mathamr_kedro.learning.steps import make_runner
from mathamr_kedro.learning.validation import Validation
from mathamr_kedro.model import save_model

logger = logging.getLogger(__name__)

MODEL = "model"
HISTORY = "history.json"
FACTS = "training.json"


@dataclass(frozen=True)
class TrainingResult:
    """What a training brought."""

    model_dir: Path
    """The best model, for :func:`mathamr_kedro.model.weights.load_model`."""
    history: tuple[EpochRecord, ...]
    best_epoch: int
    best_loss: float
    """Validation loss of the best epoch (training loss where nothing is held out)."""
    stopped_early: bool


def train(
    shards: GraphShards,
    pairs: TrainingPairs,
    config: TrainingConfig,
    out_dir: Path,
    progress: ProgressCallback | None = None,
    start: Path | None = None,
    symbols: FormulaSymbols | None = None,
) -> TrainingResult:
    """Train an encoder, or go on with a training that was stopped.

    Args:
        shards: the graphs.
        pairs: which of them belong together.
        config: everything else.
        out_dir: gets the best model, the history and the last checkpoint.
        progress: is told now and then, and after each epoch, how far the training is.
        start: model folder whose weights the training starts from; fresh ones if
            ``None``.
        symbols: of the formulas, for their teacher; all different if ``None``.
    """
    if config.num_epochs == 0:
        raise ConfigurationError("Expected num_epochs of at least 1 to train (got 0)")
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    posts = len(shards)
    with Processes.join(config.compute.choose_device()) as (processes, device):
        if config.single_formulas:
            held_out = pairs.hold_out(config.validation_share, config.seed)
            shards, pairs = add_single_formulas(
                shards, pairs, held_out, out_dir, processes
            )
        given = TrainingInputs(shards, pairs, config, start, posts, symbols)
        return Trainer(given, processes, device).run(out_dir, progress)


class _Clock(NamedTuple):
    """Times of the last log line and the last checkpoint."""

    logged: float
    saved: float


class Trainer:
    """One training on one device."""

    def __init__(
        self, given: TrainingInputs, processes: Processes, device: torch.device
    ) -> None:
        config = given.config
        self.config, self.device = config, device
        learn, held_out = given.split_pairs()
        self.plan = EpochPlan(
            learn, config.batch_size, config.hard_negatives, config.seed
        )
        if self.plan.batch_size % processes.count:
            raise ConfigurationError(
                f"Expected batch_size to be a multiple of {processes.count} processes "
                f"(got {self.plan.batch_size!r})"
            )
        self.made_from, self.facts = given.identify(), given.describe()
        self.step = given.make_step(processes, device)
        source = ShardSource(given.shards, device)
        self.validation = Validation(held_out, source, self.plan.batch_size)
        self.runner = make_runner(config.steps, self.step, source, self.plan)

    def run(self, out_dir: Path, progress: ProgressCallback | None) -> TrainingResult:
        """Train until the last epoch, or until nothing gets better."""
        config, leads = self.config, self.step.processes.leads
        state = TrainingState.load(out_dir, self.step, self.made_from)
        epoch, step = (0, 0) if state is None else (state.epoch, state.step)
        self.step.processes.check_agreement(
            f"{self.made_from} after epoch {epoch}, step {step}"
        )
        if leads:
            self.step.model.log_parameters()
            _write_json(out_dir / FACTS, self.facts)
        if state is not None and leads:
            logger.info("going on after epoch %d, step %d", state.epoch, state.step)
        state = state or TrainingState()
        while not state.is_finished(config.num_epochs, config.patience):
            self._run_steps(state, out_dir, progress)
            self._end_epoch(state, out_dir)
            if progress is not None and leads:
                epochs, steps = config.num_epochs, self.plan.steps
                progress(Progress.of_ended_epoch(state.history, epochs, steps))
        self.step.processes.wait()
        return TrainingResult(
            out_dir / MODEL,
            tuple(state.history),
            state.best_epoch,
            state.best_loss,
            stopped_early=state.epoch < config.num_epochs,
        )

    def _run_steps(
        self, state: TrainingState, out_dir: Path, progress: ProgressCallback | None
    ) -> None:
        """Do the steps of an epoch that are left."""
        steps, before = self.plan.steps, state.seconds
        self._load_epoch(state.epoch)
        started = time.perf_counter()
        first, done = state.step, state.measures
        clock = _Clock(started, started)
        for i in range(first, steps):
            self.runner.run(i)
            now = time.perf_counter()
            log_due = now - clock.logged >= self.config.log_seconds
            save_due = now - clock.saved >= self.config.checkpoint_seconds
            if not log_due and not save_due and i + 1 < steps:
                continue
            # Reading measures waits for the device.
            fresh = self.runner.measures(i + 1)[first:]
            state.step, state.measures = i + 1, torch.cat([done, fresh])
            _check_finite(state)
            state.seconds = before + time.perf_counter() - started
            if log_due:
                clock = clock._replace(logged=now)
                self._tell(state, progress, i + 1 - first, state.seconds - before)
            if save_due and i + 1 < steps:
                clock = clock._replace(saved=now)
                self._save(out_dir, state)

    def _load_epoch(self, epoch: int) -> None:
        config, steps, processes = self.config, self.plan.steps, self.step.processes
        first = epoch * steps
        keys = [step_key(config.seed, first + i, processes.rank) for i in range(steps)]
        rates = config.optimizer.schedule(first, steps, config.num_epochs * steps)
        self.runner.load_epoch(
            self.plan.epoch(epoch, processes.rank, processes.count),
            torch.tensor(keys),
            torch.from_numpy(rates).float(),
        )

    def _tell(
        self,
        state: TrainingState,
        progress: ProgressCallback | None,
        steps: int,
        seconds: float,
    ) -> None:
        config, of_epoch = self.config, self.plan.steps
        if not self.step.processes.leads:
            return
        left = (config.num_epochs - state.epoch) * of_epoch - state.step
        told = Progress(
            epoch=state.epoch + 1,
            epochs=config.num_epochs,
            step=state.step,
            steps=of_epoch,
            loss=float(state.measures[-20:, 0].mean()),
            pairs_per_second=steps * self.plan.batch_size / seconds,
            seconds_left=left * seconds / steps,
            history=tuple(state.history),
        )
        told.log()
        if progress is not None:
            progress(told)

    def _end_epoch(self, state: TrainingState, out_dir: Path) -> None:
        """Validate, keep the best model, and write everything down."""
        record = self._describe_epoch(state)
        state.history.append(record)
        state.epoch, state.step, state.seconds = state.epoch + 1, 0, 0.0
        state.measures = state.measures[:0]
        is_best = record.watched < state.best_loss
        if is_best:
            state.best_epoch, state.best_loss = state.epoch, record.watched
        if not self.step.processes.leads:
            return
        logger.info(
            "epoch %d: train loss %.4f, validation loss %s %s, accuracy %.3f, %.1f s%s",
            record.epoch,
            record.train_loss,
            _format(record.validation_loss),
            draw_sparkline([r.watched for r in state.history]),
            record.accuracy,
            record.seconds,
            ", best so far" if is_best else "",
        )
        if is_best:
            save_model(out_dir / MODEL, self.step.model)
        _write_json(out_dir / HISTORY, [asdict(r) for r in state.history])
        self._save(out_dir, state)

    def _describe_epoch(self, state: TrainingState) -> EpochRecord:
        steps, means = self.plan.steps, state.measures.double().mean(0)
        loss, accuracy, norm, _ = means.tolist()
        held_out = self.validation.run(self.step) if len(self.validation) else None
        total = self.config.num_epochs * steps
        last = (state.epoch + 1) * steps - 1
        return EpochRecord(
            epoch=state.epoch + 1,
            step=last + 1,
            train_loss=loss,
            validation_loss=None if held_out is None else held_out.loss,
            accuracy=accuracy,
            validation_accuracy=None if held_out is None else held_out.accuracy,
            temperature=float(state.measures[-1, 3]),
            learning_rate=float(self.config.optimizer.schedule(last, 1, total)[0]),
            grad_norm=norm,
            seconds=state.seconds,
            pairs_per_second=steps * self.plan.batch_size / max(state.seconds, 1e-9),
            memory_mib=_measure_memory(self.device),
            machine=Machine.find(str(self.device)),
        )

    def _save(self, out_dir: Path, state: TrainingState) -> None:
        if self.step.processes.leads:
            state.save(out_dir, self.step, self.made_from)


def _check_finite(state: TrainingState) -> None:
    if not math.isfinite(float(state.measures[-1, 0])):
        raise TrainingError(
            f"Expected a finite loss (got {float(state.measures[-1, 0])!r} in epoch "
            f"{state.epoch + 1}, step {state.step}); lower optimizer.learning_rate"
        )


def _format(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _write_json(path: Path, values: object) -> None:
    write_text(path, json.dumps(values, indent=2) + "\n")


def _measure_memory(device: torch.device) -> float:
    """Largest memory of this process so far in MiB, on the device or on the host."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
