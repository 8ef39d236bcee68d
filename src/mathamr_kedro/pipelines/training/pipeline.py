"""Wiring of the training stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Pipeline

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.datasets.systems import TABLES, Preparation, collect
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.training import nodes
from mathamr_kedro.systems import learns, read_system
from mathamr_kedro.systems.training import Training


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: prepared graphs in, the best encoder and other systems out.

    Args:
        parameters: of the environment; a teacher of documents reads the posts too.
    """
    fit = make_node(
        nodes.fit_encoder,
        "mathamr_plus.model",
        name="fit",
        tags="gpu",
        prepared="mathamr_plus.prepared",
        preprocessing="params:preprocessing",
        **({"posts": "posts"} if _reads_texts(parameters) else {}),
    )
    return box(
        "training",
        box("mathamr_plus", fit),
        *fit_systems(parameters),
        make_node(
            nodes.report_training,
            ["training_history", "training_report", "training_figure"],
            model="mathamr_plus.model",
        ),
    )


def _reads_texts(parameters: Mapping[str, Any]) -> bool:
    try:
        return TrainingStageConfig.read(parameters["training"]).makes_document_vectors
    except ConfigurationError:  # refused with its reason before anything runs
        return False


def fit_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system that learns: a collection in, its model out."""
    for name, values in (parameters.get("systems") or {}).items():
        system = read_system(name, values or {})
        if learns(system):
            yield _fit_system(name, values or {}, system.training_reads)


def _fit_system(name: str, values: Mapping[str, Any], reads: Sequence[str]) -> Pipeline:
    def prepare(parameters: Mapping[str, Any], **tables: Any) -> Preparation:
        """Write what the training of a system reads."""
        return Preparation(name, values, int(parameters["seed"]), collect(tables))

    return box(
        name,
        make_node(
            prepare, f"{name}.prepared", **{part: TABLES[part] for part in reads}
        ),
        make_node(fit, f"{name}.model", tags="gpu", prepared=f"{name}.prepared"),
    )


def fit(prepared: Training, parameters: Mapping[str, Any]) -> Training:
    """Train a system, or resume its training, where ``training.compute`` says."""
    values = parameters.get("compute") or {}
    prepared.compute = read_parameters(ComputeConfig, values, "training.compute")
    prepared.compute.check_machine()
    return prepared
