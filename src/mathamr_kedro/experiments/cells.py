"""Finished cells: one folder each, written atomically.

::

    experiment_cells/
      3f0c...-9a1e.../     parameters and collection, hashed
        record.json        what was run, on what, with which packages
        scores.parquet     task, topic set, system, topic, measure, score
        results.parquet    the first results of every system and topic
        metrics.json  efficiency.json  history.json
        report.md          the page of the evaluation
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.base.checksums import ChecksumCache, checksum
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.experiments.costs import Costs
from mathamr_kedro.experiments.grid import (
    CELL_STAGES,
    SHARED_STAGES,
    SYSTEMS,
    describe_key,
)

COLLECTION = (
    "math_graphs", "topic_math_graphs", "returnable_formulas",
    "training_pairs", "judgments",
)  # fmt: skip
"""Datasets that the stages of a cell start from."""

RECORD = "record.json"
"""Its file is written last: a folder with it is a finished cell."""

TopicScores = tuple[tuple[str, ...], dict[str, npt.NDArray[np.float64]]]
"""Topics, and scores by measure in their order."""

_NO_RESULTS = ("cli", "experiments", "serve", "integrations")
"""Parts of the package that no result depends on."""

_PACKAGES = ("mathamr-kedro", "torch", "numpy", "qdrant-client")


class _Sharded(Protocol):
    """A table or graphs in shards."""

    @property
    def checksum(self) -> str:
        """What it was made from; empty if it is missing."""

    def files(self) -> object:
        """Refuse an unfinished folder."""


def checksum_collection(*parts: _Sharded) -> str:
    """Return one hash of the datasets of :data:`COLLECTION`.

    Raises:
        MissingInputError: one of them is missing or unfinished.
    """
    for part in parts:
        part.files()
    marks = [part.checksum for part in parts]
    if not all(marks):
        raise MissingInputError(
            "Expected finished graphs, formulas, pairs and judgments"
        )
    return checksum(*marks)


def checksum_code() -> str:
    """Return one checksum of what results depend on: sources, and encoders beside them.

    Commands, pages and the tables of experiments change no score.
    """
    package = Path(__file__).parents[1]
    cache = ChecksumCache()
    files = [
        file
        for file in sorted(package.rglob("*"))
        if file.is_file()
        and "__pycache__" not in file.parts
        and file.relative_to(package).parts[0] not in _NO_RESULTS
    ]
    return checksum(
        *[(str(file.relative_to(package)), cache.checksum(file)) for file in files]
    )


@dataclass(frozen=True)
class CellRecord:
    """Result of one training and its evaluation."""

    key: str
    """Hash of the parameters (:func:`~mathamr_kedro.experiments.grid.describe_key`)."""
    collection: str
    """Hash of graphs, returnable formulas, pairs and judgments."""
    seed: int
    parameters: Mapping[str, Any]
    """Of the stages of a cell, and of those before it that made the collection."""
    encoder: Mapping[str, Any]
    finished: str
    """When, in ISO form."""
    versions: Mapping[str, str]
    """Of the packages that computed it."""
    amr_parser: Mapping[str, Any] = field(default_factory=dict)
    """Which one made the graphs, and with what; empty if that is not known."""
    code: str = ""
    """Checksum of the package that computed it; empty: not recorded."""

    @classmethod
    def identify(
        cls,
        parameters: Mapping[str, Any],
        encoder: Mapping[str, Any],
        collection: str,
        is_current: bool = True,
    ) -> CellRecord:
        """Return the record of an evaluation that is not finished yet.

        Args:
            parameters: all parameters of the run.
            encoder: which one is evaluated.
            collection: hash of the data.
            is_current: whether the encoder was trained with these very parameters;
                if not, the cell gets a name that no experiment looks for.
        """
        key = describe_key(parameters)
        return cls(
            key=key if is_current else checksum(key, encoder.get("folder")),
            collection=collection,
            seed=int(parameters["training"].get("seed", 0)),
            parameters={
                stage: parameters[stage]
                for stage in (*SHARED_STAGES, *CELL_STAGES, SYSTEMS)
                if stage in parameters
            },
            encoder=dict(encoder),
            finished="",
            versions={name: importlib.metadata.version(name) for name in _PACKAGES},
            code=checksum_code(),
        )

    @property
    def folder_name(self) -> str:
        """Where it is stored."""
        return f"{self.key}-{self.collection}"


@dataclass(frozen=True)
class CellOutputs:
    """A record with what belongs to it, on its way to the store."""

    record: CellRecord
    scores: pa.Table
    metrics: Sequence[Mapping[str, Any]]
    efficiency: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    report: str = ""
    """A page to read."""
    results: pa.Table | None = None
    """Of :func:`~mathamr_kedro.experiments.first_results.tabulate_results`."""

    def finish(self) -> CellOutputs:
        """Return the same with the present time in its record."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return replace(self, record=replace(self.record, finished=now))


class FinishedCell:
    """A cell in the store, read as it is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    @cached_property
    def record(self) -> CellRecord:
        """The run."""
        values = self._read(RECORD)
        try:
            return CellRecord(**values)
        except TypeError as exc:
            raise MalformedInputError(
                f"Expected the record of a cell in {str(self.folder / RECORD)!r} "
                f"({exc}); delete the folder and run the experiment again"
            ) from exc

    @cached_property
    def scores(self) -> pa.Table:
        """Scores of every topic."""
        return pq.read_table(self.folder / "scores.parquet")

    @cached_property
    def results(self) -> pa.Table | None:
        """First results of every topic; ``None``: an older version kept none."""
        file = self.folder / "results.parquet"
        return pq.read_table(file) if file.is_file() else None

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """Means over topics, with floor and ceiling."""
        return self._read("metrics.json")

    @cached_property
    def efficiency(self) -> dict[str, Any]:
        """Times and sizes."""
        found: dict[str, Any] = self._read("efficiency.json")
        return found

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """One record per epoch."""
        return self._read("history.json")

    def list_topic_sets(self, task: int) -> list[str]:
        """Return the topic sets of a task, in order."""
        mask = np.asarray(self.scores.column("task")) == task
        chosen = self.scores.filter(pa.array(mask))
        return sorted(set(chosen.column("topic_set").to_pylist()))

    def read_topic_scores(self, task: int, topic_set: str) -> dict[str, TopicScores]:
        """Return the scores of every system on one topic set; topics in order.

        A topic on which a measure is undefined (NaN) is skipped for all systems.
        """
        frame = self.scores.to_pandas()
        frame = frame[(frame["task"] == task) & (frame["topic_set"] == topic_set)]
        found: dict[str, TopicScores] = {}
        for system in dict.fromkeys(frame["system"]):
            own = frame[frame["system"] == system]
            wide = own.pivot(index="topic_id", columns="measure", values="score")
            wide = wide.sort_index()
            values = {
                str(measure): column.dropna().to_numpy(dtype=np.float64)
                for measure, column in wide.items()
            }
            found[str(system)] = (tuple(map(str, wide.index)), values)
        return found

    def costs(self, task: int) -> Costs:
        """Return times, memory and sizes of a task."""
        return Costs(self.efficiency, task)

    def _read(self, name: str) -> Any:
        file = self.folder / name
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as exc:
            raise MalformedInputError(
                f"Expected JSON in {str(file)!r} ({exc}); delete the folder and run "
                "the experiment again"
            ) from exc


class CellStore:
    """All finished cells below one folder."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        number = len(list(self.base.glob(f"[!.]*/{RECORD}")))
        cells = count_nouns(number, "finished cell")
        return f"<{type(self).__name__}: {cells}, in {self.base}>"

    def save(self, outputs: CellOutputs) -> Path:
        """Write the folder of a cell; an older one of the same name is replaced."""
        folder = self.base / outputs.record.folder_name
        with replace_folder(folder) as part:
            pq.write_table(outputs.scores, part / "scores.parquet")
            if outputs.results is not None:
                pq.write_table(outputs.results, part / "results.parquet")
            (part / "report.md").write_text(outputs.report, encoding="utf-8")
            for name, content in (
                ("metrics.json", outputs.metrics),
                ("efficiency.json", outputs.efficiency),
                ("history.json", outputs.history),
                (RECORD, asdict(outputs.record)),
            ):
                text = json.dumps(content, indent=1, ensure_ascii=False)
                (part / name).write_text(text, encoding="utf-8")
        return folder

    def find(self, key: str, collection: str) -> FinishedCell | None:
        """Return the cell of these parameters on this collection, if it is finished."""
        folder = self.base / f"{key}-{collection}"
        return FinishedCell(folder) if (folder / RECORD).is_file() else None

    def find_all(self, key: str) -> list[FinishedCell]:
        """Return the cells of these parameters on any collection, the newest last."""
        found = [
            FinishedCell(file.parent) for file in self.base.glob(f"{key}-*/{RECORD}")
        ]
        return sorted(found, key=lambda cell: cell.record.finished)

    def list(self) -> list[FinishedCell]:
        """Return all cells, the newest last."""
        found = [FinishedCell(f.parent) for f in self.base.glob(f"[!.]*/{RECORD}")]
        return sorted(found, key=lambda cell: cell.record.finished)
