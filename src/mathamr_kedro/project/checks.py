"""The stages of the project and the dataclass that checks each one's parameters."""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from mathamr_kedro import pipelines
from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.experiments import GROUP, read_experiment
from mathamr_kedro.experiments.grid import SYSTEM, SYSTEMS
from mathamr_kedro.systems.registry import find_missing, read_system

_PARAMETERS: Mapping[str, str] = {
    "ingestion": "pipelines.ingestion:IngestionConfig",
    "amr_parsing": "pipelines.amr_parsing:AmrParsingConfig",
    "graph_fusion": "pipelines.graph_fusion:GraphFusionConfig",
    "preprocessing": "pipelines.preprocessing:PreprocessingStageConfig",
    "training": "learning.stage:TrainingStageConfig",
    "indexing": "systems.mathamr_plus:IndexingConfig",
    "evaluation": "pipelines.evaluation:EvaluationConfig",
    "significance": "pipelines.significance:SignificanceConfig",
}
"""Where the dataclass of each stage is; it is loaded when it is asked for."""

STAGES = tuple(_PARAMETERS)
"""In the order in which the data flows; each has one top key in the parameters."""

FOLDERS = "folders"
"""Parameters that say where nodes work."""

SETTINGS = ("data_root", "raw_root", "output_root", "split", "training_split", "unit")
"""Paths, splits of benchmarks and the unit of own files: what ``kedro run --params``
may override beside parameters. The catalog reads them.

``output_root`` is where a run leaves what only it needs (its reports, which
encoder it trained, its scores); stores that runs share stay below ``data_root``.
"""


def check_stage_parameters(
    parameters: Mapping[str, Any], running: Collection[str] = ()
) -> dict[str, Any]:
    """Refuse what a stage's dataclass refuses, and a misspelt name of a stage.

    Groups that are no stage are those of pipelines of the user's own.

    Args:
        parameters: of all stages.
        running: stages that are about to run: what they need of this machine has to be
            there, if their dataclass knows (``check_machine``).

    Returns:
        The dataclass of each stage, filled.
    """
    known = (*STAGES, SYSTEMS, GROUP, FOLDERS, *SETTINGS)
    own = {module.name for module in pkgutil.iter_modules(pipelines.__path__)}
    configs: dict[str, Any] = {}
    for key, values in parameters.items():
        if key not in known and key not in own and (hint := suggest(key, known)):
            raise ConfigurationError(
                f"Unknown parameter group {key!r}{hint} Known: {', '.join(known)} "
                f"(conf/<env>/parameters/{key}.yml, or --params)"
            )
        if key in STAGES:
            module, _, name = _PARAMETERS[key].partition(":")
            declared = getattr(import_module(f"mathamr_kedro.{module}"), name)
            configs[key] = read_parameters(declared, values, where=key)
    for name, values in (parameters.get(SYSTEMS) or {}).items():
        read_system(name, values or {})
    if "evaluation" in running:
        _check_searches(configs)
    _check_experiment(read_experiment(parameters), configs)
    _check_machine(configs, running)
    if {"preprocessing", "training"} & {*running} and "training" in configs:
        _check_released(configs)
    return configs


def _check_machine(configs: Mapping[str, Any], running: Collection[str]) -> None:
    """Refuse devices and sentence encoders that are not here."""
    for stage, config in configs.items():
        if stage in running and hasattr(config, "check_machine"):
            config.check_machine()
    if "indexing" in running and {"indexing", "evaluation"} <= configs.keys():
        asked = configs["indexing"].search.list_baselines()
        missing = find_missing(asked, configs["evaluation"].text_model)
        for name, reason in missing.items():
            raise ConfigurationError(
                f"indexing.search: {name!r} cannot be asked: {reason}"
            )


def _check_searches(configs: Mapping[str, Any]) -> None:
    """Refuse strategies that the index or the graphs do not allow."""
    if not {"preprocessing", "indexing", "evaluation"} <= configs.keys():
        return
    indexing, evaluation = configs["indexing"], configs["evaluation"]
    structure = configs["preprocessing"].graph.structure
    for name, strategy in evaluation.list_strategies(indexing.strategy).items():
        where = f"evaluation.strategies, {name}"
        where = where if evaluation.strategies else "indexing.strategy"
        try:
            strategy.check_engine(indexing.engine)
        except ConfigurationError as exc:
            raise ConfigurationError(f"{where}: {exc}") from exc
        if structure == "none" and strategy.needs_documents:
            raise ConfigurationError(
                f"{where}: expected retrieval 'maxsim' and no with_document for graphs "
                "without document nodes (preprocessing.graph.structure 'none')"
            )


def _check_experiment(experiment: Any, configs: Mapping[str, Any]) -> None:
    """Refuse an experiment whose tables would show what no cell evaluates."""
    if experiment is None or "evaluation" not in configs:
        return
    evaluation = configs["evaluation"]
    strategies = [strategy.name for strategy in evaluation.strategies]
    if experiment.system != SYSTEM:  # its parts are known when it was searched by
        strategies = list(experiment.strategies)
    for key, wanted, known in (
        ("measures", experiment.measures, evaluation.measures),
        ("strategies", experiment.strategies, strategies),
    ):
        for name in wanted:
            if name not in known:
                raise ConfigurationError(
                    f"Expected experiment.{key} among evaluation.{key}, which are "
                    f"{', '.join(known) or 'none'} (got {name!r}){suggest(name, known)}"
                )


def _check_released(configs: Mapping[str, Any]) -> None:
    """Refuse graphs that the encoder of ``training.start_from`` does not know."""
    start, graphs = configs["training"].start_from, configs.get("preprocessing")
    if start is None or graphs is None:
        return
    if graphs.vocabulary.source is None:
        raise ConfigurationError(
            f"Expected preprocessing.vocabulary.source {start!r} beside "
            "training.start_from (got none): an encoder knows its own vocabularies"
        )
    import_module("mathamr_kedro.graph").ReleasedEncoder(start).load_vocabularies(
        graphs.graph
    )
