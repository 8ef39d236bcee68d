"""What happens around the nodes of a run."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import AbstractVersionedDataset, CatalogProtocol, MemoryDataset
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, suggest
from mathamr_kedro.base.writers import WriterLock
from mathamr_kedro.datasets.optional_json import OptionalJSONDataset
from mathamr_kedro.project.catalog import LastRun, find_roots, note_environment
from mathamr_kedro.project.checks import check_stage_parameters
from mathamr_kedro.project.hints import plain_errors
from mathamr_kedro.project.summary import summarise_run

logger = logging.getLogger(__name__)


class ProjectHooks:
    """Checks before a run, its progress, one writer per data root, a summary after."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._locks = ExitStack()
        self._started = time.perf_counter()
        self._nodes = self._begun = 0

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Check the parameters of every stage against its dataclass."""
        self._context = context
        with plain_errors():
            check_stage_parameters(context.config_loader["parameters"])
            _check_names()

    @hook_impl
    def before_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: CatalogProtocol
    ) -> None:
        """Check what the stages need of this machine; lock the data root."""
        self._started, self._nodes = time.perf_counter(), len(pipeline.nodes)
        self._begun = 0
        self._locks.close()  # of a run in this process that was interrupted
        if self._context is None:
            return
        parameters = self._context.config_loader["parameters"]
        stages = {(node.namespace or "").partition(".")[0] for node in pipeline.nodes}
        with plain_errors(), ExitStack() as locks:
            check_stage_parameters(parameters, stages)
            _check_inputs(pipeline, catalog)
            _check_clock(pipeline, catalog)
            for root in find_roots(self._context):
                lock = WriterLock(root, _name_command(run_params))
                locks.callback(lock.close)
            self._locks = locks.pop_all()

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """Log which node begins."""
        self._begun += 1
        logger.info("%d of %d: %s", self._begun, self._nodes, node.name)

    @hook_impl
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: CatalogProtocol
    ) -> None:
        """Release the lock; print a summary of ``kedro run`` and record it as last."""
        given = run_params.get("runtime_params") or {}
        is_cell = "output_root" in given  # of an experiment
        if "mathamr_plus.index" in pipeline.all_outputs() and not is_cell:
            note_environment(catalog, run_params["env"])
        self._locks.close()
        command = click.get_current_context(silent=True)
        if command is None or command.find_root().info_name == "mathamr" or is_cell:
            return
        last = LastRun(run_params["env"], given.get("data_root"))
        last.write()
        seconds, made = time.perf_counter() - self._started, pipeline.all_outputs()
        for line in summarise_run(catalog, made, seconds, *last):
            click.echo(line)

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Release the lock; on the command line, replace our error by its message."""
        self._locks.close()
        if click.get_current_context(silent=True) is not None:
            with plain_errors():
                raise error


def _check_names() -> None:
    """Reject unknown pipeline and node names, with suggestions.

    Kedro finds that out later, and shows a traceback without them.
    """
    command = click.get_current_context(silent=True)
    if command is None or command.info_name != "run":
        return
    given = command.params
    chosen = [*(given.get("pipelines") or ())]
    chosen += [given["pipeline"]] if given.get("pipeline") else []
    for name in chosen:
        if name not in pipelines:
            raise ConfigurationError(
                f"Expected pipelines among {', '.join(pipelines)} (got {name!r})"
                f"{suggest(name, list(pipelines))}"
            )
    options = ("node_names", "from_nodes", "to_nodes")
    wanted = [name for option in options for name in given.get(option) or ()]
    if wanted:
        found = [pipelines[name] for name in chosen or ["__default__"]]
        nodes = sorted(node.name for pipeline in found for node in pipeline.nodes)
        for name in wanted:
            if name not in nodes:
                raise ConfigurationError(
                    f"No node {name!r} in {', '.join(chosen) or 'the project'} "
                    "(`kedro registry describe PIPELINE` lists them)"
                    f"{suggest(name, nodes)}"
                )


def _check_inputs(pipeline: Pipeline, catalog: CatalogProtocol) -> None:
    """Refuse a run without its inputs; Kedro finds that out when their node begins.

    Raises:
        MissingInputError: the collection is missing, or stages have to run first.
        ConfigurationError: the run begins behind a node whose output is not stored.
    """
    missing = {
        name
        for name in pipeline.inputs()
        if not name.startswith(("parameters", "params:"))
        and not isinstance(catalog.get(name), OptionalJSONDataset)
        and not catalog.exists(name)
    }
    whole = pipelines.get("__default__", pipeline)
    makers = [node.name for node in whole.nodes if missing & {*node.outputs}]
    if "collection" in missing or (
        makers and "collection" in whole.to_nodes(*makers).inputs()
    ):
        catalog.load("collection")  # says what is missing of it
    if unsaved := {n for n in missing if isinstance(catalog.get(n), MemoryDataset)}:
        makers = [node.name for node in whole.nodes if unsaved & {*node.outputs}]
        if makers:
            raise ConfigurationError(
                f"Expected a run that makes {', '.join(sorted(unsaved))}, which is not "
                f"stored: begin with --from-nodes {','.join(makers)}"
            )
    elif makers:
        stages = dict.fromkeys(name.partition(".")[0] for name in makers)
        raise MissingInputError(
            f"{', '.join(sorted(missing))} is missing; run `kedro run --pipelines "
            f"{','.join(stages)}` first"
        )


def _check_clock(pipeline: Pipeline, catalog: CatalogProtocol) -> None:
    """Refuse a clock that is behind: Kedro loads the version with the latest name."""
    for name in pipeline.all_outputs():
        dataset = catalog.get(name)
        if not isinstance(dataset, AbstractVersionedDataset) or not dataset.exists():
            continue
        newest, ours = dataset.resolve_load_version(), dataset.resolve_save_version()
        if newest is not None and ours is not None and newest >= ours:
            folder = Path(str(dataset._describe()["filepath"])) / newest
            raise ConfigurationError(
                f"Expected a time after that of {str(folder)!r} (got {ours!r}); set "
                "the clock of this machine and run again, or delete that version"
            )


def _name_command(run_params: dict[str, Any]) -> str:
    """Return the command of a run, as one would type it."""
    parts = ["kedro run"]
    if run_params.get("env"):
        parts.append(f"--env {run_params['env']}")
    if run_params.get("pipeline_names"):
        parts.append(f"--pipelines {','.join(run_params['pipeline_names'])}")
    return " ".join(parts)
