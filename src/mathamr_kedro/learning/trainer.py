"""Training of MathAMR+, from graphs and pairs to the best model.

::

    result = train(GraphShards(folder), pairs, TrainingConfig(), out_dir)
    model = load_model(result.model_dir)

A training that is started again with the same arguments resumes, and ends with the same
weights, bit by bit, as an uninterrupted one (:mod:`.loop`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.graph import GraphSchema, GraphShards
from mathamr_kedro.learning.augmentation import step_key
from mathamr_kedro.learning.checkpoints import (
    CHECKPOINT,
    HISTORY,
    MODEL,
    EpochRecord,
    ProgressCallback,
    Record,
)
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.distillation import FormulaSymbols
from mathamr_kedro.learning.encoding import ShardSource
from mathamr_kedro.learning.inputs import TrainingInputs
from mathamr_kedro.learning.loop import Training, measure_memory
from mathamr_kedro.learning.pairs import EpochPlan, TrainingPairs
from mathamr_kedro.learning.steps import (
    MEASURES,
    TrainingStep,
    list_vectors,
    make_runner,
)
from mathamr_kedro.model import read_shape, save_model

FACTS = "training.json"


@dataclass(frozen=True)
class TrainingResult:
    """Result of a training."""

    model_dir: Path
    """The best model, for :func:`mathamr_kedro.model.weights.load_model`."""
    history: tuple[EpochRecord, ...]
    best_epoch: int
    best_loss: float
    """Validation loss of the best epoch (training loss if nothing is held out)."""
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
    """Train an encoder, or resume its training.

    Args:
        shards: the graphs.
        pairs: of their positions.
        config: all other settings.
        out_dir: for the best model, the history and the last checkpoint.
        progress: called every few seconds and after each epoch.
        start: model folder whose shape and weights the training starts from; ``None``:
            random weights.
        symbols: of formulas, for their teacher; ``None``: all differ.
    """
    if config.num_epochs == 0:
        raise ConfigurationError("Expected num_epochs of at least 1 to train (got 0)")
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    if start is not None:
        config = _take_shape(config, shards.schema, start)
    given = TrainingInputs(shards, pairs, config, start, symbols)
    learner = EncoderLearner(given, config.compute.choose_device(), out_dir)
    training = Training(
        learner,
        out_dir / CHECKPOINT,
        given.identify(),
        config.num_epochs,
        config.patience,
        config.checkpoint_seconds,
        config.log_seconds,
    )
    state = training.resume()
    learner.step.model.log_parameters()
    _write_json(out_dir / FACTS, given.describe())
    history = training.run(progress)
    return TrainingResult(
        out_dir / MODEL,
        tuple(read_parameters(EpochRecord, r, where="history") for r in history),
        state.best_epoch,
        state.best_loss,
        stopped_early=state.epoch < config.num_epochs,
    )


class EncoderLearner:
    """MathAMR+ as a :class:`~.loop.Learner`, on one device."""

    name, unit = "MathAMR+", "pairs"
    measures: tuple[str, ...] = MEASURES

    def __init__(
        self, given: TrainingInputs, device: torch.device, out_dir: Path
    ) -> None:
        config = given.config
        self.config, self.device, self._out_dir = config, device, out_dir
        learn, held_out = given.split_pairs()
        self.plan = EpochPlan(learn, config.batch_size, config.seed)
        self.batch_size = self.plan.batch_size
        self.step = given.make_step(device)
        source = ShardSource(given.shards, device)
        self.validation = Validation(held_out, source, self.batch_size)
        self.runner = make_runner(self.step, source, self.plan)

    def measure_start(self) -> float:
        """Any epoch is better than the start."""
        return math.inf

    def begin_epoch(self, epoch: int, num_epochs: int) -> int:
        """Load positions, keys and learning rates of all steps."""
        config, steps = self.config, self.plan.steps
        first = epoch * steps
        keys = [step_key(config.seed, first + i) for i in range(steps)]
        rates = config.optimizer.schedule(first, steps, num_epochs * steps)
        self.runner.load_epoch(
            self.plan.epoch(epoch),
            torch.tensor(keys),
            torch.from_numpy(rates).float(),
        )
        return steps

    def run_step(self, step: int) -> None:
        """Launch a step."""
        self.runner.run(step)

    def read_measures(self, count: int) -> Tensor:
        """(count, measures) of the first steps of the epoch."""
        return self.runner.measures(count)

    def describe_epoch(self, epoch: int, measures: Tensor, seconds: float) -> Record:
        """Validate, and describe an epoch as :class:`EpochRecord` does."""
        steps = self.plan.steps
        loss, accuracy, norm, _ = measures.double().mean(0).tolist()
        held_out: Sequence[float | None] = (None, None)
        if len(self.validation):
            held_out = self.validation.run(self.step)
        last, total = epoch * steps - 1, self.config.num_epochs * steps
        record = EpochRecord(
            epoch=epoch,
            step=last + 1,
            train_loss=loss,
            validation_loss=held_out[0],
            accuracy=accuracy,
            validation_accuracy=held_out[1],
            temperature=float(measures[-1, 3]),
            learning_rate=float(self.config.optimizer.schedule(last, 1, total)[0]),
            grad_norm=norm,
            seconds=seconds,
            pairs_per_second=steps * self.batch_size / max(seconds, 1e-9),
            memory_mib=measure_memory(self.device),
            machine=Machine.find(str(self.device)),
        )
        return asdict(record)

    def watch(self, record: Record) -> float:
        """Return the validation loss, or the training loss if nothing is held out."""
        held_out: float | None = record["validation_loss"]
        loss: float = record["train_loss"] if held_out is None else held_out
        return loss

    def summarise(self, record: Record) -> str:
        """Return losses and accuracy."""
        return (
            f"train loss {record['train_loss']:.4f}, "
            f"accuracy {record['accuracy']:.3f}, "
            f"validation loss {_format(record['validation_loss'])}"
        )

    def keep(self, history: Sequence[Record], is_best: bool) -> None:
        """Write the best model and the history."""
        if is_best:
            save_model(self._out_dir / MODEL, self.step.model)
        _write_json(self._out_dir / HISTORY, list(history))

    def export_state(self) -> dict[str, Any]:
        """Weights and the state of the optimizer, on the CPU."""
        return self.step.export_state()

    def import_state(self, values: Mapping[str, Any]) -> None:
        """Continue from an exported state."""
        self.step.import_state(values)


def _take_shape(
    config: TrainingConfig, schema: GraphSchema, start: Path
) -> TrainingConfig:
    """Return the configuration with the shape of the model to start from.

    Raises:
        ConfigurationError: its graphs have other vocabularies.
    """
    shape, trained = read_shape(start)
    if trained != schema:
        raise ConfigurationError(
            f"Expected graphs of the schema of the model in {str(start)!r}: {trained} "
            f"(got {schema}); prepare them with its vocabularies "
            "(preprocessing.vocabulary.source)"
        )
    # An encoder that reads texts may start from one that does not, one without edges
    # from one that has them: neither shapes the weights that are there.
    shape = replace(
        shape,
        text_dim=shape.text_dim or config.model.text_dim,
        content_edges=shape.content_edges and config.model.content_edges,
    )
    return replace(config, model=shape)


def _format(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _write_json(path: Path, values: object) -> None:
    write_text(path, json.dumps(values, indent=2) + "\n")


class Validation:
    """Held-out pairs in fixed batches, each pair against the others of its batch.

    Several batches are encoded at once: the vectors of a post do not depend on the
    other posts.
    """

    def __init__(
        self, pairs: TrainingPairs, source: ShardSource, batch_size: int
    ) -> None:
        count = max(1, round(len(pairs) / batch_size)) if len(pairs) else 0
        numbers = np.array_split(np.arange(len(pairs)), count) if count else []
        self._batches = [
            np.concatenate([pairs.queries[i], pairs.documents[i]]) for i in numbers
        ]
        self._source = source

    def __len__(self) -> int:
        return len(self._batches)

    @torch.no_grad()
    def run(self, step: TrainingStep) -> tuple[float, float]:
        """Return loss and accuracy."""
        groups = list(_group(self._batches, self._source.batch_size))
        parts = [np.concatenate(group) for group in groups]
        total = torch.zeros(3, dtype=torch.float64, device=step.learning_rate.device)
        for group, batch in zip(groups, self._source.batches(parts), strict=True):
            vectors = step.model.encode(batch, step.model.prepare(batch))
            posts, first = list_vectors(batch, vectors), 0
            for rows in group:
                middle, end = first + len(rows) // 2, first + len(rows)
                value = step.loss(posts.slice(first, middle), posts.slice(middle, end))
                # By pairs, as batches differ in size.
                total += (middle - first) * torch.stack(
                    [value.loss, value.accuracy, torch.ones_like(value.loss)]
                )
                first = end
        loss, accuracy, count = total.tolist()
        return loss / count, accuracy / count


def _group(
    batches: list[NDArray[np.int64]], size: int
) -> Iterator[list[NDArray[np.int64]]]:
    """Group batches until they have ``size`` graphs."""
    group: list[NDArray[np.int64]] = []
    for rows in batches:
        if group and sum(map(len, group)) + len(rows) > size:
            yield group
            group = []
        group.append(rows)
    if group:
        yield group
