"""Locations of versions of results, and options that name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from kedro.io import CatalogProtocol
from omegaconf import OmegaConf

from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables.benchmark import BENCHMARK
from mathamr_kedro.experiments.outcomes import SYSTEMS
from mathamr_kedro.experiments.versions import ResultVersions
from mathamr_kedro.project.catalog import find_project, open_catalog
from mathamr_kedro.project.cells import GridRun

PARAMS = click.option(
    "--params", "params", default="", metavar="A.B=1,C=2",
    help="Parameters over those of the environments, as for kedro run.",
)  # fmt: skip


def find_results(catalog: CatalogProtocol, name: str) -> ResultVersions:
    """Return the versions of a result: each has a folder beside that of the others."""
    file = Path(str(catalog["experiment_result"]._describe()["filepath"]))
    return ResultVersions(file.parents[1] / name / file.name)


def open_results(name: str, env: str | None, data_root: str | None) -> ResultVersions:
    """Return the versions of an experiment, of the benchmark, or of "systems"."""
    if name not in (SYSTEMS, BENCHMARK):
        GridRun(find_project(), name).check_name()
    return find_results(open_catalog(env, data_root), name)


def read_tests(catalog: CatalogProtocol) -> TestConfig:
    """Return how an environment tests differences."""
    values = catalog.load("params:significance").get("tests", {})
    return read_parameters(TestConfig, values, where="significance.tests")


def read_settings(params: str, data_root: str | None) -> dict[str, Any]:
    """Return the settings of ``--params`` and ``--data-root``."""
    given = OmegaConf.from_dotlist([p.strip() for p in params.split(",") if p.strip()])
    settings: dict[str, Any] = OmegaConf.to_container(given)  # type: ignore[assignment]
    if data_root:
        settings["data_root"] = str(Path(data_root).resolve())
    return settings
