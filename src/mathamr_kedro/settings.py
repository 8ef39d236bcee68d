"""Kedro settings of the project."""

from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.hooks import ProjectHooks
from mathamr_kedro.pipeline_registry import ProjectContext

HOOKS = (ProjectHooks(),)
CONTEXT_CLASS = ProjectContext
CONFIG_LOADER_CLASS = EnvironmentLoader
CONFIG_LOADER_ARGS = dict(EnvironmentLoader.ARGUMENTS)
