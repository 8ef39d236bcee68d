"""Environments over one another: ``kedro run --env pool+formula_modes``.

Kedro reads one environment over ``base``. An experiment is a second question: *what* is
compared, beside *which* collection. So environments may be stacked with ``+``; each
states what differs from those before it, by the merge rules of ``settings.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader
from omegaconf import OmegaConf

SEPARATOR = "+"


def stack_environments(*names: str | None) -> str | None:
    """Return the name of several environments together; ``None`` is the default one.

    >>> stack_environments("pool", "formula_modes")
    'pool+formula_modes'
    >>> stack_environments(None, "formula_modes")
    'formula_modes'
    """
    return SEPARATOR.join(name for name in names if name) or None


class EnvironmentLoader(OmegaConfigLoader):
    """Kedro's loader, with ``+`` between the names of environments."""

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return the configuration of one kind, of all environments together."""
        first, *others = (self.env or self.default_run_env).split(SEPARATOR)
        if not others or key in self.data:
            return super().__getitem__(key)
        whole, self.env = self.env, first
        try:
            config = super().__getitem__(key)
        finally:
            self.env = whole
        for name in others:
            above = self.load_and_merge_dir_config(
                str(Path(self.conf_source) / name),
                self.config_patterns[key],
                key,
                set(),
                key == "credentials",
            )
            config = self._stack(key, config, above)
        return config

    def _stack(
        self, key: str, below: dict[str, Any], above: dict[str, Any]
    ) -> dict[str, Any]:
        if self.merge_strategy.get(key) != "soft":
            return {**below, **above}
        merged = OmegaConf.to_container(OmegaConf.merge(below, above))
        return dict(merged)  # type: ignore[arg-type]
