"""The systems by name; a module is loaded when its system is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any, get_args

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.systems.base import (
    FormulaTerms,
    LearningSystem,
    PostTerms,
    System,
)
from mathamr_kedro.systems.query import Target

OWN = "mathamr_plus"
"""The system of this project, whose parameters are those of its stages."""

LEARNING: Mapping[str, str] = {
    "formula_rgcn": "formula_rgcn.system:FormulaRgcn",
    "ssemb": "ssemb.system:SSEmb",
    "marf": "marf.system:Marf",
    "mathamr": "mathamr.system:MathAMR",
    "adapter": "adapter:Adapter",
}
"""Class of each system of a paper, below this package."""

_CLASSES = {OWN: "mathamr_plus.system:MathAMRPlus", **LEARNING}
_OWN_GROUPS = ("preprocessing", "training", "indexing")

_ENCODERS = ("minilm", "mpnet", "mathamr_text_small", "mathamr_text", "text")
BASELINES_OF: Mapping[Target, tuple[str, ...]] = {
    "posts": (
        *get_args(PostTerms),
        *(f"{name}{end}" for name in _ENCODERS for end in ("", "_title", "_question")),
    ),
    "formulas": (*get_args(FormulaTerms), *_ENCODERS),
}
BASELINES = tuple(dict.fromkeys((*BASELINES_OF["posts"], *BASELINES_OF["formulas"])))
"""Systems that have nothing to learn."""


def make_baseline(name: str, text_model: str | None = None) -> System:
    """Return a system that has nothing to learn."""
    if name not in BASELINES:
        raise ConfigurationError(
            f"No baseline is named {name!r}{suggest(name, BASELINES) or '.'} Known: "
            f"{', '.join(BASELINES)} (evaluation.baselines)"
        )
    # Loaded here: a machine that only trains has no parser of formulas.
    if name.startswith(_ENCODERS):
        from mathamr_kedro.systems.sentence import (  # noqa: PLC0415
            SentenceVectors,
            name_text_model,
        )

        return SentenceVectors(name, name_text_model(name, text_model) or name)
    from mathamr_kedro.systems.bm25 import Bm25  # noqa: PLC0415

    return Bm25(name)


def find_missing(names: Iterable[str], text_model: str | None = None) -> dict[str, str]:
    """Return the baselines that cannot be used on this machine, and why."""
    from mathamr_kedro.systems.sentence import name_text_model  # noqa: PLC0415
    from mathamr_kedro.text import explain_absence  # noqa: PLC0415

    models = {name: name_text_model(name, text_model) for name in names}
    reasons = {n: explain_absence(m) for n, m in models.items() if m is not None}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def learns(system: System) -> bool:
    """Tell whether a system has weights."""
    return isinstance(system, LearningSystem)


def list_systems(
    parameters: Mapping[str, Any], rankings: Mapping[str, Any] | None = None
) -> dict[str, Mapping[str, Any]]:
    """Return all systems of an environment but baselines, with their parameters.

    Args:
        parameters: of all stages.
        rankings: strategies that ours is asked by, by name; as it is indexed if
            ``None``.
    """
    own = {group: parameters[group] for group in _OWN_GROUPS if group in parameters}
    if rankings is not None:
        own["rankings"] = {name: asdict(s) for name, s in rankings.items()}
    others = (parameters.get("systems") or {}).items()
    return {OWN: own, **{name: values or {} for name, values in others}}


def read_system(name: str, values: Mapping[str, Any]) -> Any:
    """Return a system with its parameters checked.

    Args:
        name: ours, one of :data:`LEARNING` or :data:`BASELINES`; or any name, if
            ``values`` name its class: ``class: my_package.my_module:MySystem``.
        values: its parameters, of ``systems.NAME`` in the configuration. A class with a
            dataclass ``Config`` gets one of these; any other its parameters by name.
    """
    settings = dict(values)
    place = settings.pop("class", None)
    if place is None and name in BASELINES:
        return make_baseline(name, **settings)
    if place is None and name not in _CLASSES:
        raise ConfigurationError(
            f"No system is named {name!r}{suggest(name, LEARNING) or '.'} Known: "
            f"{', '.join(LEARNING)}; or name your own by `class: my_module:MySystem` "
            "(conf/<env>/parameters/systems.yml)"
        )
    inside = f"{__package__}.{_CLASSES[name]}" if place is None else ""
    found = _load_class(inside or place, name)
    if hasattr(found, "Config"):
        return found(read_parameters(found.Config, settings, where=f"systems.{name}"))
    try:
        return found(**settings)
    except TypeError as exc:
        raise ConfigurationError(f"systems.{name}: {exc}") from exc


def _load_class(place: str, name: str) -> Any:
    module, _, class_name = place.partition(":")
    try:
        return getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as exc:
        raise ConfigurationError(
            f"Expected a class at {place!r}, as in my_module:MySystem ({exc}) "
            f"(systems.{name}.class)"
        ) from exc
