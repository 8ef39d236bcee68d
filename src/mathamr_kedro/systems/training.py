"""Folders of trainings and indexes: made once, found again by their checksum.

::

    06_models/systems/NAME/<checksum of model settings, seed and data>/
      system.json      name, parameters, seed
      prepared/        what the training reads (written by ``prepare``)
      prepared.json    counts; there when ``prepared/`` is whole
      model/           checkpoints, the model (written by ``train``)
      history.json     there when the training has ended
    06_models/systems/NAME/indexes/<checksum of search settings, model and data>/
      counts.json      sizes, and the names of the rankings
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import checksum, write_checksums
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.model.config import ComputeConfig, compute_with
from mathamr_kedro.systems.base import Collection, Epochs, LearningSystem, System
from mathamr_kedro.systems.query import Target
from mathamr_kedro.systems.registry import read_system

_SYSTEM, _PREPARED, _HISTORY = "system.json", "prepared.json", "history.json"
_COUNTS = "counts.json"
_STORES = frozenset({"_shards.json", "edge.json"})
"""Lists of stores, with checksums of what is in their folders."""
_TARGETS: tuple[Target, ...] = ("posts", "formulas")


class Training:
    """One training of a system."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._stated = self._read(_SYSTEM)
        self.compute: ComputeConfig | None = None
        """How to train; ``None``: on the GPU if there is one."""
        self.name: str = self._stated["system"]

    @classmethod
    def prepare(
        cls,
        base: Path,
        name: str,
        values: Mapping[str, Any],
        seed: int,
        data: Collection,
    ) -> Training:
        """Prepare a training, or find one that is prepared."""
        system = read_system(name, values)
        read = data.checksum(system.training_reads)
        decisive = system.describe_training(), seed, read, system.VERSION
        folder = base / checksum(*decisive)
        folder.mkdir(parents=True, exist_ok=True)
        stated = {"system": name, "seed": seed, "parameters": dict(values)}
        write_text(folder / _SYSTEM, json.dumps(stated, indent=2))
        if not (folder / _PREPARED).is_file():
            with replace_folder(folder / "prepared") as part:
                counts = system.prepare(data, part)
            write_text(folder / _PREPARED, json.dumps(counts, indent=2))
        return cls(folder)

    @property
    def system(self) -> LearningSystem:
        """The system, with its parameters."""
        return read_system(self.name, self._stated["parameters"])

    @property
    def counts(self) -> Mapping[str, Any]:
        """Counts of the prepared data."""
        found: Mapping[str, Any] = self._read(_PREPARED)
        return found

    @property
    def history(self) -> Epochs:
        """Its epochs, once it has ended."""
        found: Epochs = self._read(_HISTORY)
        return found

    @property
    def model(self) -> Path:
        """Folder of the model."""
        return self.folder / "model"

    def train(self) -> Epochs:
        """Train, or resume; return the history of a training that has ended."""
        if not (self.folder / _HISTORY).is_file():
            self._read(_PREPARED)
            self.model.mkdir(exist_ok=True)
            prepared, seed = self.folder / "prepared", self._stated["seed"]
            with compute_with(self.compute or ComputeConfig()):
                history = self.system.train(prepared, self.model, seed)
            write_text(self.folder / _HISTORY, json.dumps(history, indent=2))
        return self.history

    def _read(self, file: str) -> Any:
        path = self.folder / file
        if not path.is_file():
            raise MissingInputError(
                f"Expected {file} in {str(self.folder)!r}; run the stage 'training'"
            )
        return json.loads(path.read_text(encoding="utf-8"))


def build_index(
    base: Path,
    system: System,
    data: Collection,
    training: Training | None = None,
    values: Mapping[str, Any] | None = None,
) -> Path:
    """Build the index of a system, or find one that is built; return its folder.

    Args:
        base: folder of all indexes of the system.
        system: with its parameters.
        data: the collection.
        training: of its weights, if it has some.
        values: parameters of a system that has none.
    """
    search = system.name, values or {}, system.describe_index(), system.VERSION
    weights = ""
    if training is not None:
        training.history  # noqa: B018 - raises unless it has ended
        weights = training.folder.name
    folder = base / checksum(search, weights, data.checksum(system.index_reads))
    if not (folder / _COUNTS).is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        model = training.model if training is not None else folder
        started = time.perf_counter()
        with replace_folder(folder) as part:
            counts = dict(system.index(data, model, part))
            opened = system.open(data, model, part)  # it can be searched
            rankings = {t: list(opened.list_rankings(t)) for t in _TARGETS}
            counts |= {"rankings": rankings, "seconds": time.perf_counter() - started}
            write_text(part / _COUNTS, json.dumps(counts, indent=2))
            _write_all_checksums(part)
    return folder


def _write_all_checksums(folder: Path) -> None:
    """Write checksums of the files below a folder, but of none that a store lists."""
    for place, subfolders, files in os.walk(folder):
        if _STORES.isdisjoint(files):
            write_checksums(Path(place))
        else:
            subfolders.clear()


def read_counts(folder: Path) -> dict[str, Any]:
    """Return the sizes of an index, the seconds it took, and its ``rankings``."""
    found: dict[str, Any] = json.loads((folder / _COUNTS).read_text("utf-8"))
    return found
