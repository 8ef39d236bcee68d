"""Folders of trainings: prepared once, trained anywhere, found again by their name.

::

    06_models/systems/NAME/<hash of model settings, seed and data>/
      system.json      name, parameters, seed
      prepared/        what the training reads (written by ``prepare``)
      prepared.json    counts; there when ``prepared/`` is whole
      model/           checkpoints, the model (written by ``train``)
      history.json     there when the training has ended
      indexes/<hash>/  an index for each search setting (written by ``index``)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.systems.protocol import (
    Epochs,
    PaperSystem,
    Ranker,
    SystemSources,
)
from mathamr_kedro.systems.registry import read_system

_SYSTEM, _PREPARED, _HISTORY = "system.json", "prepared.json", "history.json"
_COUNTS = "counts.json"
_SEARCHED = ("formulas", "trees_of", "posts", "graphs")
"""Sources that an index depends on."""


class SystemFolder:
    """One training of a system, and what is made from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.name: str = self._read(_SYSTEM)["system"]
        self._values = self._read(_SYSTEM)

    @classmethod
    def create(
        cls,
        base: Path,
        name: str,
        values: Mapping[str, Any],
        seed: int,
        sources: SystemSources,
    ) -> SystemFolder:
        """Prepare a training, or find one that is prepared.

        Args:
            base: folder of all systems.
            name: of the system.
            values: its parameters.
            seed: of the training.
            sources: the collection.

        Raises:
            ConfigurationError: there is no such system, or parameter.
        """
        system = read_system(name, values)
        model = asdict(system.config)["model"]
        data = sources.checksum(system.READS)
        folder = base / name / checksum(model, seed, data)
        folder.mkdir(parents=True, exist_ok=True)
        stated = {"system": name, "seed": seed, "parameters": dict(values)}
        write_text(folder / _SYSTEM, json.dumps(stated, indent=2))
        found = cls(folder)
        if not (folder / _PREPARED).is_file():
            with replace_folder(folder / "prepared") as part:
                counts = system.prepare(sources, part)
            write_text(folder / _PREPARED, json.dumps(counts, indent=2))
        return found

    @property
    def system(self) -> PaperSystem:
        """The system, with its parameters."""
        return read_system(self.name, self._values["parameters"])

    @property
    def counts(self) -> Mapping[str, Any]:
        """What was prepared."""
        found: Mapping[str, Any] = self._read(_PREPARED)
        return found

    @property
    def model(self) -> Path:
        """Folder of the model."""
        return self.folder / "model"

    def train(self) -> Epochs:
        """Train, or go on; return the history of a training that has ended."""
        if not (self.folder / _HISTORY).is_file():
            self._read(_PREPARED)
            self.model.mkdir(exist_ok=True)
            history = self.system.train(
                self.folder / "prepared", self.model, self._values["seed"]
            )
            write_text(self.folder / _HISTORY, json.dumps(history, indent=2))
        found: Epochs = self._read(_HISTORY)
        return found

    def index(self, sources: SystemSources) -> Mapping[str, Any]:
        """Build the index, or find one that is built; return its counts.

        ``rankers`` are the names of what :meth:`open` returns, by task.
        """
        self._read(_HISTORY)
        folder = self._find_index(sources)
        if not (folder / _COUNTS).is_file():
            folder.parent.mkdir(exist_ok=True)
            with replace_folder(folder) as part:
                system = self.system
                counts = dict(system.index(sources, self.model, part))
                opened = system.open(sources, self.model, part)  # it can be searched
                counts["rankers"] = {t: list(named) for t, named in opened.items()}
                write_text(part / _COUNTS, json.dumps(counts, indent=2))
        found: Mapping[str, Any] = json.loads((folder / _COUNTS).read_text("utf-8"))
        return found

    def open(self, sources: SystemSources) -> Mapping[int, Mapping[str, Ranker]]:
        """Return rankers by task, then by name.

        Raises:
            MissingInputError: there is no index.
        """
        folder = self._find_index(sources)
        if not (folder / _COUNTS).is_file():
            raise MissingInputError(
                f"No index of {self.name} in {str(folder)!r}; run the stage 'indexing'"
            )
        return self.system.open(sources, self.model, folder)

    def _find_index(self, sources: SystemSources) -> Path:
        search = asdict(self.system.config)["search"]
        data = sources.checksum(_SEARCHED)
        return self.folder / "indexes" / checksum(search, data)

    def _read(self, file: str) -> Any:
        path = self.folder / file
        if not path.is_file():
            raise MissingInputError(
                f"Expected {file} in {str(self.folder)!r}; run the stage 'training'"
            )
        return json.loads(path.read_text(encoding="utf-8"))
