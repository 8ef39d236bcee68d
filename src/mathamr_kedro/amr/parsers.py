"""The parsers of this project by name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from mathamr_kedro.amr.amrlib_adapter import AmrlibConfig, AmrlibParser
from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import AMRParser
from mathamr_kedro.amr.transition import TransitionConfig, TransitionParser

BUILTIN_VERSION = 1
"""Of the graphs of the builtin parser; another one makes them anew."""

ParserName = Literal["builtin", "transition", "amrlib"]


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
        digest = _digest_tables()
        return {"parser": "builtin", "version": BUILTIN_VERSION, "digest": digest}


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
def _digest_tables() -> str:
    """Return a digest of what the builtin parser has learnt."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(Path(__file__).with_name("tables").rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
