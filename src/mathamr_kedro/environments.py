"""Environments over one another: ``kedro run --env pool+formula_modes``.

Kedro reads one environment over ``base``. An experiment is a second question: *what* is
compared, beside *which* collection. So environments may be stacked with ``+``; each
states what differs from those before it, by the merge rules of ``settings.py``.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from kedro.config import OmegaConfigLoader

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.experiments.grid import merge

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Kedro asks for the parameters several times in a run; once is slow enough.
        self._known: dict[str, dict[str, Any]] = {}
        super().__init__(*args, **kwargs)
        conf = Path(self.conf_source)
        for name in (self.env or "").split(SEPARATOR):
            if conf.is_dir() and not (conf / name).is_dir():
                known = sorted(folder.name for folder in conf.iterdir())
                raise ConfigurationError(
                    f"No environment {name!r} in {str(conf)!r}{suggest(name, known)}"
                )

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return the configuration of one kind, of all environments together."""
        if key in self.data:
            return super().__getitem__(key)
        if key not in self._known:
            self._known[key] = self._read(key)
        return deepcopy(self._known[key])

    def _read(self, key: str) -> dict[str, Any]:
        whole = self.env
        first, *others = (whole or self.default_run_env).split(SEPARATOR)
        self.env = first
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
            is_soft = self.merge_strategy.get(key) == "soft"
            config = merge(config, above) if is_soft else {**config, **above}
        return config
