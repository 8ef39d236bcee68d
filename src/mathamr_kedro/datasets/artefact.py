"""What nodes made in folders of their own: prepared data, models, indexes.

A node does its work in a folder that its parameters name (``folders``), resumes there,
and returns an object that reads it. The dataset writes a pointer to the folder, so that
a data root may be moved and several runs share what is the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol, Self

from kedro.io import AbstractDataset
from kedro.utils import load_obj

from mathamr_kedro.base.checksums import read_json
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.datasets.formula_trees import FormulaTreesDataset
from mathamr_kedro.datasets.math_graphs import MathGraphsDataset
from mathamr_kedro.datasets.paths import PathDataset
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.model.config import ComputeConfig, compute_with
from mathamr_kedro.systems import Collection, Index, System, Target, read_system
from mathamr_kedro.systems.training import (
    Training,
    build_index,
    check_index,
    read_counts,
)

TABLES: Mapping[str, str] = {
    "formulas": "returnable_formulas",
    "training_formulas": "training_formulas",
    "trees_of": "formula_trees",
    "posts": "posts",
    "statements": "statements",
    "graphs": "math_graphs",
    "topics": "topics",
    "topic_graphs": "topic_math_graphs",
    "judgments": "judgments",
    "pairs": "training_pairs",
}
"""The datasets that the parts of a :class:`~mathamr_kedro.systems.Collection` are."""

_INDEX = "index.json"
_REMEDY = "run the stage 'indexing' again"
_RECORDS = {
    "formulas": "FormulaInstance",
    "training_formulas": "FormulaInstance",
    "posts": "Post",
    "statements": "Statement",
    "topics": "Topic",
    "judgments": "Judgment",
    "pairs": "TrainingPair",
}


class Artefact(Protocol):
    """An object that reads a folder, made of its path."""

    @property
    def folder(self) -> Path:
        """Where it is."""


class ArtefactDataset(PathDataset[Artefact, Any]):
    """A pointer to a folder that a node has filled.

    Example of a catalog entry::

        "{system}.model":
          type: mathamr_kedro.datasets.artefact.ArtefactDataset
          kind: mathamr_kedro.systems.training.Training      # made of the folder
          filepath: data/06_models/systems/{system}.model.json
          stage: training
    """

    def __init__(
        self,
        *,
        filepath: str,
        kind: str,
        stage: str,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._kind, self._stage = kind, stage

    def save(self, data: Artefact) -> None:
        """Write which folder it is, as seen from the pointer."""
        place = Path(os.path.relpath(data.folder, self._path.parent)).as_posix()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, json.dumps({"artefact": place}, indent=2) + "\n")

    def load(self) -> Any:
        """Return the object that reads the folder."""
        if not self._path.is_file():
            raise MissingInputError(
                f"{str(self._path)!r} is missing; run the stage {self._stage!r}"
            )
        remedy = f"delete it and run the stage {self._stage!r} again"
        pointer = read_json(self._path, remedy)
        if not isinstance(pointer, dict) or "artefact" not in pointer:
            raise MissingInputError(
                f"Expected a pointer of this version in {str(self._path)!r} (got one "
                f"of an earlier version); run the stage {self._stage!r} again"
            )
        package, _, name = self._kind.rpartition(".")
        folder = Path(os.path.normpath(self._path.parent / pointer["artefact"]))
        return load_obj(name, package)(folder)

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "kind": self._kind}


def collect(tables: Mapping[str, Any]) -> Collection:
    """Return a collection over opened datasets, by the names of its parts."""
    readers: dict[str, Any] = {
        part: table.records for part, table in tables.items() if part != "trees_of"
    }
    if "topics" in readers:
        read_topics = readers["topics"]
        readers["topics"] = lambda: list(read_topics())
    if "trees_of" in tables:
        readers["trees_of"] = tables["trees_of"].find
    if "posts" in tables:
        readers["count"] = partial(tables["posts"].count, "post_type")
        readers["parents"] = partial(_list_parents, tables["posts"])
    if "formulas" in tables:
        readers["formula_ids"] = partial(_list_ids, tables["formulas"])
    checksums = {part: _find_checksum(table) for part, table in tables.items()}
    return Collection(**readers, checksums=checksums)


def _list_ids(formulas: Any) -> Iterator[FormulaId]:
    for table in formulas.tables(["formula_id"]):
        yield from table["formula_id"].to_pylist()


def _list_parents(posts: Any) -> Iterator[tuple[PostId, PostId]]:
    names = ("post_id", "parent_id")
    for table in posts.tables(list(names)):
        columns = (table[name].to_pylist() for name in names)
        yield from ((p, q) for p, q in zip(*columns, strict=True) if q is not None)


def _find_checksum(table: Any) -> str:
    found = getattr(table, "checksum", None)
    return str(table.made_from if found is None else found)


@dataclass(eq=False, repr=False)
class BuiltIndex:
    """The index of a system, opened when it is first asked.

    ::

        index = catalog.load("bm25.index")
        (hits,) = index.rank([Query("q", "prime numbers")], depth=5)
    """

    folder: Path
    system: System | None = None
    """That opens it; ``None``: as it was built."""

    @classmethod
    def build(
        cls,
        base: Path,
        name: str,
        values: Mapping[str, Any],
        tables: Mapping[str, Any],
        training: Training | None = None,
        compute: ComputeConfig | None = None,
        scan: str = "auto",
    ) -> Self:
        """Build the index of a system, or find it.

        Args:
            base: folder of all indexes of the system.
            name: of the system.
            values: its parameters.
            tables: what it reads of the collection, opened.
            training: of its weights, if it has some.
            compute: where networks compute.
            scan: device on which vectors are compared.
        """
        compute = compute or ComputeConfig()
        system = read_system(name, values)
        with compute_with(compute, scan):
            given = {} if training is not None else values
            folder = build_index(base, system, collect(tables), training, given)
        noted = {
            "system": name,
            "values": dict(values),
            "training": _relate(training.folder, folder) if training else None,
            "compute": asdict(compute),
            "scan": scan,
            "tables": {
                part: _relate(_find_folder(table), folder)
                for part, table in tables.items()
            },
        }
        write_text(folder / _INDEX, json.dumps(noted, indent=2) + "\n")
        return cls(folder)

    def verify(self) -> Self:
        """Read all its files whole.

        Raises:
            DamagedFileError: one is not what was written.
        """
        check_index(self.folder)
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name}, in {self.folder}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a notebook, or a copy, asks no index
            raise AttributeError(name)
        return getattr(self._index, name)

    @cached_property
    def _noted(self) -> dict[str, Any]:
        file = self.folder / _INDEX
        if not file.is_file():
            raise MissingInputError(
                f"Expected {_INDEX} in {str(self.folder)!r}; run `kedro run "
                "--pipelines indexing` with the --env of your run"
            )
        return dict(read_json(file, _REMEDY))

    @property
    def name(self) -> str:
        """Of the system."""
        found: str = self._noted["system"]
        return found

    @cached_property
    def counts(self) -> Mapping[str, Any]:
        """Sizes, seconds, and the names of its ``rankings`` by target."""
        return read_counts(self.folder)

    @property
    def training(self) -> Training | None:
        """Of its weights, if it has some."""
        place = self._noted["training"]
        return Training(self._locate(place)) if place else None

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the names of its rankings."""
        if self.system is not None:  # its parameters decide them
            return self._index.list_rankings(target)
        found: list[str] = self.counts["rankings"][target]
        return found

    def open(self, system: System | None = None) -> Index:
        """Open it.

        Args:
            system: with other parameters than it was built by; ``None``: with these.
        """
        noted, training = self._noted, self.training
        system = system or self.system or read_system(noted["system"], noted["values"])
        tables = {
            part: _open_table(part, self._locate(place))
            for part, place in noted["tables"].items()
        }
        model = training.model if training is not None else self.folder
        with _compute_as_noted(noted):
            return system.open(collect(tables), model, self.folder)

    @cached_property
    def _index(self) -> Index:
        return self.open()

    def _locate(self, place: str) -> Path:
        return Path(os.path.normpath(self.folder / place))


def _relate(path: Path, folder: Path) -> str:
    """Return a path as seen from a folder, so that a data root can be moved."""
    return Path(os.path.relpath(path, folder)).as_posix()


@contextmanager
def _compute_as_noted(noted: Mapping[str, Any]) -> Iterator[None]:
    """Compute where the index was built, or where this machine can."""
    compute, scan = ComputeConfig(**noted.get("compute", {})), noted.get("scan", "auto")
    try:
        compute.check_machine()
        ComputeConfig(scan).check_machine()
    except ConfigurationError:
        compute, scan = ComputeConfig(), "auto"
    with compute_with(compute, scan):
        yield


def _find_folder(table: Any) -> Path:
    path: Path = table.path
    return path.parent if path.is_file() else path  # trees are one file


def _open_table(part: str, place: Path) -> Any:
    """Open a part of a collection again, lazily."""
    dataset: AbstractDataset[Any, Any]
    if part == "trees_of":
        dataset = FormulaTreesDataset(filepath=str(place))
    elif part in _RECORDS:
        dataset = ShardedTableDataset(filepath=str(place), record=_RECORDS[part])
    else:
        dataset = MathGraphsDataset(filepath=str(place))
    return dataset.load()
