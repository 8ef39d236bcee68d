"""Kedro hooks, one class per concern."""

from __future__ import annotations

import inspect
import logging
import time
from contextlib import ExitStack
from typing import Any

import click
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline.node import Node

from mathamr_kedro.errors import MathAMRError, find_cause
from mathamr_kedro.project import LastRun, find_roots
from mathamr_kedro.stages import check_stage_parameters
from mathamr_kedro.writers import WriterLock

logger = logging.getLogger(__name__)


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
        try:
            for root in find_roots(self._context):
                lock = WriterLock(root, _name_command(run_params))
                self._locks.callback(lock.close)
        except (MathAMRError, OSError) as error:
            self._locks.close()
            _raise_plainly(find_cause(error))
            raise

    @hook_impl(tryfirst=True)
    def after_pipeline_run(self) -> None:
        """Let others write."""
        self._locks.close()

    @hook_impl(tryfirst=True)  # before the error becomes a message
    def on_pipeline_error(self) -> None:
        """Let others write."""
        self._locks.close()


class ParameterHooks:
    """Refuse unknown or ill-typed parameters before anything runs."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Check every stage's parameters against its dataclass."""
        try:
            check_stage_parameters(context.params)
        except MathAMRError as error:
            _raise_plainly(error)
            raise


class RunHooks:
    """Note which environment was run last, for those who look at its results."""

    @hook_impl
    def after_pipeline_run(self, run_params: dict[str, Any]) -> None:
        """Write the note for a run of ``kedro run``; runs of programs leave none."""
        command = click.get_current_context(silent=True)
        if command is None or command.find_root().info_name == "mathamr":
            return
        given = run_params.get("runtime_params") or {}
        if "output_root" not in given:  # a cell of an experiment
            LastRun(run_params["env"], given.get("data_root")).write()


class TimingHooks:
    """Say how long each node took (generator nodes report their own progress)."""

    def __init__(self) -> None:
        self._started: dict[str, float] = {}

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """Note the time."""
        self._started[node.name] = time.perf_counter()

    @hook_impl
    def after_node_run(self, node: Node) -> None:
        """Log the node's wall time."""
        seconds = time.perf_counter() - self._started.pop(node.name)
        if not inspect.isgeneratorfunction(node.func):
            logger.info("%s took %.1f s", node.name, seconds)


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
