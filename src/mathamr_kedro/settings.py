"""Kedro settings of the project."""

import os
import warnings

from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.hooks import ErrorHooks, ParameterHooks, TimingHooks, WriterHooks
from mathamr_kedro.versions import SteadyCatalog

# Kedro 1.7 calls a function that OmegaConf 2.4 renamed.
warnings.filterwarnings("ignore", "register_new_resolver", UserWarning)

HOOKS = (ErrorHooks(), ParameterHooks(), TimingHooks(), WriterHooks())

DATA_CATALOG_CLASS = SteadyCatalog

CONFIG_LOADER_CLASS = EnvironmentLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    # An environment states only what differs from base.
    "merge_strategy": {"parameters": "soft", "globals": "soft"},
    # ${env:NAME,default} lets a path be named once per machine.
    "custom_resolvers": {"env": lambda name, default="": os.environ.get(name, default)},
}
