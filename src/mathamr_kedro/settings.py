"""Kedro settings of the project."""

from mathamr_kedro.context import ProjectContext
from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.hooks import ProjectHooks

HOOKS = (ProjectHooks(),)
CONTEXT_CLASS = ProjectContext
CONFIG_LOADER_CLASS = EnvironmentLoader
CONFIG_LOADER_ARGS = dict(EnvironmentLoader.ARGUMENTS)
