r"""The training loop of every system: epochs, checkpoints, early stopping, history.

::

    Training(learner, checkpoint, made_from, num_epochs).run()
       │
       ├─ learner.begin_epoch    batches of the epoch
       ├─ learner.run_step       one batch: loss, gradient, optimizer
       ├─ learner.describe_epoch validation, the record of the history
       ├─ learner.keep           the best weights so far
       └─ checkpoint.pt          every few minutes, and after each epoch

Systems differ by their :class:`Learner`. Most need no class of their own, but a
:class:`ModuleLearner` with their module, batches and loss::

    encoder = StructureEncoder(config)

    def draw_batches(epoch):   # a function of the epoch, so that training can resume
        order = np.random.default_rng([seed, epoch]).permutation(len(graphs))
        return np.array_split(order, len(graphs) // 64)

    def compute(rows):         # the loss, and here how often a view found its twin
        first, second = encoder(draw_view(rows)), encoder(draw_view(rows))
        scores = first @ second.T
        return info_nce(scores, temperature=0.1), measure_accuracy(scores)

    learner = ModuleLearner(
        name="ssemb",
        module=encoder,
        optimizer=torch.optim.Adam(encoder.parameters(), lr=1e-3),
        draw_batches=draw_batches,
        compute=compute,
        measures=("loss", "accuracy"),
    )
    made_from = checksum(asdict(config), seed, graphs.checksum)
    history = Training(learner, folder / CHECKPOINT, made_from, num_epochs=5).run()
    encoder.save(folder)

With ``validate``, the best epoch is kept instead of the last one (``keep_best`` writes
it); ``rate`` and ``clip_norm`` set the schedule and the clipping of a paper.

A training that is started again with the same arguments resumes from its last
checkpoint and ends with the same weights, bit by bit, if batches and losses depend on
seed, epoch and step only.
"""

from __future__ import annotations

import logging
import math
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from mathamr_kedro.base.errors import TrainingError
from mathamr_kedro.base.formatting import draw_sparkline
from mathamr_kedro.learning.checkpoints import (
    Progress,
    ProgressCallback,
    Record,
    TrainingState,
)

logger = logging.getLogger(__name__)

Batch = TypeVar("Batch")

VALIDATION_LOSS = "validation_loss"
"""Name of the measure by which the best epoch is chosen."""
_SMOOTHED = 20
"""Number of last steps whose mean loss is logged."""


class Learner(Protocol):
    """Interface of what the loop trains."""

    name: str
    """Name in log lines and errors."""
    batch_size: int
    """Items of a step, for the speed in log lines."""
    unit: str
    """What these items are: pairs, formulas."""
    measures: tuple[str, ...]
    """Names of the measures of a step; the first one is the loss."""

    def measure_start(self) -> float:
        """Return the loss that the first epoch must beat; usually infinite."""

    def begin_epoch(self, epoch: int, num_epochs: int) -> int:
        """Load an epoch, counted from 0; return its number of steps."""

    def run_step(self, step: int) -> None:
        """Run a step of the epoch, without waiting for the device."""

    def read_measures(self, count: int) -> Tensor:
        """(count, measures) of the first steps of the epoch, on the CPU.

        Rows of steps before the resumed one are ignored.
        """

    def describe_epoch(self, epoch: int, measures: Tensor, seconds: float) -> Record:
        """Validate; return the record of an epoch, counted from 1, for the history."""

    def watch(self, record: Record) -> float | None:
        """Return the loss of a record that early stopping watches.

        ``None`` if there is none: then the last epoch is the best one.
        """

    def summarise(self, record: Record) -> str:
        """Summarise a record for the log."""

    def keep(self, history: Sequence[Record], is_best: bool) -> None:
        """Write results of an epoch, before its checkpoint is written."""

    def export_state(self) -> Mapping[str, Any]:
        """Return weights and the state of the optimizer."""

    def import_state(self, values: Mapping[str, Any]) -> None:
        """Restore an exported state."""


@dataclass
class Training:
    """One training of a learner.

    Args:
        learner: what is trained.
        checkpoint: file from which a stopped training resumes.
        made_from: identifies everything that determines the weights; the checkpoint of
            another training is refused.
        num_epochs: the maximum.
        patience: epochs without a better loss before training stops; 0: no early
            stopping.
        checkpoint_seconds: time between two checkpoints within an epoch. There is one
            after each epoch, too, as long as writing takes no more than a tenth of the
            time.
        log_seconds: time between two log lines.
    """

    learner: Learner
    checkpoint: Path
    made_from: str
    num_epochs: int
    patience: int = 0
    checkpoint_seconds: float = 300.0
    log_seconds: float = 10.0
    state: TrainingState | None = field(init=False, default=None)
    """Current state; ``None`` before :meth:`resume`."""
    _unsaved: float = field(init=False, default=0.0)
    """Seconds of finished epochs since the last checkpoint."""
    _due: float = field(init=False, default=0.0)
    """Seconds after which the next checkpoint is due."""

    def resume(self) -> TrainingState:
        """Resume from the checkpoint, or start; :meth:`run` calls it.

        Raises:
            ConfigurationError: the checkpoint belongs to another training.
            MalformedInputError: the file is no checkpoint of this version.
            DamagedFileError: it is not what was written.
        """
        learner = self.learner
        state = TrainingState.load(
            self.checkpoint, learner.import_state, self.made_from
        )
        if state is None:
            measures = torch.zeros(0, len(learner.measures))
            state = TrainingState(measures=measures, best_loss=learner.measure_start())
        else:
            logger.info(
                "%s: resuming after epoch %d, step %d",
                learner.name,
                state.epoch,
                state.step,
            )
        self.state = state
        return state

    def run(self, progress: ProgressCallback | None = None) -> list[dict[str, Any]]:
        """Train until the last epoch or early stopping; return the history.

        Raises:
            TrainingError: the loss is not finite.
        """
        state = self.state or self.resume()
        while not state.is_finished(self.num_epochs, self.patience):
            steps = self.learner.begin_epoch(state.epoch, self.num_epochs)
            self._run_steps(state, steps, progress)
            told = self._end_epoch(state, steps)
            if progress is not None:
                progress(told)
        return list(state.history)

    def _run_steps(
        self, state: TrainingState, steps: int, progress: ProgressCallback | None
    ) -> None:
        """Run the remaining steps of an epoch."""
        before, started = state.seconds, time.perf_counter()
        first, done = state.step, state.measures
        logged = saved = started
        for i in range(first, steps):
            self.learner.run_step(i)
            now = time.perf_counter()
            log_due = now - logged >= self.log_seconds
            save_due = now - saved >= self.checkpoint_seconds
            if not log_due and not save_due and i + 1 < steps:
                continue
            # Reading measures waits for the device.
            fresh = self.learner.read_measures(i + 1)[first:]
            state.step, state.measures = i + 1, torch.cat([done, fresh])
            # Only when measures are read anyway; later steps of a diverged training do
            # no harm.
            self._check_finite(state)
            state.seconds = before + time.perf_counter() - started
            if log_due:
                logged = now
                ran, seconds = i + 1 - first, state.seconds - before
                self._tell(state, steps, ran / seconds, progress)
            if save_due and i + 1 < steps:
                saved = now
                self._save(state)

    def _tell(
        self,
        state: TrainingState,
        steps: int,
        steps_per_second: float,
        progress: ProgressCallback | None,
    ) -> None:
        left = (self.num_epochs - state.epoch) * steps - state.step
        loss = float(state.measures[-_SMOOTHED:, 0].mean())
        told = Progress(
            epoch=state.epoch + 1,
            epochs=self.num_epochs,
            step=state.step,
            steps=steps,
            loss=loss,
            items_per_second=steps_per_second * self.learner.batch_size,
            seconds_left=left / steps_per_second,
            history=tuple(state.history),
        )
        told.log(self.learner.name, self.learner.unit)
        if progress is not None:
            progress(told)

    def _end_epoch(self, state: TrainingState, steps: int) -> Progress:
        """Validate, keep the best weights, and write a checkpoint if it is due."""
        learner, measures, seconds = self.learner, state.measures, state.seconds
        record = learner.describe_epoch(state.epoch + 1, measures, seconds)
        state.history.append(dict(record))
        state.epoch, state.step, state.seconds = state.epoch + 1, 0, 0.0
        state.measures = measures[:0]
        watched = learner.watch(record)
        is_best = watched is None or watched < state.best_loss
        if is_best:
            state.best_epoch = state.epoch
            state.best_loss = math.inf if watched is None else watched
        curve = [w for r in state.history if (w := learner.watch(r)) is not None]
        logger.info(
            "%s: epoch %d/%d: %s%s, %.1f s%s",
            learner.name,
            state.epoch,
            self.num_epochs,
            learner.summarise(record),
            f" {draw_sparkline(curve)}" if curve else "",
            seconds,
            ", best so far" if is_best and curve else "",
        )
        # Before the checkpoint: a kill in between repeats the epoch instead of losing
        # its weights.
        learner.keep(state.history, is_best)
        self._unsaved += seconds
        is_last = state.is_finished(self.num_epochs, self.patience)
        if is_last or self._unsaved >= self._due:
            self._save(state)
        return Progress(
            epoch=state.epoch,
            epochs=self.num_epochs,
            step=steps,
            steps=steps,
            loss=float(measures[:, 0].double().mean()),
            items_per_second=steps * learner.batch_size / max(seconds, 1e-9),
            seconds_left=(self.num_epochs - state.epoch) * seconds,
            history=tuple(state.history),
        )

    def _save(self, state: TrainingState) -> None:
        started = time.monotonic()
        state.save(self.checkpoint, self.learner.export_state(), self.made_from)
        # Epochs of a second would otherwise spend most of their time writing large
        # models.
        took = time.monotonic() - started
        self._unsaved, self._due = 0.0, 10 * took if took > 1 else 0.0

    def _check_finite(self, state: TrainingState) -> None:
        losses = state.measures[:, 0]
        if losses.isfinite().all():
            return
        step = int((~losses.isfinite()).nonzero()[0])
        raise TrainingError(
            f"Expected a finite loss of {self.learner.name} (got "
            f"{float(losses[step])!r} in epoch {state.epoch + 1}, step {step + 1}); "
            "lower its learning_rate"
        )


RateOfStep: TypeAlias = Callable[[int, int], float]
"""Factor of the learning rate at a step (from 0), given the total number of steps."""

_WARM_UP = 0.1
"""Share of the steps in which :func:`rise_and_fall` rises."""


def rise_and_fall(step: int, steps: int) -> float:
    """Return a factor that rises over the first tenth of all steps, then falls to 0.

    >>> [round(rise_and_fall(step, 20), 2) for step in (0, 1, 2, 19)]
    [0.5, 1.0, 1.0, 0.06]
    """
    warm = max(1.0, _WARM_UP * steps)
    return min(1.0, (step + 1) / warm, (steps - step) / max(1.0, steps - warm))


@dataclass(kw_only=True, eq=False)
class ModuleLearner(Generic[Batch]):
    """A module that learns from batches by a loss and an optimizer of torch.

    Args:
        name: in log lines and errors.
        module: a checkpoint consists of its state and that of the optimizer.
        optimizer: of its parameters.
        draw_batches: returns the batches of an epoch, counted from 0. Randomness must
            depend on the epoch only, and in a step on the batch only.
        compute: returns the loss of a batch, or the loss and further measures.
        validate: returns measures on held-out data, among them ``validation_loss``;
            without it the last epoch is the best one.
        keep_best: writes the weights after each epoch that is the best so far.
        beats_start: whether an epoch has to beat the initial weights.
        measures: names of the values of ``compute``.
        rate: factor of the optimizer's learning rate at each step; ``None``: 1.
        clip_norm: maximum global norm of the gradients; ``None``: no clipping.
        describe: computes a record from the (steps, measures) of an epoch; ``None``:
            the means.
        facts: constant entries of each record of the history.
        batch_size: items of a step.
        unit: what they are.
    """

    name: str
    module: nn.Module
    optimizer: torch.optim.Optimizer
    draw_batches: Callable[[int], Sequence[Batch]]
    compute: Callable[[Batch], Tensor | Sequence[Tensor]]
    validate: Callable[[], Mapping[str, float]] | None = None
    keep_best: Callable[[], None] | None = None
    beats_start: bool = False
    measures: tuple[str, ...] = ("loss",)
    rate: RateOfStep | None = None
    clip_norm: float | None = None
    describe: Callable[[Tensor], Mapping[str, float]] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int = 1
    unit: str = "batches"

    def __post_init__(self) -> None:
        self._rates = [group["lr"] for group in self.optimizer.param_groups]
        self._batches: Sequence[Batch] = ()
        self._found = torch.zeros(0, len(self.measures))
        self._first, self._total = 0, 0

    def measure_start(self) -> float:
        """See :class:`Learner`."""
        if not self.beats_start or self.validate is None:
            return math.inf
        found = self._validate()
        logger.info("%s: at the start: %s", self.name, _join(found))
        if self.keep_best is not None:
            self.keep_best()
        return found.get(VALIDATION_LOSS, math.inf)

    def begin_epoch(self, epoch: int, num_epochs: int) -> int:
        """See :class:`Learner`."""
        self._batches = self.draw_batches(epoch)
        steps = len(self._batches)
        self._first, self._total = epoch * steps, num_epochs * steps
        device = next(self.module.parameters()).device
        self._found = torch.zeros(steps, len(self.measures), device=device)
        self.module.train()
        return steps

    def run_step(self, step: int) -> None:
        """See :class:`Learner`."""
        if self.rate is not None:
            part = self.rate(self._first + step, self._total)
            for group, rate in zip(
                self.optimizer.param_groups, self._rates, strict=True
            ):
                group["lr"] = rate * part
        self.optimizer.zero_grad(set_to_none=True)
        computed = self.compute(self._batches[step])
        values = [computed] if isinstance(computed, Tensor) else list(computed)
        if values[0].requires_grad:  # a batch may hold nothing to learn from
            values[0].backward()
            if self.clip_norm is not None:
                nn.utils.clip_grad_norm_(self.module.parameters(), self.clip_norm)
            self.optimizer.step()
        # On the device: reading values here would wait for each step.
        self._found[step] = torch.stack([v.detach().float() for v in values])

    def read_measures(self, count: int) -> Tensor:
        """See :class:`Learner`."""
        return self._found[:count].cpu()

    def describe_epoch(self, epoch: int, measures: Tensor, seconds: float) -> Record:
        """See :class:`Learner`."""
        means: Mapping[str, float]
        if self.describe is None:
            values = measures.double().mean(0).tolist()
            means = dict(zip(self.measures, values, strict=True))
        else:
            means = self.describe(measures)
        held_out = {} if self.validate is None else self._validate()
        return {"epoch": epoch, **means, **held_out, "seconds": seconds, **self.facts}

    def watch(self, record: Record) -> float | None:
        """See :class:`Learner`."""
        found: float | None = record.get(VALIDATION_LOSS)
        return found

    def summarise(self, record: Record) -> str:
        """See :class:`Learner`."""
        left_out = {"epoch", "seconds", *self.facts}
        return _join({k: v for k, v in record.items() if k not in left_out})

    def keep(self, history: Sequence[Record], is_best: bool) -> None:
        """See :class:`Learner`."""
        if is_best and self.keep_best is not None:
            self.keep_best()

    def export_state(self) -> Mapping[str, Any]:
        """See :class:`Learner`."""
        return {
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }

    def import_state(self, values: Mapping[str, Any]) -> None:
        """See :class:`Learner`."""
        self.module.load_state_dict(values["module"])
        self.optimizer.load_state_dict(values["optimizer"])

    @torch.no_grad()
    def _validate(self) -> Mapping[str, float]:
        self.module.eval()
        return {} if self.validate is None else self.validate()


def _join(values: Mapping[str, Any]) -> str:
    shown = {k.replace("_", " "): v for k, v in values.items() if v is not None}
    return ", ".join(f"{name} {value:.4f}" for name, value in shown.items())


def measure_memory(device: torch.device) -> float:
    """Peak memory of this process in MiB, on the device or on the host."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
