"""Runs as a dataset: a folder of run files that any tool can score.

```
runs.json                          what is here, with the names of the systems
task1/ARQMath-1/bm25.trec          topic Q0 post rank score run
task1/ARQMath-1/bm25.tsv           the lab's form: topic post rank score run
task2/ARQMath-1/bm25.trec          topic Q0 visual_id rank score run
task2/ARQMath-1/bm25.tsv           topic formula post rank score run
```
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kedro.io import AbstractVersionedDataset, DatasetError, Version

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.metrics.rankings import count_ties
from mathamr_kedro.metrics.run_files import read_run, write_run
from mathamr_kedro.metrics.runs import Run
from mathamr_kedro.runs.system_runs import RankedList, SystemRun
from mathamr_kedro.types import TopicId

_LIST_NAME = "runs.json"


@dataclass(frozen=True)
class RunEntry:
    """One run of the folder."""

    task: int
    topic_set: str
    system: str
    trec: str
    """File in TREC form, relative to the folder."""
    submission: str
    """File in the form of the lab."""
    topics: int
    results: int
    ties: int
    """Results that shared their score with another; in the files they do not."""


class RunFolder:
    """The runs of one evaluation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def entries(self) -> list[RunEntry]:
        """All runs, in the order of the systems."""
        file = self.folder / _LIST_NAME
        if not file.is_file():
            raise MissingInputError(
                f"{str(file)!r} is missing; run the stage 'evaluation'"
            )
        return [RunEntry(**e) for e in json.loads(file.read_text(encoding="utf-8"))]

    def read(self, entry: RunEntry) -> Run:
        """Read one run; documents of Task 2 are visual ids."""
        run = read_run(self.folder / entry.trec, form="trec")
        return Run(entry.system, run.results, source=entry.trec)

    def __iter__(self) -> Iterator[tuple[RunEntry, Run]]:
        return ((entry, self.read(entry)) for entry in self.entries)


class RunFolderDataset(AbstractVersionedDataset[Sequence[SystemRun], RunFolder]):
    """Saves runs of topic sets; loads a :class:`RunFolder`.

    Example of a catalog entry::

        runs:
          type: mathamr_kedro.datasets.run_folder.RunFolderDataset
          filepath: data/07_model_output/runs
          versioned: true
    """

    def __init__(
        self,
        *,
        filepath: str,
        version: Version | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(
            filepath=PurePosixPath(Path(filepath).absolute().as_posix()),
            version=version,
        )
        self.metadata = metadata

    def load(self) -> RunFolder:
        """Return the runs without reading them."""
        return RunFolder(Path(self._get_load_path()))

    def save(self, data: Sequence[SystemRun]) -> None:
        """Write the files; the list comes last."""
        folder = Path(self._get_save_path())
        runs = {_name_file(run): run for run in data}
        if len(runs) < len(data):
            raise ConfigurationError(
                "Two systems want one file: names that differ in '/' and '-' alone, in "
                f"{sorted({run.system for run in data})}"
            )
        entries = [_write_system_run(folder, stem, run) for stem, run in runs.items()]
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps([asdict(entry) for entry in entries], indent=1)
        (folder / _LIST_NAME).write_text(text + "\n", encoding="utf-8")

    def _exists(self) -> bool:
        try:
            return (Path(self._get_load_path()) / _LIST_NAME).is_file()
        except DatasetError:
            return False

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath), "version": self._version}


def _name_file(run: SystemRun) -> str:
    """Return the name of a run's files, without their ending."""
    return f"task{run.task}/{run.topic_set}/{run.system.replace('/', '-')}"


def _write_system_run(folder: Path, stem: str, run: SystemRun) -> RunEntry:
    """Write both forms of a run of one topic set."""
    trec, submission, name = f"{stem}.trec", f"{stem}.tsv", stem.rpartition("/")[2]
    (folder / trec).parent.mkdir(parents=True, exist_ok=True)
    write_run(folder / trec, _pairs(run.lists, formulas=False), name, depth=None)
    if run.task == 1:
        pairs = _pairs(run.lists, formulas=False)
        write_run(folder / submission, pairs, name, "arqmath1", depth=None)
    else:
        posts = {
            formula: post
            for found in run.lists.values()
            for formula, post in zip(found.formula_ids, found.post_ids, strict=True)
        }
        pairs = _pairs(run.lists, formulas=True)
        write_run(folder / submission, pairs, name, "arqmath2", None, posts)
    return RunEntry(
        run.task,
        run.topic_set,
        run.system,
        trec,
        submission,
        topics=len(run.lists),
        results=sum(len(found.ids) for found in run.lists.values()),
        ties=sum(count_ties(found.scores) for found in run.lists.values()),
    )


def _pairs(
    lists: Mapping[TopicId, RankedList], formulas: bool
) -> dict[TopicId, list[tuple[str, float]]]:
    return {
        topic: list(
            zip(
                found.formula_ids if formulas else found.ids,
                found.scores.tolist(),
                strict=True,
            )
        )
        for topic, found in lists.items()
    }
