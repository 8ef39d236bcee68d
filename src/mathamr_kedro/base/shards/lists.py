"""The list of a folder of shards: ``_shards.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import FileSeal
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.files import fingerprint, write_text

LIST_NAME = "_shards.json"


@dataclass(frozen=True)
class ShardList:
    """What ``_shards.json`` holds."""

    fingerprint: str = ""
    """What the shards were made from."""
    complete: bool = False
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Shard name to its counts, e.g. ``{"read": 10, "written": 9, "dropped": 1}``."""
    seals: Mapping[str, FileSeal] = field(default_factory=dict)
    """Size and digest of each shard."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Digest of what each shard was made from, where that is one shard."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """What the fingerprint consists of, for messages."""
    suffix: str = ""
    """How the names of the files end; empty in a list of an earlier version."""
    before: Mapping[str, str] = field(default_factory=dict)
    """``identity`` and ``content`` of the shards that these took the place of."""

    @classmethod
    def read(cls, folder: Path) -> ShardList:
        """Read the list of a folder; an empty one where nothing was written yet."""
        file = folder / LIST_NAME
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            seals = {n: FileSeal(*seal) for n, seal in found.get("seals", {}).items()}
            return cls(
                found["fingerprint"],
                found["complete"],
                found["counts"],
                seals,
                found.get("sources", {}),
                found.get("parts", {}),
                found.get("suffix", ""),
                found.get("before", {}),
            )
        except FileNotFoundError:
            return cls()
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise MalformedInputError(
                f"Expected a list of shards in {str(file)!r} ({exc}); delete the "
                "folder and run the stage again"
            ) from exc

    def write(self, folder: Path) -> None:
        """Put the list into a folder."""
        seals = {name: [s.size, s.digest] for name, s in self.seals.items()}
        content = {**vars(self), "seals": seals}
        write_text(folder / LIST_NAME, json.dumps(content, indent=1))

    @property
    def is_sealed(self) -> bool:
        """Whether it is of this version."""
        return bool(self.suffix)

    @property
    def content(self) -> str:
        """Digest of the bytes of all shards."""
        return fingerprint(*sorted((n, s.digest) for n, s in self.seals.items()))

    @property
    def identity(self) -> str:
        """What stands for the shards in the fingerprints of what is made from them.

        It follows from their bytes. Shards of an earlier version keep the name that
        they had, and so do those that replace them with the same bytes.
        """
        if not self.is_sealed:
            return self.fingerprint
        content = self.content
        is_same = self.before.get("content") == content
        return self.before["identity"] if is_same else content

    def drop(self, names: set[str]) -> ShardList:
        """Return the list without some shards."""
        return replace(
            self,
            complete=self.complete and not names,
            counts=_without(self.counts, *names),
            seals=_without(self.seals, *names),
            sources=_without(self.sources, *names),
        )


def _without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
