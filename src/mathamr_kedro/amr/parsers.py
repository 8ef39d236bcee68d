"""The parsers of this project by name.

``auto`` is the thesis' parser where it is installed, and otherwise our own. It is
settled once, before anything is parsed, and noted with the graphs: graphs of two
parsers are never compared as one collection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from mathamr_kedro.amr.amrlib_adapter import AmrlibConfig, AmrlibParser
from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import AMRParser
from mathamr_kedro.amr.transition import TransitionConfig, TransitionParser

BUILTIN_VERSION = 1
"""Of the graphs of the builtin parser; another one makes them anew."""

ParserName = Literal["builtin", "transition", "amrlib"]
ParserChoice = Literal["auto", "builtin", "transition", "amrlib"]


@dataclass(frozen=True)
class ParserConfig:
    """Which parser, and what each one reads."""

    parser: ParserName = "builtin"
    transition: TransitionConfig = field(default_factory=TransitionConfig)
    amrlib: AmrlibConfig = field(default_factory=AmrlibConfig)

    def identity(self) -> dict[str, Any]:
        """Return what the graphs depend on: another identity, another collection."""
        if self.parser == "transition":
            return {"parser": "transition", **self.transition.identity()}
        if self.parser == "amrlib":
            return {"parser": "amrlib", **self.amrlib.identity()}
        digest = _checksum_tables()
        return {"parser": "builtin", "version": BUILTIN_VERSION, "digest": digest}


def choose_parser(
    choice: ParserChoice, transition: TransitionConfig, earlier: str | None = None
) -> ParserName:
    """Return the parser that a choice comes down to.

    Args:
        choice: a parser, which it is then, or ``auto``.
        transition: where the thesis' parser would be.
        earlier: the parser of graphs that are there; with ``auto`` it goes on, so that
            the environment of a parser that is moved or made later starts nothing anew.

    >>> choose_parser("auto", TransitionConfig(python="no/python"))
    'builtin'
    >>> choose_parser("auto", TransitionConfig(python="no/python"), "transition")
    'transition'
    """
    if choice != "auto":
        return choice
    for name in get_args(ParserName):
        if name == earlier:
            return name
    return "transition" if transition.is_installed else "builtin"


def describe_parser(identity: Mapping[str, Any]) -> str:
    """Return the line that reports and tables have about the parser of their graphs.

    Args:
        identity: what was noted with the graphs (:meth:`ParserConfig.identity`); empty
            where nothing was.

    >>> describe_parser({"parser": "transition", "model": "seed42"})
    'AMR parser: transition, model seed42.'
    >>> describe_parser({"parser": "builtin", "digest": "1f"})
    'AMR parser: builtin (the thesis: transition, model doc-sen-conll-amr-seed42).'
    """
    name, model = identity.get("parser", "not recorded"), identity.get("model")
    line = f"AMR parser: {name}" + (f", model {model}" if model else "")
    thesis = TransitionConfig().model
    is_other = name != "transition"
    return line + (f" (the thesis: transition, model {thesis})." if is_other else ".")


def make_parser(config: ParserConfig) -> AMRParser:
    """Return a parser that is ready to parse, its model loaded.

    Raises:
        ConfigurationError: what it needs is not installed.
    """
    if config.parser == "transition":
        parser = TransitionParser(config.transition)
        parser.start()
        return parser
    if config.parser == "amrlib":
        return AmrlibParser(config.amrlib)
    # It imports spaCy, which takes a second and which the others do not need.
    from mathamr_kedro.amr.builtin import BuiltinParser  # noqa: PLC0415

    builtin_parser = BuiltinParser()
    builtin_parser.parse_chunks([Chunk(("Let it be.",))])  # loads its models
    return builtin_parser


@cache
def _checksum_tables() -> str:
    """Return a checksum of what the builtin parser has learnt."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(Path(__file__).with_name("tables").rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
