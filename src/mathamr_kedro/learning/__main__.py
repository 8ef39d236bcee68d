"""Training without Kedro, on a machine with only torch, torch-geometric and numpy.

::

    python -m mathamr_kedro.learning --data PREPARED --config FILE --out DIR
    python -m mathamr_kedro.learning --data PREPARED PREPARED --out DIR

``PREPARED`` is what the stage ``preprocessing`` wrote, a folder below
``05_model_input/mathamr_plus``: its pairs are split as they are there. Several, of
the same vocabularies, are joined below ``DIR``; files with a row for each graph go
through them in that order.
The file ``distillation.document_vectors``, for a ``document_weight`` or
``score_weight`` above 0, is made elsewhere: the training stage writes it beside its
checkpoint (see docs/pipelines/training.md).
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.graph import PreparedGraphs, ReleasedEncoder, join_prepared
from mathamr_kedro.graph.released import VARIANT
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.distillation import FormulaSymbols
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.trainer import train

logger = logging.getLogger("mathamr_kedro.learning")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr_kedro.learning",
        description="Train an encoder from prepared graphs and their pairs.",
        epilog="Started again with the same arguments, a stopped training resumes.",
    )
    add = parser.add_argument
    add("--data", type=Path, required=True, metavar="FOLDER", nargs="+",
        help="prepared graphs with their pairs")  # fmt: skip
    add("--config", type=Path, metavar="FILE", help="JSON; Table 4.5 without it")
    add("--out", type=Path, required=True, metavar="DIR", help="model and history")
    add("--start", type=Path, metavar="FOLDER", help="model or released encoder")
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        config = (
            TrainingConfig.read_json(args.config) if args.config else TrainingConfig()
        )
        if len(args.data) > 1:
            graphs = join_prepared(args.data, args.out / "graphs")
        else:
            graphs = PreparedGraphs(args.data[0])
        if args.start is not None and (args.start / VARIANT).is_file():
            released = ReleasedEncoder(str(args.start))
            released.check(graphs.vocabularies, graphs.variant)
        rows, is_held_out = graphs.all_pairs()
        result = train(
            graphs.posts,
            TrainingPairs.of_rows(rows, graphs.posts, is_held_out),
            config,
            args.out,
            start=args.start,
            symbols=FormulaSymbols.of_graphs(graphs),
        )
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


if __name__ == "__main__":
    sys.exit(main())
