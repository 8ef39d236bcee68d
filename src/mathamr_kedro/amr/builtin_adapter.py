"""The ``builtin`` parser by its settings; spaCy is only imported to parse."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import AMRParser, ParserSettings

_TABLES = Path(__file__).with_name("tables")


@dataclass(frozen=True)
class BuiltinConfig(ParserSettings):
    """``parser: builtin`` reads no parameters."""

    name: ClassVar = "builtin"
    VERSION: ClassVar = 1
    """Of the rules; another one rebuilds the graphs."""

    def describe(self) -> dict[str, Any]:
        """Return what the graphs depend on: rules by their version, and tables."""
        checksum = _checksum_tables(_TABLES)
        return {"parser": self.name, "version": self.VERSION, "digest": checksum}

    def open(self) -> AMRParser:
        """Return the parser, its models loaded."""
        # It imports spaCy, which takes a second and which the others do not need.
        from mathamr_kedro.amr.builtin import BuiltinParser  # noqa: PLC0415

        parser = BuiltinParser()
        parser.parse_chunks([Chunk(("Let it be.",))])  # loads its models
        return parser


@cache
def _checksum_tables(folder: Path) -> str:
    """Return a checksum of what the parser has learnt."""
    hasher = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            hasher.update(file.name.encode())
            hasher.update(file.read_bytes())
    return hasher.hexdigest()
