"""Preprocessing: math graphs to vocabularies, shards of arrays and training pairs."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import PreprocessingConfig
from mathamr_kedro.text import explain_absence


@dataclass(frozen=True)
class PreprocessingStageConfig(PreprocessingConfig):
    """What all stages read, and what this one needs of the machine."""

    def check_machine(self) -> None:
        """Refuse a released encoder or a sentence encoder that is not here."""
        super().check_machine()
        reason = None if self.text_model is None else explain_absence(self.text_model)
        if reason is not None:
            raise ConfigurationError(f"preprocessing.text_model: {reason}")
