"""Where the runs of a benchmark come from: an environment's outputs, or run files."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kedro.io import CatalogProtocol, DatasetError
from omegaconf import OmegaConf

import mathamr_kedro
from mathamr_kedro.base.checksums import ChecksumCache, checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    WorkerError,
    find_cause,
    suggest,
)
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.parameters import merge_parameters, read_parameters
from mathamr_kedro.cli._processes import LOG, start_run
from mathamr_kedro.cli._run_files import RunFiles
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.experiments.benchmark import Benchmark, BenchmarkScores
from mathamr_kedro.project import list_versions, open_catalog
from mathamr_kedro.stages import SETTINGS
from mathamr_kedro.trec import Qrels, read_qrels

logger = logging.getLogger(__name__)

_OUTPUTS = ("runs", "topics", "judgments", "visual_index", "posts",
            "returnable_formulas", "efficiency")  # fmt: skip
_STATE = "state.json"


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

    @classmethod
    def open_all(
        cls,
        root: Path,
        suite: Mapping[str, Benchmark],
        chosen: Sequence[Benchmark],
        data_roots: Sequence[str],
        params: Sequence[str],
    ) -> dict[str, BenchmarkSource]:
        """Return a source for each environment of the benchmarks, by its name.

        Args:
            root: the project.
            suite: all benchmarks.
            chosen: those that are asked for.
            data_roots: texts such as ``pool=FOLDER``, or a folder of the only one.
            params: texts such as ``indexing.engine.engine=exact``.

        Raises:
            ConfigurationError: a text cannot be read, or names no environment.
        """
        given = OmegaConf.from_dotlist(list(params))
        parameters: dict[str, Any] = OmegaConf.to_container(given)  # type: ignore[assignment]
        for name in SETTINGS:
            if name in parameters:
                raise ConfigurationError(
                    f"Expected parameters of stages for --params (got {name!r}); name "
                    "folders with --data-root ENV=FOLDER, or by the variable of --list"
                )
        environments = list(dict.fromkeys(b.environment for b in chosen))
        known = list(dict.fromkeys(b.environment for b in suite.values()))
        asked, known = ([e for e in names if e] for names in (environments, known))
        folders = dict(_read_folder(text, asked, known) for text in data_roots)
        return {
            env: cls(root, env, folders.get(env), parameters) for env in environments
        }

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
        try:
            if not self.env:
                RunFiles.find_folder(benchmark)
            elif not reuse:
                self.catalog.load("collection")
            elif missing := [n for n in _OUTPUTS if not self.catalog.exists(n)]:
                return (
                    f"its outputs are not there ({missing[0]!r}); run it without "
                    f"--reuse, or name them: --data-root {self.env}=FOLDER"
                )
        except (MathAMRError, DatasetError) as exc:
            variable = benchmark.variable
            if variable and not os.environ.get(variable):
                return f"set the variable {variable} to the folder of its data"
            return str(find_cause(exc) or exc)
        return None

    def is_current(self) -> bool:
        """Whether the outputs are those of the present data, parameters and code."""
        if any(not self.catalog.exists(name) for name in _OUTPUTS):
            return False
        try:
            noted = json.loads((self._folder / _STATE).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        return bool(noted == self._describe_state())

    def read_tests(self) -> TestConfig:
        """Return how the environment tests differences."""
        values = self.catalog.load("params:significance")["tests"]
        return read_parameters(TestConfig, values, where="significance.tests")

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
        runs = RunFiles(benchmark, qrels, visual_index).gather(load("runs"), files)
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
        folder = RunFiles.find_folder(benchmark)
        scale = benchmark.make_protocol().grades
        qrels = read_qrels(folder / benchmark.qrels, scale)
        runs = RunFiles(benchmark, qrels).gather(None, files)
        return BenchmarkScores.of_runs(benchmark, qrels, runs)

    @property
    def _folder(self) -> Path:
        """What the benchmark notes about the environment's run."""
        file = self.catalog["evaluation_report"]._describe()["filepath"]
        return Path(str(file)).parent / "benchmark_run"

    def _describe_state(self) -> dict[str, Any]:
        parameters = merge_parameters(self.catalog.load("parameters"), self.parameters)
        raw = self.catalog.load("collection")
        files = [(p.name, raw.checksums.checksum(p)) for p in raw.check_layout()]
        return {
            "inputs": checksum(self.env, parameters, files, _checksum_package()),
            "runs": next(iter(list_versions(self.catalog, "runs")), None),
        }


def _read_folder(
    text: str, asked: Sequence[str], known: Sequence[str]
) -> tuple[str, str]:
    """Return an environment and its data root; a bare folder is of the only one."""
    env, is_named, folder = text.partition("=")
    if not is_named and len(asked) == 1:
        env, folder = asked[0], text
    if env not in known or not folder:
        raise ConfigurationError(
            f"Expected ENV=FOLDER for --data-root, with ENV one of "
            f"{', '.join(known)} (got {text!r}){suggest(env, known)}"
        )
    return env, str(Path(folder).resolve())


def _checksum_package() -> str:
    """Return a checksum of what runs depend on: sources, and encoders beside them."""
    folder = Path(mathamr_kedro.__file__).parent
    spared = [folder / "cli", folder / "experiments" / "benchmark"]
    files = sorted(
        p
        for p in folder.rglob("*")
        if p.is_file()
        and "__pycache__" not in p.parts
        and not any(p.is_relative_to(other) for other in spared)
    )
    cache = ChecksumCache()
    return checksum(*[(str(p.relative_to(folder)), cache.checksum(p)) for p in files])
