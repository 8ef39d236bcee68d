"""Wiring of the indexing stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Pipeline

from mathamr_kedro.datasets.systems import TABLES, Indexing, list_reads
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.indexing import IndexingConfig, nodes
from mathamr_kedro.systems import find_missing, learns, read_system
from mathamr_kedro.systems.training import Training


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: graphs and an encoder in, vectors and indexes out."""
    encode = make_node(
        nodes.encode,
        "mathamr_plus.vectors",
        tags="gpu",
        prepared="mathamr_plus.prepared",
        model="mathamr_plus.model",
        preprocessing="params:preprocessing",
    )
    index = make_node(
        nodes.index_vectors,
        "mathamr_plus.index",
        name="index",
        model="mathamr_plus.model",
        vectors="mathamr_plus.vectors",
    )
    return box(
        "indexing",
        box("mathamr_plus", encode, index),
        *index_systems(parameters),
    )


def index_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system: a collection and a model in, an index out."""
    for name, values in (parameters.get("systems") or {}).items():
        system = read_system(name, values or {})
        given = {} if learns(system) else values or {}
        yield _index_system(name, system.index_reads, given, learns(system))
    evaluation = parameters["evaluation"]
    values = {"text_model": evaluation.get("text_model")}
    for name in _list_baselines(parameters, **values):
        yield _index_system(name, list_reads(name, values), values, False)


def _list_baselines(parameters: Mapping[str, Any], text_model: str | None) -> list[str]:
    """Return those that are compared, and those that people's searches ask."""
    evaluation = parameters["evaluation"]
    optional = evaluation["optional_baselines"]
    missing = find_missing(optional, text_model)
    search = IndexingConfig.read(parameters["indexing"]).search
    return list(
        dict.fromkeys(
            [
                *evaluation["baselines"],
                *(name for name in optional if name not in missing),
                *search.list_baselines(),
            ]
        )
    )


def _index_system(
    name: str, reads: Sequence[str], values: Mapping[str, Any], has_model: bool
) -> Pipeline:
    def index(
        parameters: Mapping[str, Any], model: Training | None = None, **tables: Any
    ) -> Indexing:
        """Build the index of a system, where the parameters of the stage say."""
        config = IndexingConfig.read(parameters)
        compute, scan = config.encoding.compute, config.engine.device
        compute.check_machine()
        return Indexing(name, tables, values, model, compute, scan)

    inputs = {part: TABLES[part] for part in reads}
    if has_model:
        inputs["model"] = f"{name}.model"
    return box(name, make_node(index, f"{name}.index", **inputs))
