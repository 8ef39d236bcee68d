"""The list of a folder of shards: ``_shards.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import FileChecksum, checksum
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.files import write_text

LIST_NAME = "_shards.json"


@dataclass(frozen=True)
class ShardList:
    """Content of ``_shards.json``."""

    made_from: str = ""
    """Checksum of what the shards were made from; the key ``fingerprint``."""
    complete: bool = False
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Shard name to its counts, e.g. ``{"read": 10, "written": 9, "dropped": 1}``."""
    checksums: Mapping[str, FileChecksum] = field(default_factory=dict)
    """Of each shard; the key ``seals``."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Checksum of what each shard was made from, if that is one shard."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """What ``made_from`` consists of, for messages."""
    suffix: str = ""
    """How the names of the files end."""

    @classmethod
    def read(cls, folder: Path) -> ShardList:
        """Read the list of a folder; an empty one if nothing was written yet."""
        file = folder / LIST_NAME
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            known = found["seals"].items()
            return cls(
                found["fingerprint"],
                found["complete"],
                found["counts"],
                {name: FileChecksum(*values) for name, values in known},
                found["sources"],
                found["parts"],
                found["suffix"],
            )
        except FileNotFoundError:
            return cls()
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise MalformedInputError(
                f"Expected a list of shards in {str(file)!r} ({exc}); delete the "
                "folder and run the stage again"
            ) from exc

    def write(self, folder: Path) -> None:
        """Write the list into a folder."""
        content = {
            "fingerprint": self.made_from,
            "complete": self.complete,
            "counts": self.counts,
            "seals": {n: [c.size, c.digest] for n, c in self.checksums.items()},
            "sources": self.sources,
            "parts": self.parts,
            "suffix": self.suffix,
        }
        write_text(folder / LIST_NAME, json.dumps(content, indent=1))

    @property
    def checksum(self) -> str:
        """Of the bytes of all shards: what is made from them depends on it."""
        return checksum(*sorted((n, c.digest) for n, c in self.checksums.items()))

    def drop(self, names: set[str]) -> ShardList:
        """Return the list without some shards."""
        return replace(
            self,
            complete=self.complete and not names,
            counts=_without(self.counts, *names),
            checksums=_without(self.checksums, *names),
            sources=_without(self.sources, *names),
        )


def _without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
