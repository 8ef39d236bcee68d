"""A transition parser whose worker is a fake that fails as it is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mathamr_kedro.amr.transition.parser import TransitionConfig, TransitionParser
from tests.conftest import PATIENCE

FAKE = Path(__file__).parents[3] / "benchmarks" / "fake_amr_worker.py"


@pytest.fixture
def notes(tmp_path, monkeypatch) -> Path:
    """Folder in which the fake worker notes its faults."""
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv("FAKE_WORKER_NOTES", str(folder))
    return folder


@pytest.fixture
def make_parser(notes) -> Iterator[Callable[..., TransitionParser]]:
    """Makes parsers with the fake worker and ends them after the test."""
    made: list[TransitionParser] = []

    def make(**changes: object) -> TransitionParser:
        fields = {
            "python": sys.executable,
            "worker": str(FAKE),
            "devices": ("cpu",),
            "start_timeout_s": PATIENCE,
            "request_timeout_s": PATIENCE,
            "silence_timeout_s": PATIENCE,
        }
        made.append(TransitionParser(TransitionConfig(**{**fields, **changes})))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for parser in made:
        parser.close()
