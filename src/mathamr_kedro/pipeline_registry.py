"""All pipelines, as the parameters of an environment ask for them."""

from __future__ import annotations

import inspect
import os
import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.project import pipelines as registered
from kedro.pipeline import Pipeline

from mathamr_kedro import pipelines as packages
from mathamr_kedro.project.catalog import find_project
from mathamr_kedro.project.loader import EnvironmentLoader

_chosen: Mapping[str, Any] | None = None
_built: Mapping[str, Any] | None = None
"""Parameters of the newest context, and those that the pipelines were built for."""


def use_parameters(parameters: Mapping[str, Any]) -> None:
    """Build the pipelines for these parameters when they are next asked for."""
    global _chosen  # noqa: PLW0603 -- Kedro itself has one registry in a process
    _chosen = parameters
    if _built is not None and _built != parameters:
        registered.configure(__name__)


def register_pipelines() -> dict[str, Pipeline]:
    """Find the pipelines under ``pipelines/``; ``__default__`` runs all of them.

    A ``create_pipeline`` that takes ``parameters`` gets those of the context, or of the
    default environment if there is none (``kedro registry list``).
    """
    global _built  # noqa: PLW0603
    _built = _chosen if _chosen is not None else _read_default_parameters()
    found: dict[str, Pipeline] = {}
    # Kedro's find_pipelines() passes nothing to create_pipeline().
    for module in pkgutil.iter_modules(packages.__path__):
        name = f"{packages.__name__}.{module.name}"
        # A user's own may define it in the package itself, as Kedro allows.
        owner = import_module(name)
        if not hasattr(owner, "create_pipeline"):
            owner = import_module(f"{name}.pipeline")
        create = owner.create_pipeline
        takes_them = "parameters" in inspect.signature(create).parameters
        made = create(parameters=_built) if takes_them else create()
        found[module.name] = made.tag(module.name)  # kedro run --tags indexing
    return {**found, "__default__": sum(found.values(), start=Pipeline([]))}


def _read_default_parameters() -> dict[str, Any]:
    conf, env = str(find_project() / "conf"), os.environ.get("KEDRO_ENV")
    return EnvironmentLoader(conf, env=env, **EnvironmentLoader.ARGUMENTS)["parameters"]


class ProjectContext(KedroContext):
    """Kedro's context, which registers the pipelines of its environment.

    A hook after the creation of a context would do as well, but Kedro-Viz opens a
    project without its hooks.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Not self.params: to check those, Kedro builds all pipelines.
        use_parameters(self.config_loader["parameters"])
