"""Kedro settings of the project."""

import os

from kedro.config import OmegaConfigLoader

from mathamr_kedro.hooks import ErrorHooks, ParameterHooks, TimingHooks

HOOKS = (ErrorHooks(), ParameterHooks(), TimingHooks())

CONFIG_LOADER_CLASS = OmegaConfigLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    # An environment states only what differs from base.
    "merge_strategy": {"parameters": "soft", "globals": "soft"},
    # ${env:NAME,default} lets a path be named once per machine.
    "custom_resolvers": {"env": lambda name, default="": os.environ.get(name, default)},
}
