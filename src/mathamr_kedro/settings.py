"""Kedro settings of the project."""

from mathamr_kedro.pipeline_registry import ProjectContext
from mathamr_kedro.project.hooks import ProjectHooks
from mathamr_kedro.project.loader import EnvironmentLoader
from mathamr_kedro.project.run_times import StreamTimes

HOOKS = (ProjectHooks(), StreamTimes())
CONTEXT_CLASS = ProjectContext
CONFIG_LOADER_CLASS = EnvironmentLoader
CONFIG_LOADER_ARGS = dict(EnvironmentLoader.ARGUMENTS)
