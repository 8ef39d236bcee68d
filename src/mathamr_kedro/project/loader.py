"""Stacked environments: ``kedro run --env pool+formula_modes``.

Kedro reads one environment over ``base``. Here several are stacked with ``+``, so that
*which* collection, *how* to train and *what* to compare are stated apart::

    conf/
      base/                   every dataset and parameter, with its default
      pool/                   a folder of globals, catalog and parameters, as in Kedro
      overlays/benchmark.yml  overrides another environment: only what differs
      experiments/edges.yml   conditions to compare, over any collection

An overlay is one file. Its sections ``globals``, ``parameters`` and ``catalog`` hold
what the files of a folder would; ``over`` names environments that are read before it::

    over: arqmath
    parameters:
      training: {batch_size: 16}

Each environment is read once, after those that it overrides: with the file above as
``benchmark``, ``--env benchmark`` and ``--env arqmath+benchmark`` are the same. Globals
of an overlay may name those that it overrides: ``data_root: ${_below.data_root}/part``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

from kedro.config import OmegaConfigLoader
from omegaconf import OmegaConf
from yaml import YAMLError

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.project.hints import plain_errors

# Kedro 1.7 calls a function that OmegaConf 2.4 renamed.
warnings.filterwarnings("ignore", "register_new_resolver", UserWarning)

_SECTIONS = ("over", "globals", "parameters", "catalog")
_FOLDERS_OF_OVERLAYS = ("overlays", "experiments")


def stack_environments(*names: str | None) -> str | None:
    """Return the name of several environments together; ``None`` is the default one.

    >>> stack_environments("pool", "formula_modes")
    'pool+formula_modes'
    >>> stack_environments(None, "formula_modes")
    'formula_modes'
    """
    return "+".join(name for name in names if name) or None


class EnvironmentLoader(OmegaConfigLoader):
    """Kedro's loader, for stacked environments.

    Everything is read at once: OmegaConf has one ``${globals:...}`` in a process, that
    of the newest loader.
    """

    ARGUMENTS: ClassVar[Mapping[str, Any]] = {
        "base_env": "base",
        "default_run_env": "local",
        # An environment states only what differs from base.
        "merge_strategy": {"parameters": "soft", "globals": "soft"},
        # ${env:NAME,default} lets a path be named once per machine.
        "custom_resolvers": {
            "env": lambda name, default="": os.environ.get(name, default)
        },
    }
    """How this project's ``conf/`` is read (``settings.py``)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        conf = Path(self.conf_source)
        names = f"{self.base_env}+{self.env or self.default_run_env}"
        with plain_errors():
            layers = list(dict.fromkeys(_list_layers(conf, names)))
            self._stack("globals", layers)
            super().__getitem__("globals")  # registers ${runtime_params:...}
            for key in ("credentials", "parameters", "catalog"):
                self._stack(key, layers)
            self._anchor_folders(conf.absolute().parent)

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return a copy of the configuration of one kind, of all environments."""
        return deepcopy(super().__getitem__(key))

    def _stack(self, key: str, layers: list[Path]) -> None:
        merged: dict[str, Any] = {}
        is_soft = self.merge_strategy.get(key) == "soft"
        for layer in layers:
            if layer.is_file():
                values = self._read_section(key, layer, merged)
            else:
                values = self.load_and_merge_dir_config(
                    str(layer), self.config_patterns[key], key, set(),
                    read_environment_variables=key == "credentials",
                )  # fmt: skip
            merged = merge_parameters(merged, values) if is_soft else merged | values
        if merged or key != "credentials":
            self[key] = merged

    def _anchor_folders(self, project: Path) -> None:
        """Let folders of nodes start at the project, as paths of the catalog do."""
        parameters = self["parameters"]
        if folders := parameters.get("folders"):
            anchored = {name: str(project / folder) for name, folder in folders.items()}
            self["parameters"] = {**parameters, "folders": anchored}

    def _read_section(
        self, key: str, overlay: Path, below: dict[str, Any]
    ) -> dict[str, Any]:
        section = _read_overlay(overlay).get(key) or {}
        above = self.runtime_params if key == "parameters" else None
        known = {"_below": below} if key == "globals" else {}
        merged = OmegaConf.merge(known, section, above or {})
        values: dict[str, Any] = OmegaConf.to_container(merged, resolve=True)  # type: ignore[assignment]
        return {name: v for name, v in values.items() if not name.startswith("_")}


def _list_layers(conf: Path, names: str, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the environments of a stack, each after all that it overrides."""
    known = _find_environments(conf)
    for name in names.split("+"):
        if name not in known:
            where = f" below {above[-1]!r}" if above else ""
            raise ConfigurationError(
                f"No environment {name!r}{where} in {str(conf)!r}{suggest(name, known)}"
            )
        chain = (*above, name)
        if name in above:
            raise ConfigurationError(
                f"Expected environments that do not override themselves (got "
                f"{' over '.join(map(repr, chain))}); remove one 'over'"
            )
        if known[name].is_file() and (over := _read_overlay(known[name]).get("over")):
            yield from _list_layers(conf, over, chain)
        yield known[name]


def _find_environments(conf: Path) -> dict[str, Path]:
    found = {
        place.name: place
        for place in sorted(conf.iterdir())
        if place.is_dir() and place.name not in _FOLDERS_OF_OVERLAYS
    }
    for folder in _FOLDERS_OF_OVERLAYS:
        for file in sorted((conf / folder).glob("*.yml")):
            if file.stem in found:
                raise ConfigurationError(
                    f"Expected one environment {file.stem!r} (got "
                    f"{str(found[file.stem])!r} and {str(file)!r}); rename one of them"
                )
            found[file.stem] = file
    return found


def _read_overlay(file: Path) -> dict[str, Any]:
    """Return the sections of an overlay; nothing is interpolated yet."""
    try:
        sections = OmegaConf.to_container(OmegaConf.load(file))
    except YAMLError as exc:
        raise ConfigurationError(f"Expected YAML in {str(file)!r} ({exc})") from exc
    if not isinstance(sections, dict):
        raise ConfigurationError(f"Expected sections in {str(file)!r} (got a list)")
    for name, value in sections.items():
        if name not in _SECTIONS:
            raise ConfigurationError(
                f"Expected some of {list(_SECTIONS)} as sections of {str(file)!r} "
                f"(got {name!r}){suggest(str(name), _SECTIONS)}"
            )
        kind, words = (str, "names") if name == "over" else (dict, "a mapping")
        if value is not None and not isinstance(value, kind):
            raise ConfigurationError(
                f"Expected {words} for {name!r} in {str(file)!r} (got {value!r})"
            )
    return sections  # type: ignore[return-value]
