"""The stages of the project and the dataclass that checks each one's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.experiments import GROUP, read_experiment
from mathamr_kedro.parameters import read_parameters

STAGES = (
    "ingestion",
    "amr_parsing",
    "graph_fusion",
    "preprocessing",
    "training",
    "indexing",
    "evaluation",
    "significance",
)
"""In the order in which the data flows; each has one top key in the parameters."""

SETTINGS = ("data_root", "raw_root", "output_root", "unit")
"""Paths and the unit of own files: ``kedro run --params`` may override them.

The catalog reads them.

``output_root`` is where a run leaves what belongs to it alone (its reports, which
encoder it trained, its scores); stores that runs share stay below ``data_root``.
"""


def check_stage_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse a top key that is no stage, and what a stage's dataclass refuses.

    A stage ``x`` declares its dataclass as ``PARAMETERS`` in ``pipelines.x``.
    """
    known = (*STAGES, GROUP, *SETTINGS)
    for key, values in parameters.items():
        if key not in known:
            hint = suggest(key, known) or "."
            raise ConfigurationError(
                f"Unknown parameter group {key!r}{hint} Known: {', '.join(known)} "
                f"(conf/<env>/parameters/{key}.yml, or --params)"
            )
        module = f"mathamr_kedro.pipelines.{key}"
        if key in STAGES and find_spec(module) is not None:
            read_parameters(import_module(module).PARAMETERS, values, where=key)
    read_experiment(parameters)
