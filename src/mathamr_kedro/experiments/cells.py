"""Finished cells: one folder each, whole or not there.

::

    experiment_cells/
      3f0c...-9a1e.../     parameters and collection, hashed
        record.json        what was run, on what, with which packages
        scores.parquet     task, topic set, system, topic, measure, score
        metrics.json  efficiency.json  history.json
        report.md          the page of the evaluation
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.files import replace_folder

RECORD = "record.json"


@dataclass(frozen=True)
class CellRecord:
    """What one training and its evaluation reached."""

    key: str
    """Hash of the parameters (:func:`~mathamr_kedro.experiments.grid.describe_key`)."""
    collection: str
    """Hash of graphs, pairs and judgments."""
    seed: int
    parameters: Mapping[str, Any]
    """Of the stages of a cell."""
    encoder: Mapping[str, Any]
    finished: str
    """When, in ISO form."""
    versions: Mapping[str, str]
    """Of the packages that computed it."""

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
    """A page for people."""


class FinishedCell:
    """A cell in the store, read as it is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    @cached_property
    def record(self) -> CellRecord:
        """What was run."""
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
    def metrics(self) -> list[dict[str, Any]]:
        """Means over topics, with floor and ceiling."""
        return self._read("metrics.json")

    @cached_property
    def efficiency(self) -> dict[str, Any]:
        """Times and sizes."""
        return self._read("efficiency.json")

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """One record per epoch."""
        return self._read("history.json")

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

    def save(self, outputs: CellOutputs) -> Path:
        """Write the folder of a cell; an older one of the same name is replaced."""
        folder = self.base / outputs.record.folder_name
        with replace_folder(folder) as part:
            pq.write_table(outputs.scores, part / "scores.parquet")
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
