"""Finished cells: one folder each, written atomically.

::

    experiment_cells/
      3f0c...-9a1e.../     parameters and collection, hashed
        record.json        what was run, on what, with which packages
        scores.parquet     task, topic set, system, topic, measure, score
        results.parquet    the first results of every system and topic
        metrics.json  efficiency.json  history.json
        report.md          the page of the evaluation

The first results are what a cell keeps of its runs::

    task  system        topic_id  rank  document  formula_id  post_id  score
       1  mathamr_plus  A.301        1  1142010               1142010  0.928
       2  mathamr_plus  B.301        1  5071      28170       901526   1.000
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mathamr_kedro.base.checksums import ChecksumCache, checksum
from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import Judgment
from mathamr_kedro.base.types import FormulaId, PostId, TopicId
from mathamr_kedro.evaluation.tables import Costs, ScoredSet, SeedResult
from mathamr_kedro.experiments.grid import (
    CELL_STAGES,
    SHARED_STAGES,
    SYSTEMS,
    describe_key,
)
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

KEPT = 10
"""Results of a topic in a cell: as many as P'@10 looks at."""
COLLECTION = (
    "math_graphs", "topic_math_graphs", "returnable_formulas",
    "training_pairs", "judgments",
)  # fmt: skip
"""Datasets that the stages of a cell start from."""
RECORD = "record.json"
"""Its file is written last: a folder with it is a finished cell."""

_NO_RESULTS = ("cli/", "evaluation/tables/", "experiments/", "serve/", "integrations/")
"""Parts of the package that no result depends on."""
_PACKAGES = ("mathamr-kedro", "torch", "numpy", "qdrant-client")


class _FirstResult(NamedTuple):
    """One result of a system."""

    task: int
    system: str
    topic_id: TopicId
    rank: int
    document: str
    """What is judged: a post (Task 1), or a visual id (Task 2)."""
    formula_id: FormulaId
    """Its best instance; empty in Task 1."""
    post_id: PostId
    score: float


_TYPES = (
    pa.int8(), pa.string(), pa.string(), pa.int32(), pa.string(), pa.string(),
    pa.string(), pa.float64(),
)  # fmt: skip
_SCHEMA = pa.schema(list(zip(_FirstResult._fields, _TYPES, strict=True)))


def tabulate_results(
    runs: Iterable[Run], judgments: Iterable[Judgment] = ()
) -> pa.Table:
    """Return the first :data:`KEPT` results of every system and topic as a table.

    Further down, as many of those that were judged follow.
    """
    judged: dict[TopicId, set[str]] = {}
    for judgment in judgments:
        judged.setdefault(judgment.topic_id, set()).add(judgment.doc_id)
    rows = [
        row._asdict()
        for run in runs
        for topic, hits in run.lists.items()
        for row in _list_results(run, topic, hits, judged.get(topic, set()))
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def read_results(
    table: pa.Table,
    system: str,
    topic_id: TopicId,
    top: int,
    judged: Container[str] | None = None,
) -> list[_FirstResult]:
    """Return the first results of a system for a topic, best first.

    ``table`` is that of :func:`tabulate_results`; ``judged``: only these documents.
    """
    is_asked = pc.and_(
        pc.equal(table["system"], system), pc.equal(table["topic_id"], topic_id)
    )
    found = [_FirstResult(**row) for row in table.filter(is_asked).to_pylist()]
    shown = [r for r in found if judged is None or r.document in judged]
    return sorted(shown, key=lambda result: result.rank)[:top]


def _list_results(
    run: Run, topic: TopicId, hits: Hits, judged: set[str]
) -> Iterable[_FirstResult]:
    if isinstance(hits, FormulaHits):
        # The lab counts formulas that look the same once.
        first = hits.first_instances()
        keys = list(zip(first.visual_ids, first.ids, first.post_ids, strict=True))
        scores = first.scores
    else:
        keys, scores = [(key, "", key) for key in hits.ids], hits.scores
    left = KEPT
    for rank, (key, score) in enumerate(zip(keys, scores.tolist(), strict=True), 1):
        is_judged = not judged.isdisjoint(key[:2])  # by visual id, or by formula
        if rank <= KEPT or (is_judged and left > 0):
            left -= is_judged
            yield _FirstResult(run.task, run.name, topic, rank, *key, score)


def checksum_collection(*parts: Any) -> str:
    """Return one hash of the datasets of :data:`COLLECTION`: tables, graphs in shards.

    Raises:
        MissingInputError: one is missing or unfinished.
    """
    for part in parts:
        part.files()  # refuses an unfinished folder
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
        and not file.relative_to(package).as_posix().startswith(_NO_RESULTS)
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
    """Which one made the graphs, and with what."""
    code: str = ""
    """Checksum of the package that computed it."""

    @classmethod
    def identify(
        cls,
        parameters: Mapping[str, Any],
        encoder: Mapping[str, Any],
        collection: str,
        amr_parser: Mapping[str, Any],
        is_current: bool = True,
    ) -> CellRecord:
        """Return the record of an evaluation that is not finished yet.

        Args:
            parameters: all parameters of the run.
            encoder: which one is evaluated.
            collection: hash of the data.
            amr_parser: which one made the graphs.
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
            amr_parser=dict(amr_parser),
            code=checksum_code(),
        )


@dataclass(frozen=True)
class CellOutputs:
    """A record with what belongs to it, on its way to the store."""

    record: CellRecord
    scores: pa.Table
    results: pa.Table
    """Of :func:`tabulate_results`."""
    metrics: Sequence[Mapping[str, Any]]
    efficiency: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    report: str = ""
    """A page to read."""


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
        return self._read("scores.parquet")

    @cached_property
    def results(self) -> pa.Table:
        """First results of every topic."""
        return self._read("results.parquet")

    @cached_property
    def metrics(self) -> list[dict[str, Any]]:
        """Means over topics, with floor and ceiling."""
        return self._read("metrics.json")

    @cached_property
    def efficiency(self) -> dict[str, Any]:
        """Times and sizes."""
        return dict(self._read("efficiency.json"))

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """One record per epoch."""
        return self._read("history.json")

    def list_topic_sets(self, task: int) -> list[str]:
        """Return the topic sets of a task, in order."""
        chosen = self.scores.filter(pc.equal(self.scores["task"], task))
        return sorted(set(chosen["topic_set"].to_pylist()))

    def read_scores(self, task: int, topic_set: str) -> ScoredSet:
        """Return scores and costs of every system on one topic set; topics in order.

        A topic on which a measure is undefined (NaN) is skipped for all systems.
        """
        frame = self.scores.to_pandas()
        frame = frame[(frame["task"] == task) & (frame["topic_set"] == topic_set)]
        costs = self.costs(task)
        topics: tuple[str, ...] = ()
        systems = {}
        for system, own in frame.groupby("system", sort=False):
            wide = own.pivot(index="topic_id", columns="measure", values="score")
            topics = tuple(map(str, wide.index))
            systems[str(system)] = SeedResult(
                self.record.seed,
                {
                    str(measure): column.dropna().to_numpy(dtype=np.float64)
                    for measure, column in wide.items()
                },
                costs.figures(system),
                costs.machines(system),
                self.folder.name,
                str(system),
            )
        means = [
            m for m in self.metrics if (m["task"], m["topic_set"]) == (task, topic_set)
        ]
        floors, ceilings = (
            {m["measure"]: m[bound] for m in means} for bound in ("floor", "ceiling")
        )
        return ScoredSet(task, topic_set, topics, systems, floors, ceilings)

    def costs(self, task: int) -> Costs:
        """Return times, memory and sizes of a task."""
        return Costs(self.efficiency, task)

    def _read(self, name: str) -> Any:
        file = self.folder / name
        try:
            if file.suffix == ".parquet":
                return pq.read_table(file)
            return json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as exc:
            raise MalformedInputError(
                f"Expected JSON or Parquet in {str(file)!r} ({exc}); delete the folder "
                "and run the experiment again"
            ) from exc


class CellStore:
    """All finished cells below one folder."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        cells = count_nouns(len(self.list()), "finished cell")
        return f"<{type(self).__name__}: {cells}, in {self.base}>"

    def save(self, outputs: CellOutputs) -> Path:
        """Write the folder of a cell; an older one of the same name is replaced."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        record = replace(outputs.record, finished=now)
        folder = self.base / f"{record.key}-{record.collection}"
        with replace_folder(folder) as part:
            pq.write_table(outputs.scores, part / "scores.parquet")
            pq.write_table(outputs.results, part / "results.parquet")
            (part / "report.md").write_text(outputs.report, encoding="utf-8")
            for name, content in (
                ("metrics.json", outputs.metrics),
                ("efficiency.json", outputs.efficiency),
                ("history.json", outputs.history),
                (RECORD, asdict(record)),
            ):
                text = json.dumps(content, indent=1, ensure_ascii=False)
                (part / name).write_text(text, encoding="utf-8")
        logger.info("results are recorded in %s", folder)
        return folder

    def find(self, key: str, collection: str) -> FinishedCell | None:
        """Return the cell of these parameters on this collection, if it is finished."""
        folder = self.base / f"{key}-{collection}"
        return FinishedCell(folder) if (folder / RECORD).is_file() else None

    def list(self, key: str = "[!.]*") -> list[FinishedCell]:
        """Return cells on any collection, the newest last; ``key``: only these."""
        files = self.base.glob(f"{key}-*/{RECORD}")
        found = [FinishedCell(file.parent) for file in files]
        return sorted(found, key=lambda cell: cell.record.finished)
