"""Training in rounds: learn, look for hard negatives with what was learnt, learn anew.

::

    out/round-0/   a training without hard negatives
    out/round-1/   from its weights, with the negatives that it finds   (rounds: 2)
    out/           the last round: what counts

Each round is a training of its own with a checkpoint of its own, so a stopped one goes
on in the round where it stopped. The negatives of a round are written down once.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.graph import GraphSchema, GraphShards
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.formula_symbols import FormulaSymbols
from mathamr_kedro.learning.history import ProgressCallback
from mathamr_kedro.learning.negatives import (
    NegativesConfig,
    group_pairs,
    mine_by_model,
)
from mathamr_kedro.learning.pairs import NOTHING, Positions, TrainingPairs
from mathamr_kedro.learning.trainer import TrainingResult, train
from mathamr_kedro.model import checksum_model, load_model, read_shape

logger = logging.getLogger(__name__)

NEGATIVES = "negatives.npz"


def train_in_rounds(
    shards: GraphShards,
    pairs: TrainingPairs,
    config: TrainingConfig,
    out_dir: Path,
    progress: ProgressCallback | None = None,
    groups: Positions | None = None,
    start: Path | None = None,
    symbols: FormulaSymbols | None = None,
) -> TrainingResult:
    """Train as ``config.negatives`` asks for, or go on with a stopped training.

    Args:
        shards: the graphs.
        pairs: which belong together; with negatives for the source ``bm25``.
        config: everything else.
        out_dir: gets the best model of the last round.
        progress: is told now and then how far each round is.
        groups: of each pair (:func:`~mathamr_kedro.learning.negatives.group_pairs`).
        start: model folder whose shape and weights the training starts from.
        symbols: of the formulas, for their teacher.
    """
    if start is not None:
        config = _take_shape(config, shards.schema, start)
    if config.negatives.source != "model":
        return train(shards, pairs, config, out_dir, progress, start, symbols)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ConfigurationError(
            "Expected one process for negatives.source 'model'; use 'bm25' or 'none'"
        )
    out_dir = Path(out_dir)
    plain = replace(config, negatives=NegativesConfig(), hard_negatives=0)
    first = out_dir / "round-0"
    result = train(shards, pairs, plain, first, progress, start, symbols)
    if groups is None:
        groups = group_pairs(pairs, shards)
    for number in range(1, config.negatives.rounds + 1):
        last = number == config.negatives.rounds
        folder = out_dir if last else out_dir / f"round-{number}"
        found = _mine(shards, pairs, config, result.model_dir, folder, groups)
        result = train(
            shards,
            replace(pairs, negatives=found),
            config,
            folder,
            progress,
            start=result.model_dir,
            symbols=symbols,
        )
    return result


def _take_shape(
    config: TrainingConfig, schema: GraphSchema, start: Path
) -> TrainingConfig:
    """Return the configuration with the model's shape of the folder to start from.

    Raises:
        ConfigurationError: its graphs were numbered otherwise, or the configuration
            says another start.
    """
    shape, trained = read_shape(start)
    if trained != schema:
        raise ConfigurationError(
            f"Expected graphs of the schema of the model in {str(start)!r}: {trained} "
            f"(got {schema}); prepare them with its vocabularies "
            "(preprocessing.vocabulary.source)"
        )
    if config.pretrained_nodes is not None:
        raise ConfigurationError(
            f"Expected pretrained_nodes or a model to start from, not both "
            f"(got {config.pretrained_nodes!r} and {str(start)!r})"
        )
    # An encoder that reads texts may start from one that does not.
    shape = replace(shape, text_dim=shape.text_dim or config.model.text_dim)
    return replace(config, model=shape)


def _mine(
    shards: GraphShards,
    pairs: TrainingPairs,
    config: TrainingConfig,
    model_dir: Path,
    folder: Path,
    groups: Positions,
) -> Positions:
    """Mine with a model, or read what it found before."""
    path, mark = folder / NEGATIVES, checksum_model(model_dir)
    if path.is_file():
        with np.load(path, allow_pickle=False) as known:
            if str(known["model"]) == mark:
                return np.asarray(known["negatives"])
    held_out = pairs.hold_out(config.validation_share, config.seed)
    learn = pairs.take(~held_out)
    found = np.full((len(pairs), config.negatives.kept), NOTHING, dtype=np.int64)
    model = load_model(model_dir, config.compute)
    found[~held_out] = mine_by_model(
        model, shards, learn, config.negatives, config.seed, groups[~held_out]
    )
    logger.info("%d hard negatives for %d pairs", (found >= 0).sum(), len(learn))
    folder.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as part, part.open("wb") as file:
        np.savez(file, negatives=found, model=mark)  # a path would get another suffix
    return found
