"""Kedro hooks, one class per concern."""

from __future__ import annotations

import inspect
import logging
import time
from typing import Any

import click
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline.node import Node

from mathamr_kedro.errors import MathAMRError, find_cause
from mathamr_kedro.project import LastRun
from mathamr_kedro.stages import check_stage_parameters

logger = logging.getLogger(__name__)


class ErrorHooks:
    """Show our own errors as one line on the command line, not as a traceback."""

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Replace an error that was caused by one of ours by its message."""
        cause = find_cause(error)
        if cause is not None:
            _raise_plainly(cause)


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


def _raise_plainly(error: MathAMRError) -> None:
    if click.get_current_context(silent=True) is not None:
        raise click.ClickException(str(error)) from error
