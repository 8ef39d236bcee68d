"""Kedro hooks, one class per concern."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node

from mathamr_kedro.base.errors import MathAMRError, find_cause
from mathamr_kedro.base.formatting import format_duration
from mathamr_kedro.base.shards import EndOfShards
from mathamr_kedro.base.writers import WriterLock
from mathamr_kedro.project import LastRun, find_roots
from mathamr_kedro.run_summary import summarise_run
from mathamr_kedro.runner import StageRunner
from mathamr_kedro.stages import STAGES, check_stage_parameters

logger = logging.getLogger(__name__)

_PAIRS = "training_pairs"
_LONG = 10.0
"""Seconds of a node that are worth a line."""


class ErrorHooks:
    """Show our own errors as one line on the command line, not as a traceback."""

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Replace an error that was caused by one of ours by its message."""
        _raise_plainly(find_cause(error))


class WriterHooks:
    """Let one run at a time write below a data root; readers are always free."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._locks = ExitStack()

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Note where the data are; a context alone writes nothing."""
        self._context = context

    @hook_impl
    def before_pipeline_run(self, run_params: dict[str, Any]) -> None:
        """Lock the data root, and the output root where it lies elsewhere."""
        self._locks.close()  # of a run in this process that was interrupted
        if self._context is None:
            return
        with _plain_errors(), ExitStack() as locks:
            for root in find_roots(self._context):
                lock = WriterLock(root, _name_command(run_params))
                locks.callback(lock.close)
            self._locks = locks.pop_all()

    @hook_impl(tryfirst=True)
    def after_pipeline_run(self) -> None:
        """Let others write."""
        self._locks.close()

    @hook_impl(tryfirst=True)  # before the error becomes a message
    def on_pipeline_error(self) -> None:
        """Let others write."""
        self._locks.close()


class ParameterHooks:
    """Refuse what a later stage would refuse, before anything runs."""

    def __init__(self) -> None:
        self._parameters: dict[str, Any] = {}
        self._catalog: CatalogProtocol | None = None
        self._running: list[str] = []

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Check every stage's parameters against its dataclass."""
        self._parameters = context.params
        with _plain_errors():
            check_stage_parameters(context.params)

    @hook_impl(tryfirst=True)  # before the data root is locked
    def before_pipeline_run(self, pipeline: Pipeline, catalog: CatalogProtocol) -> None:
        """Check what the stages of a run need of this machine and of the data."""
        self._catalog = catalog
        self._running = [node.namespace or "" for node in pipeline.nodes]
        with _plain_errors():
            check_stage_parameters(self._parameters, self._running)
            if _PAIRS in pipeline.inputs() and catalog.exists(_PAIRS):
                self._check_pairs()

    @hook_impl
    def after_dataset_saved(self, dataset_name: str, data: Any) -> None:
        """Stop at ingestion where the training would find nothing to learn from."""
        if dataset_name == _PAIRS and isinstance(data, EndOfShards):
            self._check_pairs()

    def _check_pairs(self) -> None:
        configs = check_stage_parameters(self._parameters)
        if self._catalog is None or not {"ingestion", "training"} <= configs.keys():
            return
        number = self._catalog.load(_PAIRS).counts.get("written", 0)
        try:
            configs["ingestion"].check_pairs(number, configs["training"].num_epochs)
        except MathAMRError as error:
            if "training" in self._running:
                raise
            logger.warning("%s", error)


class RunHooks:
    """Say what a run came to, and note it for those who look at its results."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    @hook_impl
    def before_pipeline_run(self) -> None:
        """Note the time."""
        self._started = time.perf_counter()

    @hook_impl
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: CatalogProtocol
    ) -> None:
        """Note a run of ``kedro run`` and sum it up; runs of programs are silent."""
        command = click.get_current_context(silent=True)
        if command is None or command.find_root().info_name == "mathamr":
            return
        given = run_params.get("runtime_params") or {}
        if "output_root" in given:  # a cell of an experiment
            return
        LastRun(run_params["env"], given.get("data_root")).write()
        seconds = time.perf_counter() - self._started
        made = pipeline.all_outputs()
        for line in summarise_run(catalog, made, seconds, run_params["env"], given):
            click.echo(line)


class TimingHooks:
    """Say which stage begins, and how long a node took, if that was long.

    Generator nodes report their own progress.
    """

    def __init__(self) -> None:
        self._started: dict[str, float] = {}
        self._stages: list[str] = []
        self._stage: str | None = None

    @hook_impl
    def before_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline
    ) -> None:
        """List the stages, where they run one after the other."""
        used = {node.namespace for node in pipeline.nodes}
        is_in_order = StageRunner.__name__ in str(run_params.get("runner"))
        self._stages = [s for s in STAGES if s in used] if is_in_order else []
        self._stage = None

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """Note the time; say which stage begins."""
        stage = node.namespace
        if stage in self._stages and stage != self._stage:
            self._stage, number = stage, self._stages.index(stage) + 1
            logger.info("stage %d of %d: %s", number, len(self._stages), stage)
        self._started[node.name] = time.perf_counter()

    @hook_impl
    def after_node_run(self, node: Node) -> None:
        """Log the node's wall time."""
        seconds = time.perf_counter() - self._started.pop(node.name)
        if not inspect.isgeneratorfunction(node.func):
            level = logging.INFO if seconds >= _LONG else logging.DEBUG
            logger.log(level, "%s took %s", node.name, format_duration(seconds))


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except (MathAMRError, OSError) as error:
        _raise_plainly(find_cause(error))
        raise


def _raise_plainly(error: MathAMRError | None) -> None:
    command = click.get_current_context(silent=True)
    if error is not None and command is not None:
        given = command.params.get("params") or {}
        root = command.params.get("data_root") or (
            given.get("data_root") if isinstance(given, dict) else None
        )
        place = LastRun(command.params.get("env"), root)
        raise click.ClickException(place.complete(str(error))) from error


def _name_command(run_params: dict[str, Any]) -> str:
    """Return the command of a run, as somebody would type it."""
    parts = ["kedro run"]
    if run_params.get("env"):
        parts.append(f"--env {run_params['env']}")
    if run_params.get("pipeline_names"):
        parts.append(f"--pipelines {','.join(run_params['pipeline_names'])}")
    return " ".join(parts)
