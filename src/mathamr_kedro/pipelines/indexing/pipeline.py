"""Wiring of the indexing stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kedro.pipeline import Pipeline

from mathamr_kedro.datasets.artefact import TABLES, BuiltIndex
from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.systems import find_missing, learns, list_systems, read_system
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.systems.mathamr_plus import IndexingConfig
from mathamr_kedro.systems.registry import OWN
from mathamr_kedro.systems.training import Training


def create_pipeline(parameters: Mapping[str, Any]) -> Pipeline:
    """Return the stage: a collection and models in, indexes out."""
    forget = make_node(forget_synced, "changes", index=f"{OWN}.index")
    return box("indexing", *index_systems(parameters), forget)


def index_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system: a collection and a model in, an index out."""
    values = {"text_model": parameters["evaluation"].get("text_model")}
    baselines = dict.fromkeys(_list_baselines(parameters, **values), values)
    for name, stated in {**list_systems(parameters), **baselines}.items():
        system = read_system(name, stated)
        yield _index_system(name, stated, system.index_reads, learns(system))


def forget_synced(index: BuiltIndex, folders: Mapping[str, str]) -> ChangeStore:
    """Forget changes that were synced with a folder: the stages have just read it.

    Those that were made by hand stay, over the new ``index``.
    """
    changes = ChangeStore(Path(folders["changes"]))
    changes.forget_synced()
    return changes


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
    name: str, values: Mapping[str, Any], reads: Sequence[str], has_model: bool
) -> Pipeline:
    def index(
        parameters: Mapping[str, Any],
        folders: Mapping[str, str],
        model: Training | None = None,
        **tables: Any,
    ) -> BuiltIndex:
        """Build the index of a system, where the parameters of the stage say."""
        config = IndexingConfig.read(parameters)
        compute, scan = config.encoding.compute, config.engine.device
        compute.check_machine()
        base = Path(folders["models"]) / name / "indexes"
        return BuiltIndex.build(base, name, values, tables, model, compute, scan)

    inputs = {part: TABLES[part] for part in reads}
    if has_model:
        inputs["model"] = f"{name}.model"
    tags = "gpu" if has_model else None
    return box(name, make_node(index, f"{name}.index", tags=tags, **inputs))
