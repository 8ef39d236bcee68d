"""The context of a session: its parameters decide which nodes the pipelines have."""

from __future__ import annotations

from typing import Any

from kedro.framework.context import KedroContext

from mathamr_kedro import pipeline_registry


class ProjectContext(KedroContext):
    """Kedro's context, which registers the pipelines of its environment.

    A hook after the creation of a context would do as well, but Kedro-Viz opens a
    project without its hooks.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Not self.params: to check those, Kedro builds all pipelines.
        pipeline_registry.use_parameters(self.config_loader["parameters"])
