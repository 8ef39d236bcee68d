"""Training of a prepared system without Kedro, on a machine with torch and numpy.

::

    python -m mathamr_kedro.systems FOLDER --device cuda:0

``FOLDER`` is one that the training stage prepared, below ``06_models/systems``: it
holds ``system.json`` (name, parameters, seed) and ``prepared/``. Copied to a machine
with a GPU and back, it is what a run with the same parameters finds trained.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.systems.training import Training

logger = logging.getLogger("mathamr_kedro.systems")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m mathamr_kedro.systems",
        description="Train a system from the folder that the training stage prepared.",
        epilog="Started again, a stopped training is resumed.",
    )
    parser.add_argument("folder", type=Path, nargs="+", help="prepared by the stage")
    parser.add_argument(
        "--device", default="auto", help="e.g. cuda:1; auto: the GPU if there is one"
    )
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        for folder in args.folder:
            training = Training(folder)
            training.compute = ComputeConfig(args.device)
            training.compute.check_machine()
            history = training.train()
            logger.info("%s: %d epochs", folder, len(history))
    except MathAMRError as exc:
        logger.error("%s", exc)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
