"""Systems as datasets: ``NAME.model``, ``NAME.index`` and ``NAME.runs`` of each.

A node returns what is to be made, and ``save`` makes it: what was made before from the
same data with the same settings is found by its checksum, and a training that was
stopped is resumed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from kedro.io import AbstractDataset

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import replace_file, write_text
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.datasets.formula_trees import FormulaTreesDataset
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.formula import find_trees
from mathamr_kedro.systems import (
    BASELINES,
    Collection,
    Index,
    Query,
    System,
    Target,
    Term,
    make_baseline,
    read_system,
)
from mathamr_kedro.systems.base import PostTypes
from mathamr_kedro.systems.training import Training, build_index, read_counts
from mathamr_kedro.trec import Run

TABLES: Mapping[str, str] = {
    "formulas": "returnable_formulas",
    "trees_of": "formula_trees",
    "posts": "posts",
    "graphs": "math_graphs",
    "topics": "topics",
    "topic_graphs": "topic_math_graphs",
    "judgments": "judgments",
    "pairs": "training_pairs",
}
"""The datasets that the parts of a :class:`~mathamr_kedro.systems.Collection` are."""

_RECORDS = {
    "formulas": "FormulaInstance",
    "posts": "Post",
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
        store = tables["trees_of"]
        readers["trees_of"] = lambda f: find_trees(store, f.visual_id, f.latex)
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


class _TrainingDataset(AbstractDataset[Any, Training]):
    """A training of a system, below the folder of all its trainings.

    Args:
        filepath: says which training is the present one.
        path: folder of all trainings of the system.
        metadata: for Kedro-Viz.
    """

    def __init__(
        self, *, filepath: str, path: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._file, self._base = Path(filepath), Path(path)
        self.metadata = metadata

    def load(self) -> Training:
        """Return the training with its model and history."""
        return Training(self._base / read_note(self._file, "training")["folder"])

    def _note(self, training: Training) -> None:
        write_note(self._file, {"folder": shorten(training.folder, self._base)})

    def _exists(self) -> bool:
        return self._file.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._file), "path": str(self._base)}


class PreparedDataset(_TrainingDataset):
    """What the training of a system reads: written when it is saved, unless it was.

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


@dataclass(eq=False)
class BuiltIndex:
    """The index of a system, opened when it is first asked.

    ::

        index = catalog.load("bm25.index")
        (hits,) = index.rank([Query("q", "prime numbers")], depth=5)
    """

    name: str
    folder: Path
    counts: Mapping[str, Any]
    """Sizes, seconds, and the names of its rankings by target (``forms``)."""
    open: Callable[[], Index] = field(repr=False)

    @cached_property
    def _index(self) -> Index:
        return self.open()

    def list_forms(self, target: Target) -> Sequence[str]:
        """Return the names of its rankings, without opening it."""
        found: list[str] = self.counts["forms"][target]
        return found

    def prepare(self, queries: Sequence[Query], form: str | None = None) -> list[Query]:
        """Return the queries that can be asked."""
        return self._index.prepare(queries, form)

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        form: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return the best posts, or formulas, for each query."""
        return self._index.rank(queries, depth, form, types)

    def explain(
        self, query: Query, key: str, form: str | None = None
    ) -> tuple[Term, ...]:
        """Return what the score of a post is the sum of."""
        return self._index.explain(query, key, form)


class IndexDataset(AbstractDataset[Indexing, BuiltIndex]):
    """The index of a system: built when it is saved, unless it was before.

    Example of a catalog entry::

        "{system}.index":
          type: mathamr_kedro.datasets.systems.IndexDataset
          filepath: data/06_models/systems/{system}.index.json
          path: data/06_models/systems/{system}

    Args:
        filepath: says which index is the present one, and what it was made from.
        path: folder of all trainings and indexes of the system.
        metadata: for Kedro-Viz.
    """

    def __init__(
        self, *, filepath: str, path: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._file, self._base = Path(filepath), Path(path)
        self.metadata = metadata

    def save(self, data: Indexing) -> None:
        """Build the index; then note which one it is."""
        system = _open_system(data.name, data.values, data.training)
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
            "folder": shorten(folder, self._base),
            "training": shorten(training, self._base) if training else None,
            "tables": {
                part: shorten(_find_folder(table), self._base)
                for part, table in data.tables.items()
            },
        }
        write_note(self._file, noted)

    def load(self) -> BuiltIndex:
        """Return the index; it is opened when it is first asked."""
        noted = read_note(self._file, "indexing")
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
        return system.open(collect(tables), model, folder)

    def _exists(self) -> bool:
        return self._file.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._file), "path": str(self._base)}


def list_reads(name: str, values: Mapping[str, Any]) -> Sequence[str]:
    """Return the parts of a collection that the index of a system is made from."""
    return _open_system(name, values, None).reads


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


class SystemRunsDataset(AbstractDataset[Sequence[Run], list[Run]]):
    """What a system found for all topics: its lists, whole, with their times.

    ::

        run   topic   rank   id   score   visual_id   post_id
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._file = Path(filepath)
        self.metadata = metadata

    def save(self, data: Sequence[Run]) -> None:
        """Write one row for each result; times and topics are kept beside them."""
        columns: dict[str, list[Any]] = {
            name: [] for name in ("run", "topic", "id", "score", "visual_id", "post_id")
        }
        for number, run in enumerate(data):
            for topic, hits in run.lists.items():
                columns["run"] += [number] * len(hits)
                columns["topic"] += [topic] * len(hits)
                columns["id"] += hits.ids
                columns["score"] += hits.scores.tolist()
                visuals: Sequence[str | None] = [None] * len(hits)
                posts = visuals
                if isinstance(hits, FormulaHits):
                    visuals, posts = hits.visual_ids, hits.post_ids
                columns["visual_id"] += visuals
                columns["post_id"] += posts
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
        table = pa.table(columns, schema=_SCHEMA)
        table = table.replace_schema_metadata({_FACTS: json.dumps(facts).encode()})
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self._file) as part:
            pq.write_table(table, part)

    def load(self) -> list[Run]:
        """Return the runs."""
        table = pq.read_table(self._file)
        rows: dict[tuple[int, str], list[int]] = {}
        keys = zip(table["run"].to_pylist(), table["topic"].to_pylist(), strict=True)
        for place, key in enumerate(keys):
            rows.setdefault(key, []).append(place)
        columns = {
            name: table[name].to_pylist() for name in ("id", "visual_id", "post_id")
        }
        scores = table["score"].to_numpy()
        runs = []
        for number, facts in enumerate(json.loads(table.schema.metadata[_FACTS])):
            lists: dict[str, Hits] = {}
            for topic, is_formulas in facts.pop("topics").items():
                places = rows.get((number, topic), [])
                found = scores[places] if places else np.zeros(0)
                ids, visuals, posts = (
                    [values[place] for place in places] for values in columns.values()
                )
                lists[topic] = (
                    FormulaHits(ids, found, visuals, posts)
                    if is_formulas
                    else Hits(ids, found)
                )
            runs.append(Run(lists=lists, **facts))
        return runs

    def _exists(self) -> bool:
        return self._file.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._file)}


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


def shorten(path: Path, base: Path) -> str:
    """Return a path as seen from a folder, so that a data root can be moved."""
    return Path(os.path.relpath(path, base)).as_posix()


def write_note(file: Path, noted: Mapping[str, Any]) -> None:
    """Note which model or index is the present one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(noted, indent=2) + "\n")


def read_note(file: Path, stage: str) -> dict[str, Any]:
    """Return what was noted.

    Raises:
        MissingInputError: nothing was; the message names the stage that does it.
    """
    if not file.is_file():
        raise MissingInputError(f"{str(file)!r} is missing; run the stage {stage!r}")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
