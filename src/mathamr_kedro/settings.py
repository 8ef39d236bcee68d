"""Kedro settings of the project."""

from mathamr_kedro.context import ProjectContext
from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.hooks import (
    ErrorHooks,
    ParameterHooks,
    RunHooks,
    TimingHooks,
    WriterHooks,
)
from mathamr_kedro.versions import SteadyCatalog

HOOKS = (ErrorHooks(), ParameterHooks(), RunHooks(), TimingHooks(), WriterHooks())

CONTEXT_CLASS = ProjectContext
DATA_CATALOG_CLASS = SteadyCatalog

CONFIG_LOADER_CLASS = EnvironmentLoader
CONFIG_LOADER_ARGS = dict(EnvironmentLoader.ARGUMENTS)
