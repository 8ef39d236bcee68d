"""Training of encoders, and encoding with them; needs torch and numpy only.

::

    pairs = TrainingPairs.of_rows(rows, shards)    # (N, 2) positions
    result = train(shards, pairs, TrainingConfig(), Path("out"))
    for posts in encode_shards(load_model(result.model_dir), shards): ...

What is inside::

    any system  loop (epochs, checkpoints, early stopping, history)
                checkpoints  processes
    MathAMR+    trainer ─> inputs ─> steps ─> losses       config  pairs  augmentation
                distillation
    after it    releasing  encoding
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.learning.config import TrainingConfig
    from mathamr_kedro.learning.encoding import encode_shards
    from mathamr_kedro.learning.loop import ModuleLearner, Training
    from mathamr_kedro.learning.pairs import TrainingPairs
    from mathamr_kedro.learning.releasing import (
        Provenance,
        find_model,
        has_same_weights,
        release_encoder,
    )
    from mathamr_kedro.learning.trainer import train

__all__ = [
    "ModuleLearner",
    "Provenance",
    "Training",
    "TrainingConfig",
    "TrainingPairs",
    "encode_shards",
    "find_model",
    "has_same_weights",
    "release_encoder",
    "train",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
