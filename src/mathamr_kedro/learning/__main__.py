"""Training without Kedro, on a machine with torch, torch-geometric and numpy alone.

::

    python -m mathamr_kedro.learning --data SHARDS --pairs FILE --out DIR
    torchrun --nproc-per-node 4 -m mathamr_kedro.learning --data ... --pairs ...

Files that the configuration names are made elsewhere: ``pretrained_nodes``, and
``distillation.document_vectors`` where ``document_weight`` is above 0 (the training
stage writes it beside its checkpoint, see docs/pipelines/training.md).
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.errors import MathAMRError
from mathamr_kedro.graph.prepared import CONFIGURATION, PreparedGraphs
from mathamr_kedro.graph.released import VARIANT, check_graphs
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.learning.config import TrainingConfig, read_config
from mathamr_kedro.learning.pairs import read_pairs
from mathamr_kedro.learning.rounds import train_in_rounds

logger = logging.getLogger("mathamr_kedro.learning")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr_kedro.learning",
        description="Train an encoder from graph shards and pairs.",
        epilog="Started again with the same arguments, a stopped training goes on.",
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, metavar="SHARDS", help="graph shards")
    add("--pairs", type=Path, required=True, metavar="FILE", help=".json or .npz")
    add("--config", type=Path, metavar="FILE", help="JSON; Table 4.5 without it")
    add("--out", type=Path, required=True, metavar="DIR", help="model and history")
    add("--start", type=Path, metavar="FOLDER", help="model or released encoder")
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        config = read_config(args.config) if args.config else TrainingConfig()
        shards = GraphShards(args.data)
        pairs = read_pairs(args.pairs, shards)
        if args.start is not None:
            _check_numbers(args.start, args.data.parent)
        result = train_in_rounds(shards, pairs, config, args.out, start=args.start)
    except MathAMRError as exc:
        logger.error("%s", exc)
        return 1
    logger.info(
        "best epoch %d, loss %.4f: %s",
        result.best_epoch,
        result.best_loss,
        result.model_dir,
    )
    return 0


def _check_numbers(start: Path, prepared: Path) -> None:
    """Compare vocabularies, where the folders of both sides have them."""
    if (start / VARIANT).is_file() and (prepared / CONFIGURATION).is_file():
        check_graphs(str(start), PreparedGraphs(prepared))


if __name__ == "__main__":
    sys.exit(main())
