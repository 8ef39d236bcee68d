"""Systems as datasets: ``NAME.model``, ``NAME.index`` and ``NAME.runs`` of each.

A node returns what is to be made, and ``save`` makes it: what was made before from the
same data with the same settings is found by its checksum, and a training that was
stopped is resumed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from kedro.io import AbstractDataset

from mathamr_kedro.base.checksums import read_json
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.files import replace_file, write_text
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.datasets.formula_trees import FormulaTreesDataset
from mathamr_kedro.datasets.paths import Loaded, PathDataset, Saved
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.model.config import ComputeConfig, compute_with
from mathamr_kedro.systems import (
    BASELINES,
    Collection,
    Index,
    System,
    Target,
    make_baseline,
    read_system,
)
from mathamr_kedro.systems.training import Training, build_index, read_counts
from mathamr_kedro.trec import Run

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

_RECORDS = {
    "formulas": "FormulaInstance",
    "training_formulas": "FormulaInstance",
    "posts": "Post",
    "statements": "Statement",
    "topics": "Topic",
    "judgments": "Judgment",
    "pairs": "TrainingPair",
}


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
    checksums = {part: _find_checksum(table) for part, table in tables.items()}
    return Collection(**readers, checksums=checksums)


def _find_checksum(table: Any) -> str:
    found = getattr(table, "checksum", None)
    return str(table.made_from if found is None else found)


class Preparation(NamedTuple):
    """A training to be prepared."""

    name: str
    values: Mapping[str, Any]
    seed: int
    data: Collection


class NotedDataset(PathDataset[Saved, Loaded]):
    """A model or an index among others, and a note that names it."""

    def __init__(
        self, *, filepath: str, path: str, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._base = Path(path)

    def _write_note(self, noted: Mapping[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, json.dumps(noted, indent=2) + "\n")

    def _read_note(self, stage: str) -> dict[str, Any]:
        if not self._path.is_file():
            raise MissingInputError(
                f"{str(self._path)!r} is missing; run the stage {stage!r}"
            )
        remedy = f"delete it and run the stage {stage!r} again"
        found: dict[str, Any] = read_json(self._path, remedy)
        return found

    def _shorten(self, path: Path) -> str:
        """Return a path as seen from the folder, so that a data root can be moved."""
        return Path(os.path.relpath(path, self._base)).as_posix()

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "path": str(self._base)}


class _TrainingDataset(NotedDataset[Any, Training]):
    """A training of a system, below the folder of all its trainings."""

    def load(self) -> Training:
        """Return the training with its model and history."""
        return Training(self._base / self._read_note("training")["folder"])

    def _note(self, training: Training) -> None:
        self._write_note({"folder": self._shorten(training.folder)})


class PreparedDataset(_TrainingDataset):
    """Input of the training of a system: written when it is saved, unless it exists.

    Its folder can be copied to a machine with only torch and trained there
    (``python -m mathamr_kedro.systems FOLDER``).
    """

    def save(self, data: Preparation) -> None:
        """Write what the training reads; then note which training it is."""
        self._note(Training.prepare(self._base, *data))


class ModelDataset(_TrainingDataset):
    """The model of a system: trained when it is saved, unless it was before.

    Example of a catalog entry::

        "{system}.model":
          type: mathamr_kedro.datasets.systems.ModelDataset
          filepath: data/06_models/systems/{system}.model.json
          path: data/06_models/systems/{system}
    """

    def save(self, data: Training) -> None:
        """Train, or resume; then note which training it was."""
        data.train()
        self._note(data)


class Indexing(NamedTuple):
    """An index to be built."""

    name: str
    tables: Mapping[str, Any]
    """What the system reads of the collection, opened."""
    values: Mapping[str, Any] = {}
    """Parameters of a system without a training, e.g. a ``text_model``."""
    training: Training | None = None
    compute: ComputeConfig = ComputeConfig()
    """Of networks."""
    scan: str = "auto"
    """Device on which vectors are compared."""


class LazyIndex:
    """An index that is opened when it is first asked for anything."""

    open: Callable[..., Index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a notebook, or a copy, asks no index
            raise AttributeError(name)
        return getattr(self._index, name)

    @cached_property
    def _index(self) -> Index:
        return self.open()


@dataclass(eq=False)
class BuiltIndex(LazyIndex):
    """The index of a system.

    ::

        index = catalog.load("bm25.index")
        (hits,) = index.rank([Query("q", "prime numbers")], depth=5)
    """

    name: str
    folder: Path
    counts: Mapping[str, Any]
    """Sizes, seconds, and the names of its rankings by target (``rankings``)."""
    open: Callable[[], Index] = field(repr=False)
    """Returns the index, opened."""

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the names of its rankings, without opening it."""
        found: list[str] = self.counts["rankings"][target]
        return found


class IndexDataset(NotedDataset[Indexing, BuiltIndex]):
    """The index of a system: built when it is saved, unless it was before.

    Example of a catalog entry::

        "{system}.index":
          type: mathamr_kedro.datasets.systems.IndexDataset
          filepath: data/06_models/systems/{system}.index.json
          path: data/06_models/systems/{system}
    """

    def save(self, data: Indexing) -> None:
        """Build the index; then note which one it is."""
        system = _open_system(data.name, data.values, data.training)
        with compute_with(data.compute, data.scan):
            folder = build_index(
                self._base / "indexes",
                system,
                collect(data.tables),
                data.training,
                data.values,
            )
        training = data.training.folder if data.training is not None else None
        noted = {
            "system": data.name,
            "values": dict(data.values),
            "folder": self._shorten(folder),
            "training": self._shorten(training) if training else None,
            "compute": asdict(data.compute),
            "scan": data.scan,
            "tables": {
                part: self._shorten(_find_folder(table))
                for part, table in data.tables.items()
            },
        }
        self._write_note(noted)

    def load(self) -> BuiltIndex:
        """Return the index; it is opened when it is first asked."""
        noted = self._read_note("indexing")
        folder = self._base / noted["folder"]
        return BuiltIndex(
            noted["system"], folder, read_counts(folder), partial(self._open, noted)
        )

    def _open(self, noted: Mapping[str, Any]) -> Index:
        training = None
        if noted["training"] is not None:
            training = Training(self._base / noted["training"])
        folder = self._base / noted["folder"]
        system = _open_system(noted["system"], noted["values"], training)
        tables = {
            part: _open_table(part, self._base / place)
            for part, place in noted["tables"].items()
        }
        model = training.model if training is not None else folder
        with _compute_as_noted(noted):
            return system.open(collect(tables), model, folder)


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


def list_reads(name: str, values: Mapping[str, Any]) -> Sequence[str]:
    """Return the parts of a collection that the index of a system is made from."""
    return _open_system(name, values, None).index_reads


def _open_system(
    name: str, values: Mapping[str, Any], training: Training | None
) -> System:
    if training is not None:
        return training.system
    if name in BASELINES:
        return make_baseline(name, values.get("text_model"))
    system: System = read_system(name, values)
    return system


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
        dataset = PenmanShardsDataset(filepath=str(place))
    return dataset.load()


class SystemRunsDataset(PathDataset[Sequence[Run], list[Run]]):
    """Results of a system for all topics: its complete lists with their times.

    ::

        run   topic   rank   id   score   visual_id   post_id
    """

    def save(self, data: Sequence[Run]) -> None:
        """Write one row for each result; times and topics are kept beside them."""
        rows = [
            (number, topic, *row, None, None)[: len(_SCHEMA)]
            for number, run in enumerate(data)
            for topic, hits in run.lists.items()
            for row in zip(*vars(hits).values(), strict=True)
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
        facts = [
            {
                "name": run.name,
                "task": run.task,
                "topics": {t: isinstance(h, FormulaHits) for t, h in run.lists.items()},
                "seconds": run.seconds,
                "query_seconds": dict(run.query_seconds),
                "device": run.device,
            }
            for run in data
        ]
        schema = _SCHEMA.with_metadata({_FACTS: json.dumps(facts).encode()})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self._path) as part:
            pq.write_table(pa.table(columns, schema=schema), part)

    def load(self) -> list[Run]:
        """Return the runs."""
        table = pq.read_table(self._path)
        found: dict[tuple[int, str], list[list[Any]]] = {}
        values = (table[name].to_pylist() for name in _SCHEMA.names)
        for number, topic, *row in zip(*values, strict=True):
            found.setdefault((number, topic), []).append(row)
        runs = []
        for number, facts in enumerate(json.loads(table.schema.metadata[_FACTS])):
            lists: dict[str, Hits] = {}
            for topic, is_formulas in facts.pop("topics").items():
                rows = found.get((number, topic), [])
                ids, scores, *named = ([row[c] for row in rows] for c in range(4))
                ranked = ids, np.array(scores, dtype=np.float64)
                lists[topic] = (
                    FormulaHits(*ranked, *named) if is_formulas else Hits(*ranked)
                )
            runs.append(Run(lists=lists, **facts))
        return runs


_FACTS = b"runs"
_SCHEMA = pa.schema(
    [
        ("run", pa.int32()),
        ("topic", pa.string()),
        ("id", pa.string()),
        ("score", pa.float64()),
        ("visual_id", pa.string()),
        ("post_id", pa.string()),
    ]
)
