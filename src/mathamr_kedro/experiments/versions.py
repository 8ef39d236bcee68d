"""Versions of a result: a folder for each.

::

    significance/
      formula_modes/  systems/  benchmark/
        result.json/
          2026-11-16T04.12.33.120Z/
            result.json                 of ``describe``: settings, scores, tests, tables
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError, suggest
from mathamr_kedro.base.files import write_text


class ResultVersions:
    """All versions of one result."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def list(self) -> list[str]:
        """Return the names of the versions, the newest first."""
        found = self.folder.glob(f"*/{self.folder.name}")
        return sorted((file.parent.name for file in found), reverse=True)

    def write(self, version: str, result: Mapping[str, Any]) -> None:
        """Add a version."""
        file = self.folder / version / self.folder.name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(result, indent=1, ensure_ascii=False) + "\n")

    def read(self, version: str | None = None) -> dict[str, Any]:
        """Return a version; the newest if absent.

        Raises:
            MissingInputError: there is no such version.
            MalformedInputError: it is of an older release.
        """
        versions = self.list()
        chosen = version or next(iter(versions), None)
        if chosen not in versions:
            raise MissingInputError(
                f"No version {chosen or 'at all'!r} of the result "
                f"{self.folder.parent.name!r}{suggest(chosen or '', versions)}; "
                "`mathamr experiments list` lists the existing ones, `mathamr "
                "experiments run` makes one"
            )
        file = self.folder / chosen / self.folder.name
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if not {"settings", "collections"} & found.keys():
            raise MalformedInputError(
                f"Expected settings in {str(file)!r} (got a result of an older "
                "release); delete its folder, `kedro run --pipelines significance` "
                "writes a new version"
            )
        return found
