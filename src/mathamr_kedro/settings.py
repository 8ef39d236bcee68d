"""Kedro settings of the project."""

from kedro.config import OmegaConfigLoader

from mathamr_kedro.hooks import ParameterHooks, TimingHooks

HOOKS = (ParameterHooks(), TimingHooks())

CONFIG_LOADER_CLASS = OmegaConfigLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    # An environment states only what differs from base.
    "merge_strategy": {"parameters": "soft", "globals": "soft"},
}
