"""Where the runs of a benchmark come from: an environment's outputs, or run files."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kedro.io import CatalogProtocol, DatasetError

import mathamr_kedro
from mathamr_kedro.cli._processes import LOG, start_run
from mathamr_kedro.content import ContentDigests
from mathamr_kedro.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    WorkerError,
    find_cause,
)
from mathamr_kedro.experiments.benchmark import Benchmark, BenchmarkScores
from mathamr_kedro.files import fingerprint, write_text
from mathamr_kedro.hits import Hits
from mathamr_kedro.parameters import merge_parameters
from mathamr_kedro.project import list_versions, open_catalog
from mathamr_kedro.trec import Qrels, Run, read_qrels, read_run

logger = logging.getLogger(__name__)

_OUTPUTS = ("runs", "topics", "judgments", "visual_index", "posts",
            "returnable_formulas", "efficiency")  # fmt: skip
_STATE = "state.json"
_ENDINGS = (".gz", ".trec", ".tsv", ".res", ".txt", ".run", ".dat")


@dataclass(frozen=True)
class BenchmarkSource:
    """The runs and judgments of benchmarks that share an environment or a folder."""

    root: Path
    """The project."""
    env: str = ""
    data_root: str | None = None
    """Of the environment; its own where absent."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Over those of the environment."""

    @cached_property
    def catalog(self) -> CatalogProtocol:
        """Of the environment."""
        return open_catalog(self.env, self.data_root)

    def find_problem(self, benchmark: Benchmark, reuse: bool) -> str | None:
        """Return why a benchmark cannot be scored here, or nothing.

        Args:
            benchmark: of this source.
            reuse: whether outputs have to be there, instead of raw data.
        """
        remedy = "set the variable {0} to the folder of the data (docs/data.md)"
        remedy = remedy.format(benchmark.variable) if benchmark.variable else ""
        try:
            if not self.env:
                _find_folder(benchmark)
            elif not reuse:
                self.catalog.load("collection")
            elif missing := [n for n in _OUTPUTS if not self.catalog.exists(n)]:
                return (
                    f"its outputs are not there ({missing[0]!r}); run it without "
                    f"--reuse, or name them: --data-root {self.env}=FOLDER"
                )
        except (MathAMRError, DatasetError) as exc:
            text = str(find_cause(exc) or exc)
            return f"{text}; {remedy}" if remedy and remedy not in text else text
        return None

    def is_current(self) -> bool:
        """Whether the outputs are those of the present data, parameters and code."""
        if any(not self.catalog.exists(name) for name in _OUTPUTS):
            return False
        file = self._folder / _STATE
        if not file.is_file():
            return False
        return bool(json.loads(file.read_text("utf-8")) == self._describe_state())

    def run(self) -> None:
        """Run all stages of the environment; finished parts are kept.

        Raises:
            WorkerError: the run failed.
        """
        started = time.monotonic()
        folder = str(self._folder.parents[1])
        # A run with an output root of its own leaves no note of the last run.
        settings = {**self.parameters, "data_root": folder, "output_root": folder}
        log = self._folder / LOG
        logger.info("%s: kedro run --env %s (log: %s)", self.env, self.env, log)
        code = start_run(self.root, self.env, settings, self._folder).wait()
        if code != 0:
            text = log.read_text(encoding="utf-8", errors="replace")
            last = next((s for s in reversed(text.splitlines()) if s.strip()), "")
            raise WorkerError(
                f"`kedro run --env {self.env}` failed with the exit status {code} "
                f"({last.strip()}); see {str(log)!r}"
            )
        # The catalog keeps the version that it has looked at, and now there is another.
        self.__dict__.pop("catalog", None)
        write_text(self._folder / _STATE, json.dumps(self._describe_state()))
        logger.info("%s: finished after %.0f s", self.env, time.monotonic() - started)

    def score(
        self, benchmark: Benchmark, files: Sequence[Path] = ()
    ) -> BenchmarkScores:
        """Score all runs of a benchmark, and run files of others beside them.

        Args:
            benchmark: of this source.
            files: run files; those without its topics are passed over.
        """
        if not self.env:
            return self._score_files(benchmark, files)
        # Loaded here: it loads torch; who looks at versions need not wait for that.
        from mathamr_kedro.runs import list_topic_sets  # noqa: PLC0415

        load = self.catalog.load
        visual_index = load("visual_index")
        sets = list_topic_sets(
            load("topics").records(),
            load("judgments").records(),
            load("params:evaluation")["topic_sets"],
            visual_index,
        )
        chosen = [
            s
            for s in sets
            if s.task == benchmark.task and s.name in benchmark.topic_sets
        ]
        qrels = Qrels({t: g for s in chosen for t, g in s.qrels.grades.items()})
        if not qrels.grades:
            known = ", ".join(f"{s.name} (task {s.task})" for s in sets) or "none"
            raise MissingInputError(
                f"No judged topic of {', '.join(benchmark.topic_sets)} (task "
                f"{benchmark.task}) in the environment {self.env!r}; known: {known}"
            )
        own = _join_sets(load("runs"), benchmark)
        published = [_read_foreign(f, qrels, visual_index) for f in files]
        published += _read_published(benchmark, qrels, visual_index)
        runs = [*own, *_rename(own, published, qrels)]
        tables = load("posts").tables, load("returnable_formulas").tables
        found = [s.find_candidates(*tables) for s in chosen]
        judged, number = frozenset().union(*(f[0] for f in found)), found[0][1]
        scores = BenchmarkScores.of_runs(benchmark, qrels, runs, judged, number)
        facts = {
            "data_root": self.data_root,
            "runs": list_versions(self.catalog, "runs")[0],
            "candidates": number,
        }
        return replace(scores.with_costs(load("efficiency")), facts=facts)

    def _score_files(
        self, benchmark: Benchmark, files: Sequence[Path]
    ) -> BenchmarkScores:
        folder = _find_folder(benchmark)
        scale = benchmark.make_protocol().grades
        qrels = read_qrels(folder / benchmark.qrels, scale)
        own = _read_published(benchmark, qrels, None)
        others = [_read_foreign(f, qrels, None) for f in files]
        runs = [*own, *_rename(own, others, qrels)]
        return BenchmarkScores.of_runs(benchmark, qrels, runs)

    @property
    def _folder(self) -> Path:
        """What the benchmark notes about the environment's run."""
        file = self.catalog["evaluation_report"]._describe()["filepath"]
        return Path(str(file)).parent / "benchmark_run"

    def _describe_state(self) -> dict[str, Any]:
        parameters = merge_parameters(self.catalog.load("parameters"), self.parameters)
        raw = self.catalog.load("collection")
        files = [(p.name, raw.digests.digest(p)) for p in raw.check_layout()]
        return {
            "inputs": fingerprint(self.env, parameters, files, _digest_package()),
            "runs": next(iter(list_versions(self.catalog, "runs")), None),
        }

    @staticmethod
    def list_run_files(
        folder: Path, benchmark: str, suite: Iterable[str]
    ) -> list[Path]:
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


def _find_folder(benchmark: Benchmark) -> Path:
    """Return the folder that the variable names; refuse one without the judgments."""
    named = os.environ.get(benchmark.variable)
    if not named:
        raise MissingInputError(f"the variable {benchmark.variable} is not set")
    folder = Path(named).expanduser()
    if benchmark.qrels and not (folder / benchmark.qrels).is_file():
        raise MissingInputError(f"no file {str(folder / benchmark.qrels)!r}")
    return folder


def _join_sets(folder: Any, benchmark: Benchmark) -> list[Run]:
    """Return the runs of an evaluation, all topic sets of a benchmark together."""
    joined: dict[str, Run] = {}
    for entry in folder.entries:
        if entry.task == benchmark.task and entry.topic_set in benchmark.topic_sets:
            run = folder.read(entry)
            before = joined.get(run.name)
            lists = {**before.lists, **run.lists} if before else run.lists
            joined[run.name] = replace(run, lists=lists)
    return list(joined.values())


def _read_published(benchmark: Benchmark, qrels: Qrels, visual_index: Any) -> list[Run]:
    if not benchmark.runs:
        return []
    folder = _find_folder(benchmark)
    files = [f for pattern in benchmark.runs for f in sorted(folder.glob(pattern))]
    return [_read_foreign(file, qrels, visual_index) for file in files]


def _read_foreign(file: Path, qrels: Qrels, visual_index: Any) -> Run:
    """Read a run file of others; formula instances become visual ids.

    Published files hold broken lines; they count as they did for their organisers.
    """
    judged = {i for by_id in qrels.grades.values() for i in by_id}
    run = read_run(file, known_ids=judged, bad_lines="as_trec_eval")
    if not run.holds_instances or visual_index is None:
        return run
    lists = {}
    for topic in run.lists:
        hits = run.documents(topic)
        # An unknown formula keeps its place, under a name that nothing is judged by.
        ids = [visual_index(i) or f"unknown formula {i}" for i in hits.ids]
        lists[topic] = Hits(ids, hits.scores)
    return replace(run, lists=lists, holds_instances=False)


def _rename(own: Sequence[Run], others: Sequence[Run], qrels: Qrels) -> list[Run]:
    """Return the runs of others that have topics here, none with a name of ours."""
    taken, renamed = {run.name for run in own}, []
    for run in others:
        if not run.lists.keys() & qrels.grades.keys():
            continue
        name = run.name if run.name not in taken else f"{run.name} (file)"
        if name in taken:
            raise ConfigurationError(
                f"Expected run files of different names (got {run.source!r} twice)"
            )
        taken.add(name)
        renamed.append(replace(run, name=name))
    return renamed


def _digest_package() -> str:
    """Return a digest of what runs depend on: sources, and encoders beside them."""
    folder = Path(mathamr_kedro.__file__).parent
    spared = [folder / "cli", folder / "experiments" / "benchmark"]
    files = sorted(
        p
        for p in folder.rglob("*")
        if p.is_file()
        and "__pycache__" not in p.parts
        and not any(p.is_relative_to(other) for other in spared)
    )
    digests = ContentDigests()
    return fingerprint(
        *[(str(p.relative_to(folder)), digests.digest(p)) for p in files]
    )
