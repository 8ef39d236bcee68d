"""Training of a prepared system without Kedro, on a machine with torch and numpy.

::

    python -m mathamr_kedro.systems FOLDER --out TRAININGS --device cuda:0

``FOLDER`` is one that the training stage prepared, below ``05_model_input``: it names
the system with its parameters and seed. The folder that is made below ``TRAININGS``,
copied to ``06_models/systems/NAME``, is what a run with the same parameters finds
trained.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.systems.training import Prepared, Training

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
        "--out", type=Path, default=Path(), help="folder of trainings (default: here)"
    )
    parser.add_argument(
        "--device", default="auto", help="e.g. cuda:1; auto: the GPU if there is one"
    )
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        for folder in args.folder:
            prepared, compute = Prepared(folder), ComputeConfig(args.device)
            compute.check_machine()
            stated = prepared.stated
            what = stated["system"], stated["parameters"], int(stated["seed"])
            training = Training.begin(args.out, *what, prepared)
            history = training.train(compute)
            logger.info("%s: %d epochs", training.folder, len(history))
    except MathAMRError as exc:
        logger.error("%s", exc)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
