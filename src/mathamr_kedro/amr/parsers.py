"""The parsers of this project by name.

A new parser is a file with its :class:`ParserSettings`, and a line in :class:`Parsers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from mathamr_kedro.amr.amrlib_adapter import AmrlibConfig
from mathamr_kedro.amr.builtin_adapter import BuiltinConfig
from mathamr_kedro.amr.documents import ParserSettings
from mathamr_kedro.amr.transition import TransitionConfig
from mathamr_kedro.base.errors import ConfigurationError, suggest

AUTO = "auto"


@dataclass(frozen=True)
class Parsers:
    """Parameters of each parser; the names of the fields are those of the parsers."""

    builtin: BuiltinConfig = field(default_factory=BuiltinConfig)
    transition: TransitionConfig = field(default_factory=TransitionConfig)
    amrlib: AmrlibConfig = field(default_factory=AmrlibConfig)

    def find(self, name: str) -> ParserSettings:
        """Return the settings of a parser.

        >>> Parsers().find("transition").describe()["model"]
        'doc-sen-conll-amr-seed42'

        Raises:
            ConfigurationError: there is no such parser.
        """
        if name not in PARSERS:
            raise ConfigurationError(
                f"Expected one of {[*PARSERS]} for 'parser' (got {name!r})"
                f"{suggest(name, PARSERS)}"
            )
        return getattr(self, name)

    def choose(self, choice: str, earlier: str | None = None) -> str:
        """Return the parser that a choice comes down to.

        ``auto`` is the thesis' parser if it is installed, and otherwise our own. It is
        resolved once, before anything is parsed, and recorded with the graphs: graphs
        of two parsers are never compared as one collection.

        Args:
            choice: a parser, or ``auto``.
            earlier: the parser of existing graphs; with ``auto`` it is kept, so that
                the environment of a parser that is moved or built later rebuilds
                nothing.

        >>> absent = Parsers(transition=TransitionConfig(python="no/python"))
        >>> absent.choose("auto"), absent.choose("auto", "transition")
        ('builtin', 'transition')
        """
        if choice != AUTO:
            return self.find(choice).name
        if earlier in PARSERS:
            return str(earlier)
        installed = self.transition if self.transition.is_installed else self.builtin
        return installed.name


PARSERS = tuple(f.name for f in fields(Parsers))


def describe_parser(description: Mapping[str, Any]) -> str:
    """Return the line that reports and tables have about the parser of their graphs.

    Args:
        description: what was recorded with the graphs
            (:meth:`ParserSettings.describe`); empty if nothing was.

    >>> describe_parser({"parser": "transition", "model": "seed42"})
    'AMR parser: transition, model seed42.'
    >>> describe_parser({"parser": "builtin", "digest": "1f"})
    'AMR parser: builtin (the thesis: transition, model doc-sen-conll-amr-seed42).'
    """
    name = description.get("parser", "not recorded")
    model = description.get("model")
    line = f"AMR parser: {name}" + (f", model {model}" if model else "")
    thesis = TransitionConfig()
    if name == thesis.name:
        return f"{line}."
    return f"{line} (the thesis: {thesis.name}, model {thesis.model})."
