"""Kedro settings of the project."""

from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.hooks import ErrorHooks, ParameterHooks, RunHooks, TimingHooks

HOOKS = (ErrorHooks(), ParameterHooks(), RunHooks(), TimingHooks())

CONFIG_LOADER_CLASS = EnvironmentLoader
CONFIG_LOADER_ARGS = dict(EnvironmentLoader.ARGUMENTS)
