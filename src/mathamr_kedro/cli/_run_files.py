"""Run files as rows of a benchmark: those of an evaluation, published ones, others'."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.experiments.benchmark import Benchmark
from mathamr_kedro.trec import Qrels, Run, read_run

if TYPE_CHECKING:
    from mathamr_kedro.datasets import RunFolder

_ENDINGS = (".gz", ".trec", ".tsv", ".res", ".txt", ".run", ".dat")


@dataclass(frozen=True)
class RunFiles:
    """Runs of one benchmark, from wherever they come."""

    benchmark: Benchmark
    qrels: Qrels
    visual_id_of: Callable[[str], str | None] | None = None
    """Turns formula instances into what is judged, where instances may be returned."""

    def gather(self, folder: RunFolder | None, files: Sequence[Path]) -> list[Run]:
        """Return the runs of an evaluation, published ones, and those of files.

        Args:
            folder: what the evaluation of an environment wrote.
            files: of others; those without topics of the benchmark are passed over.
        """
        own = self._join_sets(folder) if folder is not None else []
        others: list[Path] = []
        if self.benchmark.runs:
            base = self.find_folder(self.benchmark)
            others = [f for p in self.benchmark.runs for f in sorted(base.glob(p))]
        return own + self._rename(own, [self._read(f) for f in (*others, *files)])

    @staticmethod
    def find_folder(benchmark: Benchmark) -> Path:
        """Return the folder that the variable of a benchmark names.

        Raises:
            MissingInputError: it is not set, or the judgments are not there.
        """
        named = os.environ.get(benchmark.variable)
        if not named:
            raise MissingInputError(f"the variable {benchmark.variable} is not set")
        folder = Path(named).expanduser()
        if benchmark.qrels and not (folder / benchmark.qrels).is_file():
            raise MissingInputError(f"no file {str(folder / benchmark.qrels)!r}")
        return folder

    @staticmethod
    def list_files(folder: Path, benchmark: str, suite: Iterable[str]) -> list[Path]:
        """Return the run files of a folder that may belong to a benchmark.

        Those in a subfolder with the name of a benchmark belong to it alone.

        Raises:
            MissingInputError: there is no such folder, or no run file in it.
        """
        found = [
            p
            for p in sorted(folder.rglob("*"))
            if p.is_file() and p.name.endswith(_ENDINGS) and p.name[0] != "."
        ]
        if not found:
            raise MissingInputError(
                f"Expected run files ({', '.join(_ENDINGS)}) in the folder "
                f"{str(folder)!r} (got none)"
            )
        others = {*suite} - {benchmark}
        return [p for p in found if not others & {*p.relative_to(folder).parts[:-1]}]

    def _join_sets(self, folder: RunFolder) -> list[Run]:
        """Return the runs of an evaluation, all topic sets of a benchmark together."""
        joined: dict[str, Run] = {}
        for entry in folder.entries:
            is_own = entry.topic_set in self.benchmark.topic_sets
            if is_own and entry.task == self.benchmark.task:
                run = folder.read(entry)
                before = joined.get(run.name)
                lists = {**before.lists, **run.lists} if before else run.lists
                joined[run.name] = replace(run, lists=lists)
        return list(joined.values())

    def _read(self, file: Path) -> Run:
        """Read a run file of others; formula instances become visual ids.

        Published files hold broken lines; they count as they did for their organisers.
        """
        judged = {i for by_id in self.qrels.grades.values() for i in by_id}
        run = read_run(file, known_ids=judged, bad_lines="as_trec_eval")
        if not run.holds_instances or self.visual_id_of is None:
            return run
        lists = {}
        for topic in run.lists:
            hits = run.documents(topic)
            # An unknown formula keeps its place, under a name that is never judged.
            ids = [self.visual_id_of(i) or f"unknown formula {i}" for i in hits.ids]
            lists[topic] = Hits(ids, hits.scores)
        return replace(run, lists=lists, holds_instances=False)

    def _rename(self, own: Sequence[Run], others: Sequence[Run]) -> list[Run]:
        """Return the runs of others that have topics here, none with a name of ours."""
        taken, renamed = {run.name for run in own}, []
        for run in others:
            if not run.lists.keys() & self.qrels.grades.keys():
                continue
            name = run.name if run.name not in taken else f"{run.name} (file)"
            if name in taken:
                raise ConfigurationError(
                    f"Expected run files of different names (got {run.source!r} twice)"
                )
            taken.add(name)
            renamed.append(replace(run, name=name))
        return renamed
