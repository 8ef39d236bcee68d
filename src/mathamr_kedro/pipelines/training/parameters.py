"""Parameters of the training stage, by which experiments describe trainings too."""

from __future__ import annotations

from mathamr_kedro.experiments.trainings import TrainingStageConfig

__all__ = ["TrainingStageConfig"]
