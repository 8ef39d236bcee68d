"""The systems by name; a module is loaded when its system is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.systems.protocol import PaperSystem

SYSTEMS: Mapping[str, str] = {
    "formula_rgcn": "formula_rgcn.system:FormulaRgcn",
    "ssemb": "ssemb.system:SSEmb",
    "marf": "marf.system:Marf",
    "mathamr": "mathamr.system:MathAMR",
}
"""Class of each system, below this package: ``"formula_rgcn.system:FormulaRgcn"``."""


def read_system(name: str, values: Mapping[str, Any]) -> PaperSystem:
    """Return a system with its parameters checked.

    Args:
        name: one of :data:`SYSTEMS`.
        values: what stands below ``systems.NAME`` in the configuration.

    Raises:
        ConfigurationError: there is no such system, or parameter.
    """
    if name not in SYSTEMS:
        raise ConfigurationError(
            f"No system is named {name!r}{suggest(name, SYSTEMS) or '.'} Known: "
            f"{', '.join(SYSTEMS)} (conf/<env>/parameters/systems.yml)"
        )
    module, _, class_name = SYSTEMS[name].partition(":")
    found: type[PaperSystem] = getattr(
        import_module(f"{__package__}.{module}"), class_name
    )
    config: Any = read_parameters(found.Config, values, where=f"systems.{name}")
    return found(config)
