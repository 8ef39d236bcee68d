"""Parameters of a training: ``conf/<env>/parameters/training.yml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.graph import ReleasedEncoder
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.text import explain_absence


@dataclass(frozen=True)
class TrainingStageConfig(TrainingConfig):
    """A training with its surroundings in the project."""

    text_model: str = "minilm"
    """Sentence encoder of the teacher of documents: a known name or a folder
    (:mod:`mathamr_kedro.text.models`)."""
    start_from: str | None = None
    """A released encoder, by name or folder, to start from: its shape and weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_from is None and self.num_epochs == 0:
            raise ConfigurationError(
                "Expected num_epochs of at least 1 (got 0); only a released encoder "
                "(start_from) can be used without training"
            )

    @property
    def makes_document_vectors(self) -> bool:
        """Whether the stage encodes the texts that document vectors learn from."""
        teachers = self.distillation
        is_asked_for = teachers.uses_texts and self.num_epochs > 0
        return is_asked_for and teachers.document_vectors is None

    @property
    def document_vectors(self) -> str:
        """File of what they learn from, beside the prepared graphs."""
        return f"document_vectors_{PurePath(self.text_model).name}.npy"

    def check_machine(self) -> None:
        """Refuse what is not here: an encoder, a sentence encoder, a GPU."""
        if self.start_from is not None:
            ReleasedEncoder(self.start_from)
        if self.num_epochs == 0:
            return
        self.compute.check_machine()
        if self.makes_document_vectors:
            reason = explain_absence(self.text_model)
            if reason is not None:
                raise ConfigurationError(f"training.text_model: {reason}")

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> TrainingStageConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="training")

    def describe_result(self) -> dict[str, object]:
        """The values that decide the weights."""
        values = super().describe_result()
        if not self.makes_document_vectors:
            del values["text_model"]
        # With a start, its shape counts; without one, names stay as they were.
        del values["start_from" if self.start_from is None else "model"]
        return values
