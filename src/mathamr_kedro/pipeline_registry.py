"""All pipelines, in the order in which the data flows."""

from __future__ import annotations

from kedro.framework.project import find_pipelines
from kedro.pipeline import Pipeline


def register_pipelines() -> dict[str, Pipeline]:
    """Find the stages under ``pipelines/``; ``__default__`` runs all of them."""
    pipelines = find_pipelines(raise_errors=True)
    stages = {name: p for name, p in pipelines.items() if name != "__default__"}
    return {**stages, "__default__": sum(stages.values(), start=Pipeline([]))}
