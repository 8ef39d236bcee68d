"""Which data a cell was computed from."""

from __future__ import annotations

from typing import Protocol

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import fingerprint

COLLECTION = ("math_graphs", "topic_math_graphs", "training_pairs", "judgments")
"""Datasets that the stages of a cell start from."""


class Sharded(Protocol):
    """A table or graphs in shards."""

    @property
    def fingerprint(self) -> str:
        """What it was made from; empty where it is not there."""

    def files(self) -> object:
        """Refuse an unfinished folder."""


def fingerprint_collection(*parts: Sharded) -> str:
    """Return one hash of the datasets of :data:`COLLECTION`.

    Raises:
        MissingInputError: one of them is missing or unfinished.
    """
    for part in parts:
        part.files()
    marks = [part.fingerprint for part in parts]
    if not all(marks):
        raise MissingInputError("Expected finished graphs, pairs and judgments")
    return fingerprint(*marks)
