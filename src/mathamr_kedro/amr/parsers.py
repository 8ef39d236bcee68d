"""The parsers of this project by name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from mathamr_kedro.amr import builtin
from mathamr_kedro.amr.amrlib_adapter import AmrlibParser, AmrlibSettings
from mathamr_kedro.amr.builtin.parser import BuiltinParser
from mathamr_kedro.amr.parser import AMRParser, Chunk
from mathamr_kedro.amr.transition.parser import TransitionParser, TransitionSettings

ParserName = Literal["builtin", "transition", "amrlib"]


@dataclass(frozen=True)
class ParserSettings:
    """Which parser, and what each one reads."""

    parser: ParserName = "builtin"
    transition: TransitionSettings = field(default_factory=TransitionSettings)
    amrlib: AmrlibSettings = field(default_factory=AmrlibSettings)

    def identity(self) -> dict[str, Any]:
        """Return what the graphs depend on: another identity, another collection."""
        if self.parser == "transition":
            return {"parser": "transition", **self.transition.identity()}
        if self.parser == "amrlib":
            return {"parser": "amrlib", **self.amrlib.identity()}
        return {"parser": "builtin", "digest": _builtin_digest()}


def make_parser(settings: ParserSettings) -> AMRParser:
    """Return a parser that is ready to parse, its model loaded.

    Raises:
        ConfigurationError: what it needs is not installed.
    """
    if settings.parser == "transition":
        parser = TransitionParser(settings.transition)
        parser.start()
        return parser
    if settings.parser == "amrlib":
        return AmrlibParser(settings.amrlib)
    builtin_parser = BuiltinParser()
    builtin_parser.parse_chunks([Chunk(("Let it be.",))])  # loads its models
    return builtin_parser


@cache
def _builtin_digest() -> str:
    """Return a digest of the rules and tables of the builtin parser."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(Path(builtin.__path__[0]).rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
