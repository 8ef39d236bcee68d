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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from kedro.io import AbstractVersionedDataset, DatasetError, Version

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.evaluation.metrics import count_ties
from mathamr_kedro.trec import Run, RunForm, read_run, write_run

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

    def __repr__(self) -> str:
        entries = self.entries if (self.folder / _LIST_NAME).is_file() else []
        systems = count_nouns(len({e.system for e in entries}), "system")
        sets = count_nouns(len({(e.task, e.topic_set) for e in entries}), "topic set")
        runs = f"{count_nouns(len(entries), 'run')} of {systems} on {sets}"
        return f"<{type(self).__name__}: {runs}, in {self.folder}>"

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
        return replace(
            run,
            name=entry.system,
            source=entry.trec,
            task=entry.task,
            topic_set=entry.topic_set,
        )

    def __iter__(self) -> Iterator[tuple[RunEntry, Run]]:
        return ((entry, self.read(entry)) for entry in self.entries)


class RunFolderDataset(AbstractVersionedDataset[Sequence[Run], RunFolder]):
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

    def save(self, data: Sequence[Run]) -> None:
        """Write the files; the list comes last."""
        folder = Path(self._get_save_path())
        runs = {_name_file(run): run for run in data}
        if len(runs) < len(data):
            raise ConfigurationError(
                "Two systems want one file: names that differ only in '/' and '-', in "
                f"{sorted({run.name for run in data})}"
            )
        entries = [_write_run(folder, stem, run) for stem, run in runs.items()]
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


def _name_file(run: Run) -> str:
    """Return the name of a run's files, without their ending."""
    return f"task{run.task}/{run.topic_set}/{run.name.replace('/', '-')}"


def _write_run(folder: Path, stem: str, run: Run) -> RunEntry:
    """Write both forms of a run of one topic set."""
    trec, submission = f"{stem}.trec", f"{stem}.tsv"
    named = replace(run, name=stem.rpartition("/")[2])
    write_run(folder / trec, named, depth=None)
    form: RunForm = "arqmath1" if run.task == 1 else "arqmath2"
    write_run(folder / submission, named, form, depth=None)
    lists = run.lists.values()
    return RunEntry(
        run.task,
        run.topic_set,
        run.name,
        trec,
        submission,
        topics=len(lists),
        results=sum(len(hits.scores) for hits in lists),
        ties=sum(count_ties(hits.scores) for hits in lists),
    )
