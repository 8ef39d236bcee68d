"""Nodes that index the systems which compare no vectors of MathAMR+."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.datasets.systems import TABLES, Indexing, list_reads
from mathamr_kedro.pipelines import box
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.systems import find_missing, learns, read_system
from mathamr_kedro.systems.training import Training


def index_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system: a collection and a model in, an index out."""
    for name, values in (parameters.get("systems") or {}).items():
        system = read_system(name, values or {})
        given = {} if learns(system) else values or {}
        yield _index_system(name, system.reads, given, learns(system))
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
        indexing: Mapping[str, Any], model: Training | None = None, **tables: Any
    ) -> Indexing:
        """Build the index of a system, where the parameters of the stage say."""
        config = IndexingConfig.read(indexing)
        compute, scan = config.encoding.compute, config.engine.device
        compute.check_machine()
        return Indexing(name, tables, values, model, compute, scan)

    inputs = {part: TABLES[part] for part in reads}
    inputs["indexing"] = "params:indexing"
    if has_model:
        inputs["model"] = f"{name}.model"
    return box(name, node(index, inputs=inputs, outputs=f"{name}.index", name="index"))
