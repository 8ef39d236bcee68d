"""Versions of datasets in the order of their writing, whatever the clock says."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kedro.io import DataCatalog

logger = logging.getLogger(__name__)

_FORM = "%Y-%m-%dT%H.%M.%S.%f"


class SteadyCatalog(DataCatalog):
    """A catalog whose new versions come after all that are there.

    Kedro names a version by the time and loads the one with the last name. Where the
    clock of a machine was turned back, or another one's was ahead, a run would load
    what an earlier run has saved.
    """

    @classmethod
    def from_config(
        cls,
        catalog: dict[str, dict[str, Any]] | None,
        credentials: dict[str, dict[str, Any]] | None = None,
        load_versions: dict[str, str] | None = None,
        save_version: str | None = None,
        validation_enabled: bool = True,
    ) -> DataCatalog:
        """Make the catalog; name new versions by a time after the last one."""
        newest = max(_list_versions(catalog or {}), default="")
        if save_version is not None and newest >= save_version:
            later = _name_next(newest)
            logger.warning(
                "the clock is behind the version %s; this run saves as %s",
                newest, later,
            )  # fmt: skip
            save_version = later
        return super().from_config(
            catalog, credentials, load_versions, save_version, validation_enabled
        )


def _list_versions(catalog: dict[str, dict[str, Any]]) -> Iterator[str]:
    for entry in catalog.values():
        if isinstance(entry, dict) and entry.get("versioned") and "filepath" in entry:
            for folder in Path(str(entry["filepath"])).glob("*"):
                if _read_time(folder.name) is not None:
                    yield folder.name


def _read_time(name: str) -> datetime | None:
    try:
        return datetime.strptime(name.removesuffix("Z"), _FORM)
    except ValueError:
        return None


def _name_next(version: str) -> str:
    """Return the version a millisecond later.

    >>> _name_next("2026-11-16T00.46.02.999Z")
    '2026-11-16T00.46.03.000Z'
    """
    time = _read_time(version) or datetime.min
    return (time + timedelta(milliseconds=1)).strftime(_FORM)[:-3] + "Z"
