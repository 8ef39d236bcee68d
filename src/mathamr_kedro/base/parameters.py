"""Parameters: plain mappings to frozen dataclasses, with every key and type checked.

A stage declares its parameters as a frozen dataclass; :func:`read_parameters` fills it
from the mapping in the configuration and rejects unknown keys:

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Split:
...     ratio: float = 0.9
...     seed: int = 0
>>> read_parameters(Split, {"ratio": 0.8}, where="preprocessing.split")
Split(ratio=0.8, seed=0)
>>> read_parameters(Split, {"ration": 0.8}, where="training")
Traceback (most recent call last):
...
mathamr_kedro.base.errors.ConfigurationError: Unknown parameter 'training.ration'; \
did you mean 'ratio'? Known: ratio, seed (conf/<env>/parameters/training.yml)
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypeVar, Union

from mathamr_kedro.base.errors import ConfigurationError, suggest

T = TypeVar("T")


def read_parameters(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """Fill the frozen dataclass ``cls`` from ``values``.

    Args:
        cls: a dataclass; fields may be plain values, ``Literal`` choices, tuples,
            mappings, optional values and other dataclasses.
        values: the mapping from the configuration.
        where: dotted name of the mapping, e.g. ``"training.loss"``.

    Raises:
        ConfigurationError: a key is unknown, missing or has the wrong type; the
            message names the key, the file and the closest known key.
    """
    if not isinstance(values, Mapping):
        raise ConfigurationError(
            f"Expected a mapping for {where!r} (got {values!r}) ({_file_of(where)})"
        )
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = _read_hints(cls)  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            hint = suggest(str(key), fields) or "."
            raise ConfigurationError(
                f"Unknown parameter '{where}.{key}'{hint} "
                f"Known: {', '.join(fields)} ({_file_of(where)})"
            )
    missing = [
        name
        for name, f in fields.items()
        if name not in values
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ConfigurationError(
            f"Missing parameter '{where}.{missing[0]}' ({_file_of(where)})"
        )
    filled = {
        key: _convert(hints[key], value, f"{where}.{key}")
        for key, value in values.items()
    }
    try:
        return cls(**filled)
    except ConfigurationError as exc:
        raise ConfigurationError(f"{where}: {exc} ({_file_of(where)})") from exc


class StageParameters:
    """Base of the dataclass that declares the parameters of a stage."""

    STAGE: ClassVar[str]

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Check and convert the values of the configuration."""
        return read_parameters(cls, values, where=cls.STAGE)


def check_range(
    config: object,
    *names: str,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> None:
    """Reject parameters of a dataclass that are out of range.

    Every value of a tuple is checked; ``None`` is allowed.

    Raises:
        ConfigurationError: names the parameter, its value and the range.
    """
    limits = [
        (least, "of at least {:g}", lambda value, limit: value >= limit),
        (above, "above {:g}", lambda value, limit: value > limit),
        (most, "at most {:g}", lambda value, limit: value <= limit),
        (below, "below {:g}", lambda value, limit: value < limit),
    ]
    asked = [(limit, text, holds) for limit, text, holds in limits if limit is not None]
    for name in names:
        value = getattr(config, name)
        values = value if isinstance(value, tuple) else (value,)
        known = [v for v in values if v is not None]
        if not all(holds(v, limit) for v in known for limit, _, holds in asked):
            wanted = " and ".join(text.format(limit) for limit, text, _ in asked)
            raise ConfigurationError(f"Expected {name} {wanted} (got {value!r})")


def merge_parameters(
    below: Mapping[str, Any], above: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``below`` overridden by ``above``, recursively.

    >>> merge_parameters({"loss": {"beta": 1, "tau": 2}}, {"loss": {"beta": 0}})
    {'loss': {'beta': 0, 'tau': 2}}
    """
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        is_nested = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge_parameters(old, value) if is_nested else value  # type: ignore[arg-type]
    return merged


@functools.cache
def _read_hints(cls: type) -> Mapping[str, Any]:
    return typing.get_type_hints(cls)


def _convert(hint: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return read_parameters(hint, value, where)  # type: ignore[arg-type]
    if origin is Literal:
        return _choice(typing.get_args(hint), value, where)
    if origin in (Union, types.UnionType):
        return _optional(typing.get_args(hint), value, where)
    if origin in (tuple, list):
        return _sequence(hint, value, where)
    if origin is dict or origin is Mapping:
        if not isinstance(value, Mapping):
            raise _wrong(hint, value, where)
        item = typing.get_args(hint)[1]
        return {k: _convert(item, v, f"{where}.{k}") for k, v in value.items()}
    return _plain(hint, value, where)


def _choice(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    if value not in choices:
        raise ConfigurationError(
            f"Expected one of {list(choices)} for '{where}' (got {value!r})"
            f"{suggest(str(value), [str(c) for c in choices])} ({_file_of(where)})"
        )
    return value


def _optional(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in choices:
        return None
    problem: ConfigurationError | None = None
    for choice in choices:
        if choice is type(None):
            continue
        try:
            return _convert(choice, value, where)
        except ConfigurationError as exc:
            problem = exc
    raise problem or _wrong(choices, value, where)


def _sequence(hint: Any, value: Any, where: str) -> Any:
    if not isinstance(value, list | tuple):
        raise _wrong(hint, value, where)
    args = typing.get_args(hint)
    item = args[0] if args else Any
    items = [_convert(item, v, f"{where}[{i}]") for i, v in enumerate(value)]
    return tuple(items) if typing.get_origin(hint) is tuple else items


def _plain(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise _wrong(hint, value, where)
    return value


def _wrong(hint: Any, value: Any, where: str) -> ConfigurationError:
    name = getattr(hint, "__name__", str(hint))
    return ConfigurationError(
        f"Expected {name} for '{where}' (got {value!r}) ({_file_of(where)})"
    )


def _file_of(where: str) -> str:
    stage = re.split(r"[.\[]", where, maxsplit=1)[0]
    return f"conf/<env>/parameters/{stage}.yml"
