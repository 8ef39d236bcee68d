"""Environments over one another: ``kedro run --env pool+formula_modes``.

Kedro reads one environment over ``base``. Here several are stacked with ``+``, so that
*which* collection, *how* to train and *what* to compare are stated apart::

    conf/
      base/                   every dataset and parameter, with its default
      pool/                   stands by itself: Kedro's folder of globals, catalog, ...
      overlays/benchmark.yml  stands over another one and holds only what differs
      experiments/edges.yml   conditions to compare, over any collection

An overlay is one file. Its sections ``globals``, ``parameters`` and ``catalog`` hold
what the files of a folder would; ``over`` names environments that are read before it::

    over: arqmath
    parameters:
      training: {batch_size: 16}

Every environment is read once, after those that it stands over, and merged by the rules
of ``settings.py``: with the file above as ``benchmark``, ``--env benchmark`` and
``--env arqmath+benchmark`` are the same. Globals of an overlay may name those that it
changes: ``data_root: ${_below.data_root}/judged``.
"""

from __future__ import annotations

import os
import pickle
import re
import warnings
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import click
from kedro.config import MissingConfigException, OmegaConfigLoader
from omegaconf import OmegaConf
from yaml import YAMLError

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import merge_parameters

# Kedro 1.7 calls a function that OmegaConf 2.4 renamed.
warnings.filterwarnings("ignore", "register_new_resolver", UserWarning)

_SEPARATOR = "+"
_OVER = "over"
_BELOW = "_below"
_SECTIONS = (_OVER, "globals", "parameters", "catalog")
_VARIABLE = re.compile(rb"\$\{env:\s*(\w+)")
_FOLDERS_OF_FILES = ("overlays", "experiments")


def stack_environments(*names: str | None) -> str | None:
    """Return the name of several environments together; ``None`` is the default one.

    >>> stack_environments("pool", "formula_modes")
    'pool+formula_modes'
    >>> stack_environments(None, "formula_modes")
    'formula_modes'
    """
    return _SEPARATOR.join(name for name in names if name) or None


class _Reading(NamedTuple):
    """A configuration, and the settings of the run that it asked for."""

    asked: dict[str, str]
    config: dict[str, Any]


_READINGS: defaultdict[tuple[str, ...], deque[_Reading]] = defaultdict(
    lambda: deque(maxlen=16)
)
"""The last ones that loaders of this process have read."""
_PARSED: dict[tuple[str, ...], bytes] = {}
"""Files as they stand, before a run's settings are put in."""


class EnvironmentLoader(OmegaConfigLoader):
    """Kedro's loader for environments that stand over one another."""

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
        # Kedro asks for the parameters several times in a run; once is slow enough.
        self._known: dict[str, dict[str, Any]] = {}
        self._asked: dict[str, str] = {}
        self._place: tuple[str, ...] | None = None
        try:
            super().__init__(*args, **kwargs)
        except ConfigurationError as error:
            # On the command line one line, not a traceback.
            if click.get_current_context(silent=True) is None:
                raise
            raise click.ClickException(str(error)) from error

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Return the configuration of one kind, of all environments together."""
        if key in self.data:
            return super().__getitem__(key)
        if key not in self._known:
            self._known[key] = self._read_once(key)
        return deepcopy(self._known[key])

    @staticmethod
    def complete(conf: Path, typed: str) -> list[str]:
        """Return the environments that begin as typed, behind the last ``+`` of it."""
        above, plus, last = typed.rpartition(_SEPARATOR)
        taken = above.split(_SEPARATOR)
        return [
            f"{above}{plus}{name}"
            for name in _find_environments(conf)
            if name.startswith(last) and name not in taken and name[0] not in "_."
        ]

    @cached_property
    def _layers(self) -> list[Path]:
        """Folders and files to read over base, the lowest first."""
        conf, names = Path(self.conf_source), self.env or self.default_run_env
        if not conf.is_dir():  # an archive: Kedro reads one folder of it
            return [conf / names]
        return list(dict.fromkeys(_list_layers(conf, names)))

    def _read_once(self, key: str) -> dict[str, Any]:
        """Return what a loader of this process has read, where all is as it was then.

        A grid opens the project for every cell; resolving takes most of that time.
        """
        conf = Path(self.conf_source)
        if key == "credentials" or self.data or not conf.is_dir():
            return self._read(key)
        settings = (
            self.base_env, self.config_patterns, self.merge_strategy,
            self._custom_resolvers, self.ignore_hidden,
        )  # fmt: skip
        self._place = (key, str(conf), repr(settings), _describe_files(conf))
        readings = _READINGS[*self._place, self.env or self.default_run_env]
        for reading in readings:
            if reading.asked == {name: self._look_up(name) for name in reading.asked}:
                return reading.config
        # Parameters are merged with all that was given, not with what they ask for.
        self._asked = {"": self._look_up("")} if key == "parameters" else {}
        config = self._read(key)
        readings.append(_Reading(self._asked, config))
        return config

    def _read_raw_config(self, key: str) -> Any:
        # Merging changes what was parsed, and a pickle copies quickest.
        if self._place is None or self._place[0] != key:
            return super()._read_raw_config(key)
        place = (*self._place, self.env or self.default_run_env)
        if place not in _PARSED:
            _PARSED[place] = pickle.dumps(super()._read_raw_config(key))
        return pickle.loads(_PARSED[place])

    def _get_runtime_value(self, variable: str, *default: Any) -> Any:
        self._asked[variable] = self._look_up(variable)
        return super()._get_runtime_value(variable, *default)

    def _look_up(self, variable: str) -> str:
        """Return a setting of this run as text; all of them for no name."""
        found: Any = self.runtime_params or {}
        for name in variable.split(".") if variable else ():
            found = found.get(name) if isinstance(found, Mapping) else None
        return repr(found)

    def _read(self, key: str) -> dict[str, Any]:
        # OmegaConf has one resolver of a name in a process: that of the newest loader.
        # That of the settings of a run is renewed by Kedro.
        self._register_globals_resolver()
        # Kedro itself reads base and one folder over it.
        first, others = self.base_env, self._layers
        if not others[0].is_file():
            first, others = others[0].name, others[1:]
        config = self._read_first(key, first, is_alone=not others)
        is_soft = self.merge_strategy.get(key) == "soft"
        for place in others:
            above = self._read_layer(key, place, config)
            config = merge_parameters(config, above) if is_soft else {**config, **above}
        return config

    def _read_first(self, key: str, name: str, is_alone: bool) -> dict[str, Any]:
        whole, self.env = self.env, name
        try:
            return super().__getitem__(key)
        except MissingConfigException:
            if is_alone:
                raise
            return {}
        finally:
            self.env = whole

    def _read_layer(
        self, key: str, place: Path, below: dict[str, Any]
    ) -> dict[str, Any]:
        if place.is_dir():
            found: dict[str, Any] = self.load_and_merge_dir_config(
                str(place), self.config_patterns[key], key, set(), key == "credentials"
            )
            return found
        layers = [_read_file(place).get(key) or {}]
        if key == "globals":
            layers.insert(0, {_BELOW: below})
        if key == "parameters":
            layers.append(self.runtime_params or {})
        section = OmegaConf.merge(*layers)
        values: dict[str, Any] = OmegaConf.to_container(section, resolve=True)  # type: ignore[assignment]
        return {name: v for name, v in values.items() if not name.startswith("_")}


def _describe_files(conf: Path) -> str:
    """Return a checksum of all files below ``conf`` and of the variables they name."""
    files = [file for file in sorted(conf.rglob("*")) if file.is_file()]
    contents = [(str(file), file.read_bytes()) for file in files]
    names = {name for _, content in contents for name in _VARIABLE.findall(content)}
    return checksum(contents, [(n, os.environb.get(n)) for n in sorted(names)])


def _list_layers(conf: Path, names: str, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """Yield the environments of a stack, each after all that it stands over."""
    known = _find_environments(conf)
    for name in names.split(_SEPARATOR):
        if name not in known:
            where = f" below {above[-1]!r}" if above else ""
            raise ConfigurationError(
                f"No environment {name!r}{where} in {str(conf)!r}{suggest(name, known)}"
            )
        chain = (*above, name)
        if name in above:
            raise ConfigurationError(
                f"Expected environments that do not stand over themselves (got "
                f"{' over '.join(map(repr, chain))}); remove one {_OVER!r}"
            )
        if known[name].is_file() and (over := _read_file(known[name]).get(_OVER)):
            yield from _list_layers(conf, over, chain)
        yield known[name]


def _find_environments(conf: Path) -> dict[str, Path]:
    found = {
        place.name: place
        for place in sorted(conf.iterdir())
        if place.is_dir() and place.name not in _FOLDERS_OF_FILES
    }
    for folder in _FOLDERS_OF_FILES:
        for file in sorted((conf / folder).glob("*.yml")):
            if file.stem in found:
                raise ConfigurationError(
                    f"Expected one environment {file.stem!r} (got "
                    f"{str(found[file.stem])!r} and {str(file)!r}); rename one of them"
                )
            found[file.stem] = file
    return found


def _read_file(file: Path) -> dict[str, Any]:
    """Return the sections of an overlay, with its interpolations as they stand."""
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
        kind, words = (str, "names") if name == _OVER else (dict, "a mapping")
        if value is not None and not isinstance(value, kind):
            raise ConfigurationError(
                f"Expected {words} for {name!r} in {str(file)!r} (got {value!r})"
            )
    return sections  # type: ignore[return-value]
