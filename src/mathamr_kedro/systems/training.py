"""Folders of what systems make: made once, found again by their checksum.

::

    05_model_input/NAME/<checksum of what prepare depends on, and of its data>/
      ...              what the training reads (written by ``prepare``)
      prepared.json    name, parameters, seed and counts; written last
    06_models/systems/NAME/<checksum of model settings, seed and prepared data>/
      system.json      name, parameters, seed, where the prepared data is
      model/           checkpoints, the model (written by ``train``)
      history.json     there when the training has ended
    06_models/systems/NAME/indexes/<checksum of search settings, model and data>/
      counts.json      sizes, and the names of the rankings
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Self, get_args

from mathamr_kedro.base.checksums import (
    CHECKSUMS,
    check_folder,
    checksum,
    read_json,
    write_checksums,
)
from mathamr_kedro.base.errors import InputError, MissingInputError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.model.config import ComputeConfig, compute_with
from mathamr_kedro.systems.base import Collection, Epochs, LearningSystem, System
from mathamr_kedro.systems.query import Target
from mathamr_kedro.systems.registry import read_system

_PREPARED, _SYSTEM, _HISTORY = "prepared.json", "system.json", "history.json"
_COUNTS = "counts.json"
_STORES = frozenset({"_shards.json", CHECKSUMS})
"""Lists with checksums of what is in their folders."""
_REMEDY = "delete its folder and run the stage 'training' again"
_REBUILD = "run the stage 'indexing' again, it builds the index again"

logger = logging.getLogger(__name__)


class Prepared:
    """What the training of a system reads, in a folder.

    It can be copied to a machine with only torch and trained there
    (``python -m mathamr_kedro.systems FOLDER``).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def make(
        cls,
        base: Path,
        name: str,
        values: Mapping[str, Any],
        seed: int,
        data: Collection,
    ) -> Self:
        """Write what a training reads, or find it.

        Args:
            base: folder of all that was prepared for the system.
            name: of the system.
            values: its parameters.
            seed: of the training; noted for one without Kedro.
            data: the collection.
        """
        system: LearningSystem = read_system(name, values)
        read = data.checksum(system.training_reads)
        key = checksum(system.describe_preparation(), read, system.VERSION)
        found = cls(base / key)
        stated: dict[str, Any] = {"system": name, "seed": seed}
        stated["parameters"] = dict(values)
        if found.is_whole:
            counts = found.counts
        else:
            shutil.rmtree(found.folder, ignore_errors=True)
            found.folder.mkdir(parents=True)
            counts = system.prepare(data, found.folder)
        stated["counts"] = dict(counts)
        write_text(found.folder / _PREPARED, json.dumps(stated, indent=2))
        return found

    @property
    def is_whole(self) -> bool:
        """Whether all is there."""
        return (self.folder / _PREPARED).is_file()

    @property
    def counts(self) -> Mapping[str, Any]:
        """Counts of the data."""
        found: Mapping[str, Any] = self.stated["counts"]
        return found

    @property
    def identity(self) -> str:
        """What tells it from others: another one is another training."""
        return self.folder.name

    @property
    def stated(self) -> Mapping[str, Any]:
        """The ``system``, its ``parameters`` and the ``seed`` of the newest run."""
        file = self.folder / _PREPARED
        if not file.is_file():
            raise MissingInputError(
                f"Expected {_PREPARED} in {str(self.folder)!r}; run the stage "
                "'preprocessing' or 'training'"
            )
        found: Mapping[str, Any] = read_json(file, _REMEDY)
        return found


class Training:
    """One training of a system."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._stated = self._read(_SYSTEM)
        self.name: str = self._stated["system"]

    @classmethod
    def begin(
        cls,
        base: Path,
        name: str,
        values: Mapping[str, Any],
        seed: int,
        prepared: Prepared,
    ) -> Self:
        """Begin a training, or find one that was begun.

        Args:
            base: folder of all trainings of the system.
            name: of the system.
            values: its parameters.
            seed: of the weights.
            prepared: what it reads.
        """
        system: LearningSystem = read_system(name, values)
        decisive = system.describe_training(), seed, prepared.identity, system.VERSION
        folder = base / checksum(*decisive)
        folder.mkdir(parents=True, exist_ok=True)
        stated = {
            "system": name,
            "seed": seed,
            "prepared": Path(os.path.relpath(prepared.folder, folder)).as_posix(),
            "parameters": dict(values),
        }
        write_text(folder / _SYSTEM, json.dumps(stated, indent=2))
        return cls(folder)

    @property
    def system(self) -> LearningSystem:
        """The system, with its parameters."""
        return read_system(self.name, self.values)

    @property
    def values(self) -> Mapping[str, Any]:
        """Its parameters."""
        found: Mapping[str, Any] = self._stated["parameters"]
        return found

    @property
    def prepared(self) -> Path:
        """Folder of what it reads."""
        return Path(os.path.normpath(self.folder / self._stated["prepared"]))

    @property
    def history(self) -> Epochs:
        """Its epochs, once it has ended."""
        found: Epochs = self._read(_HISTORY)
        return found

    @property
    def model(self) -> Path:
        """Folder of the model."""
        return self.folder / "model"

    def train(self, compute: ComputeConfig | None = None) -> Epochs:
        """Train, or resume; return the history of a training that has ended.

        Args:
            compute: how; on the GPU if there is one if ``None``.
        """
        if not (self.folder / _HISTORY).is_file():
            self.model.mkdir(exist_ok=True)
            with compute_with(compute or ComputeConfig()):
                history = self.system.train(
                    self.prepared, self.model, self._stated["seed"]
                )
            write_text(self.folder / _HISTORY, json.dumps(history, indent=2))
        return self.history

    def _read(self, file: str) -> Any:
        path = self.folder / file
        if not path.is_file():
            raise MissingInputError(
                f"Expected {file} in {str(self.folder)!r}; run the stage 'training'"
            )
        return read_json(path, _REMEDY)


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
    model = training.model if training is not None else folder
    if not _is_whole(system, data, model, folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        started = time.perf_counter()
        with replace_folder(folder) as part:
            counts = dict(system.index(data, model, part))
            opened = system.open(data, model, part)  # it can be searched
            rankings = {t: list(opened.list_rankings(t)) for t in get_args(Target)}
            opened.close()
            counts |= {"rankings": rankings, "seconds": time.perf_counter() - started}
            write_text(part / _COUNTS, json.dumps(counts, indent=2))
            _write_all_checksums(part)
    return folder


def check_index(folder: Path) -> None:
    """Read all files of an index whole.

    Raises:
        DamagedFileError: one is not what was written.
    """
    for file in folder.rglob(CHECKSUMS):
        check_folder(file.parent, _REBUILD, whole=True)


def _is_whole(system: System, data: Collection, model: Path, folder: Path) -> bool:
    if not (folder / _COUNTS).is_file():
        return False
    try:
        check_index(folder)
        with closing(system.open(data, model, folder)) as opened:
            opened.verify()
    except InputError as exc:
        logger.warning("The index of %s is built again: %s", system.name, exc)
        return False
    return True


def _write_all_checksums(folder: Path) -> None:
    """Write checksums of the files below a folder, but of none that are listed."""
    for place, subfolders, files in os.walk(folder):
        if _STORES.isdisjoint(files):
            write_checksums(Path(place))
        else:
            subfolders.clear()


def read_counts(folder: Path) -> dict[str, Any]:
    """Return the sizes of an index, the seconds it took, and its ``rankings``."""
    found: dict[str, Any] = json.loads((folder / _COUNTS).read_text("utf-8"))
    return found
