"""Nodes that fit systems of papers, or a user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kedro.pipeline import Pipeline, node

from mathamr_kedro.datasets.systems import TABLES, Fitting, collect
from mathamr_kedro.systems import learns, read_system


def fit_systems(parameters: Mapping[str, Any]) -> Iterator[Pipeline]:
    """Yield a pipeline for each system that learns: a collection in, its model out."""
    for name, values in (parameters.get("systems") or {}).items():
        system = read_system(name, values or {})
        if learns(system):
            yield _fit_system(name, values or {}, system.READS)


def _fit_system(name: str, values: Mapping[str, Any], reads: Sequence[str]) -> Pipeline:
    def fit(training: Mapping[str, Any], **tables: Any) -> Fitting:
        return Fitting(name, values, int(training["seed"]), collect(tables))

    return Pipeline(
        [
            node(
                fit,
                inputs={
                    "training": "params:training",
                    **{part: TABLES[part] for part in reads},
                },
                outputs=f"{name}.model",
                name="fit",
                tags="gpu",
            )
        ],
        namespace=name,
        prefix_datasets_with_namespace=False,
    )
