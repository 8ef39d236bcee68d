"""Running cells as Kedro runs, each with parameters of its own.

``GridRun`` runs the cells of an experiment: conditions × seeds on one collection.
``CollectionRun`` runs the only cell of an environment, as the benchmark needs it.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import yaml
from kedro.io import CatalogProtocol, DatasetError

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    WorkerError,
    find_cause,
    suggest,
)
from mathamr_kedro.base.machines import show_one_device
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.base.writers import WriterLock
from mathamr_kedro.experiments import (
    COLLECTION,
    Cell,
    CellStore,
    Experiment,
    FinishedCell,
    checksum_code,
    checksum_collection,
    describe_key,
    list_cells,
    read_experiment,
)
from mathamr_kedro.experiments.grid import SHARED_STAGES
from mathamr_kedro.project.catalog import configure_kedro, find_roots, open_catalog
from mathamr_kedro.project.checks import check_stage_parameters
from mathamr_kedro.project.loader import stack_environments

if TYPE_CHECKING:
    from kedro.framework.context import KedroContext
    from kedro.framework.session import KedroSession

logger = logging.getLogger(__name__)

LOG = "log.txt"
"""What a run printed, in its folder."""

_DIE = 1  # PR_SET_PDEATHSIG

# What was prepared, trained or indexed before is found again in an instant; each run
# has pointers of its own to it.
_PREPARE = ("preprocessing",)
_ENCODE = (*_PREPARE, "training.mathamr_plus", "indexing.mathamr_plus")
_CELL_STAGES = (*_PREPARE, "training", "indexing", "evaluation")


@dataclass(frozen=True)
class Work:
    """One Kedro run of the grid."""

    name: str
    stages: tuple[str, ...]
    """Or boxes of them: ``training.mathamr_plus``."""
    parameters: Mapping[str, Any]
    folder: Path
    """Its log, its run file and what it writes for itself."""
    needs: str = ""
    """The work that must have ended well before."""
    after: tuple[str, ...] = ()
    """Works that must have ended before, well or not."""

    @property
    def log(self) -> Path:
        """Its output."""
        return self.folder / LOG


class Ending(NamedTuple):
    """How a work ended."""

    work: str
    state: Literal["finished", "failed", "skipped"]
    seconds: float


@dataclass(frozen=True)
class GridRun:
    """An experiment in a data environment, ready to run."""

    root: Path
    name: str
    data_env: str | None = None
    settings: Mapping[str, Any] | None = None
    """Parameters over those of the environments, ``data_root`` among them."""

    @property
    def env(self) -> str:
        """Both environments together."""
        return stack_environments(self.data_env, self.name) or self.name

    @cached_property
    def context(self) -> KedroContext:
        """The project in these environments."""
        return self.open_session().load_context()

    @cached_property
    def experiment(self) -> Experiment:
        """What the environment states."""
        experiment = read_experiment(self.context.params)
        if experiment is None:
            raise ConfigurationError(
                f"Expected an experiment in conf/experiments/{self.name}.yml (got no "
                "section parameters.experiment)"
            )
        return experiment

    def check_name(self) -> None:
        """Refuse a name that no experiment has."""
        known = list_experiments(self.root)
        if self.name not in known:
            raise ConfigurationError(
                f"Expected one of {known} as experiment (got {self.name!r})"
                f"{suggest(self.name, known)}; an experiment is a file "
                "conf/experiments/NAME.yml"
            )

    @property
    def store(self) -> CellStore:
        """All finished cells."""
        store: CellStore = self.context.catalog.load("experiment_cells")
        return store

    def open_session(self, **changes: Any) -> KedroSession:
        """Open a session with more parameters."""
        # Loaded here: showing results needs no session.
        from kedro.framework.session import KedroSession  # noqa: PLC0415

        configure_kedro(self.root)
        values = merge_parameters(self.settings or {}, changes)
        return KedroSession.create(self.root, env=self.env, runtime_params=values)

    def run_stages(self, stages: Sequence[str], **changes: Any) -> None:
        """Run stages, or boxes of them, in this process."""
        with self.open_session(**changes) as session:
            pipelines, boxes = _choose(stages)
            session.run(  # type: ignore[call-arg]
                pipeline_names=pipelines, namespaces=boxes or None
            )

    def ensure_collection(self) -> str:
        """Run the shared stages if they are unfinished; return the checksum."""
        try:
            _checksum(self.context.catalog)
        except (DatasetError, MathAMRError) as exc:
            if not isinstance(find_cause(exc), MissingInputError):
                raise
            self.run_stages(SHARED_STAGES[:1])
            self._check_pairs()  # before the texts are parsed
            self.run_stages(SHARED_STAGES[1:])
        self._check_pairs()
        return _checksum(self.context.catalog)

    def list_cells(self, seeds: Sequence[int] | None = None) -> list[Cell]:
        """Return all cells; every one's parameters are checked."""
        cells = list_cells(self.experiment, self.context.params, seeds)
        for cell in cells:
            whole = {**self.context.params, **cell.parameters}
            check_stage_parameters(whole)
        return cells

    def lock(self) -> WriterLock:
        """Lock the data root against other runs; the cells of this one may write."""
        command = f"mathamr experiments run {self.name}"
        return WriterLock(find_roots(self.context)[0], command)

    def has_results(self) -> bool:
        """Return whether any cell is finished."""
        return any(self.store.list(cell.key) for cell in self.list_cells())

    def plan(self, cells: Sequence[Cell], collection: str) -> list[Work]:
        """Return what there is to do: nothing for finished cells.

        What several cells share is made once before them: graphs, and encoders with
        their index. A cell waits for the first one that trains the same other system.
        """
        store = self.store
        base = store.base.with_name("experiment_runs")
        todo: dict[str, Cell] = {}
        for cell in cells:
            if store.find(cell.key, collection) is None:
                todo.setdefault(cell.key, cell)
        works: dict[str, Work] = {}
        prepared: dict[str, str] = {}
        trained: dict[str, str] = {}
        encoders = Counter(cell.training for cell in todo.values())
        for cell in todo.values():
            needs = prepared.setdefault(cell.preparation, f"graphs of {cell.condition}")
            if needs not in works:
                folder = base / f"graphs-{cell.preparation}"
                works[needs] = self._work(needs, _PREPARE, cell, folder)
            if encoders[cell.training] > 1:
                graphs, name = needs, f"encoder of {cell.name}"
                needs = prepared.setdefault(cell.training, name)
                if needs not in works:
                    folder = base / f"encoder-{cell.training}"
                    work = self._work(needs, _ENCODE, cell, folder)
                    works[needs] = replace(work, needs=graphs)
            shared = [trained.setdefault(t, cell.name) for t in cell.other_trainings]
            works[cell.name] = replace(
                self._work(cell.name, _CELL_STAGES, cell, base / cell.key),
                needs=needs,
                after=tuple(name for name in shared if name != cell.name),
            )
        return list(works.values())

    def run(self, works: Sequence[Work], devices: Sequence[str]) -> Iterator[Ending]:
        """Run what is to do; yield how each work ended.

        Preprocessing runs one at a time, cells one per device; a cell whose
        preprocessing failed is skipped.

        Args:
            works: in order; each names only works before it.
            devices: one child process on each at a time; none: in this process.
        """
        if not devices:
            ended: dict[str, Ending] = {}
            for work in works:
                ended[work.name] = self._finish(work, ended.get(work.needs))
                yield ended[work.name]
            return
        free: SimpleQueue[str] = SimpleQueue()
        for device in devices:
            free.put(device)
        found: dict[str, Future[Ending]] = {}

        def finish(work: Work) -> Ending:
            # Earlier works were started earlier, so no wait is endless.
            before = [found[name] for name in (*work.after, work.needs) if name]
            endings = [future.result() for future in before]
            is_preparation = work.stages == _PREPARE
            device = devices[0] if is_preparation else free.get()
            try:
                return self._finish(work, endings[-1] if endings else None, device)
            finally:
                if not is_preparation:
                    free.put(device)

        pools = ThreadPoolExecutor(1), ThreadPoolExecutor(len(devices))
        try:
            for work in works:
                pool = pools[work.stages != _PREPARE]
                found[work.name] = pool.submit(finish, work)
            for future in as_completed(found.values()):
                yield future.result()
        finally:
            for pool in pools:
                pool.shutdown(cancel_futures=True)

    def _check_pairs(self) -> None:
        configs = check_stage_parameters(self.context.params)
        number = self.context.catalog.load("training_pairs").counts.get("written", 0)
        configs["ingestion"].check_pairs(number, configs["training"].num_epochs)

    def _work(
        self, name: str, stages: tuple[str, ...], cell: Cell, folder: Path
    ) -> Work:
        own = merge_parameters(cell.changes, {"output_root": str(folder)})
        return Work(name, stages, merge_parameters(self.settings or {}, own), folder)

    def _finish(
        self, work: Work, needed: Ending | None, device: str | None = None
    ) -> Ending:
        """Run a work to its end, in this process if no device is named."""
        if needed is not None and needed.state != "finished":
            return Ending(work.name, "skipped", 0.0)
        started = time.perf_counter()
        if device is None:
            succeeded = self._run_here(work)
        else:
            variables = show_one_device(device, os.environ)
            arguments = (work.parameters, work.folder, work.stages, variables)
            succeeded = start_run(self.root, self.env, *arguments).wait() == 0
        seconds = time.perf_counter() - started
        return Ending(work.name, "finished" if succeeded else "failed", seconds)

    def _run_here(self, work: Work) -> bool:
        work.folder.mkdir(parents=True, exist_ok=True)
        try:
            self.run_stages(work.stages, **work.parameters)
        except Exception as exc:
            logger.exception("%s failed", work.name)
            work.log.write_text(f"{type(exc).__name__}: {exc}\n", encoding="utf-8")
            return False
        return True


@dataclass(frozen=True)
class CollectionRun:
    """All stages of an environment, whose evaluation is one cell."""

    root: Path
    """The project."""
    env: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters over those of the environment, ``data_root`` among them."""

    @property
    def catalog(self) -> CatalogProtocol:
        """Of the environment, as it is now."""
        return open_catalog(self.env, self.settings.get("data_root"))

    def find_problem(self, variable: str) -> str | None:
        """Return why the environment cannot be run, or nothing."""
        try:
            self.catalog.load("collection")
        except (MathAMRError, DatasetError) as exc:
            unset = [name for name in variable.split() if not os.environ.get(name)]
            if unset:
                names = ", ".join(unset)
                return f"set the variable {names} to the folder of its data"
            return str(find_cause(exc) or exc)
        return None

    def find(self, is_current: bool = True) -> FinishedCell | None:
        """Return the recorded evaluation with these parameters, if there is one.

        Args:
            is_current: only one of the present data and code counts.
        """
        catalog = self.catalog
        parameters = merge_parameters(catalog.load("parameters"), self.settings)
        found = catalog.load("experiment_cells").list(describe_key(parameters))
        if is_current and found:
            collection = _checksum(catalog)
            found = [c for c in found if c.record.collection == collection]
            found = [c for c in found if c.record.code == checksum_code()]
        return found[-1] if found else None

    def run(self) -> FinishedCell:
        """Run all stages of the environment; finished parts are kept."""
        cells: CellStore = self.catalog.load("experiment_cells")
        folder = cells.base.with_name("experiment_runs") / self.env
        data_root = str(cells.base.parents[1])
        # A run with an output root of its own leaves no note of the last run.
        settings = {**self.settings, "data_root": data_root, "output_root": data_root}
        log = folder / LOG
        logger.info("%s: kedro run --env %s (log: %s)", self.env, self.env, log)
        code = start_run(self.root, self.env, settings, folder).wait()
        found = self.find() if code == 0 else None
        if found is None:
            text = log.read_text(encoding="utf-8", errors="replace")
            last = next((s for s in reversed(text.splitlines()) if s.strip()), "")
            raise WorkerError(
                f"`kedro run --env {self.env}` failed with the exit status {code} "
                f"({last.strip()}); see {str(log)!r}"
            )
        return found


def start_run(
    root: Path,
    env: str,
    parameters: Mapping[str, Any],
    folder: Path,
    stages: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start ``kedro run --config`` with a file that states the whole run."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "run.yml"
    content: dict[str, Any] = {"env": env, "params": dict(parameters)}
    pipelines, boxes = _choose(stages)
    if pipelines:
        content["pipelines"] = ",".join(pipelines)
    if boxes:
        content["namespaces"] = ",".join(boxes)
    file.write_text(yaml.safe_dump({"run": content}), encoding="utf-8")
    libc = ctypes.CDLL(None)
    with (folder / LOG).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "kedro", "run", "--config", str(file.resolve())],
            cwd=root,
            env={**os.environ, **(variables or {})},
            stdout=log,
            stderr=subprocess.STDOUT,
            # A killed command leaves no child processes running.
            preexec_fn=lambda: libc.prctl(_DIE, signal.SIGKILL),  # noqa: PLW1509
        )


def _choose(stages: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the pipelines and the namespaces of stages, or of boxes of them."""
    pipelines = dict.fromkeys(name.partition(".")[0] for name in stages)
    has_boxes = any("." in name for name in stages)
    return list(pipelines), list(stages) if has_boxes else []


def _checksum(catalog: CatalogProtocol) -> str:
    return checksum_collection(*(catalog.load(name) for name in COLLECTION))


def list_experiments(root: Path) -> list[str]:
    """Return the names of the files in ``conf/experiments`` but ``_shared``."""
    return sorted(f.stem for f in (root / "conf/experiments").glob("[!_]*.yml"))


def list_devices(named: str | None = None) -> list[str]:
    """Return those that are named, or all GPUs of this machine, or the CPU."""
    if named:
        return [d for d in named.split(",") if show_one_device(d, os.environ)]
    import torch  # noqa: PLC0415 - takes seconds; who names devices need not wait

    return [f"cuda:{n}" for n in range(torch.cuda.device_count())] or ["cpu"]
