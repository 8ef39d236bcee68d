"""The formula-tree store as a dataset: batches in, look-ups out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from mathamr_kedro.base.checksums import (
    CHECKSUMS,
    check_folder,
    checksum,
    write_checksums,
)
from mathamr_kedro.base.errors import DamagedFileError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.shards import EndOfShards, Shard, StartOfShards, WorkTime
from mathamr_kedro.datasets.paths import PathDataset
from mathamr_kedro.formula import TreeStore

logger = logging.getLogger(__name__)

_STORE, _STATE = "trees.sqlite", "_state.json"
_REMEDY = "run the stage 'ingestion' again, it rebuilds the trees"


@dataclass(eq=False)
class StartOfTrees(StartOfShards):
    """Asks, before the first batch, what a store of formula trees holds already."""

    find_missing: Callable[[Iterable[str]], set[str]] = set
    """Returns the visual ids whose trees were not made from the same input yet."""


class FormulaTreesDataset(PathDataset[StartOfTrees | Shard | EndOfShards, TreeStore]):
    """A folder with a :class:`~mathamr_kedro.formula.tree_store.TreeStore`.

    Saves shards whose rows are :class:`.TreeRow` of the formula package,
    each shard in one transaction, so a killed run leaves whole batches. Loads the store
    read-only. Trees made from other input are dropped.
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._start, self._work = StartOfTrees(""), WorkTime(self._path)

    def load(self) -> TreeStore:
        """Open the store for reading; refuse a missing or unfinished one."""
        state = self._read_state()
        check_folder(self._path, _REMEDY, whole=False)
        if not state["complete"]:
            raise MissingInputError(
                f"{str(self._path)!r} is missing or unfinished; run the stage "
                "'ingestion', it resumes"
            )
        store = TreeStore(self._path / _STORE, True, state["made_from"])
        if failures := store.list_failures():
            # What is made of these trees is rebuilt when they could be read.
            store.made_from = checksum(store.made_from, failures)
        return store

    def save(self, data: StartOfTrees | Shard | EndOfShards) -> None:
        """Add one batch; log what exists at the start, record the end."""
        if isinstance(data, StartOfTrees):
            self._prepare(data)
            data.finished = self._list_finished(data.made_from)
            data.find_missing = partial(self._find_missing, data.made_from)
            return
        if not self._is_made_from(data.made_from):
            self._discard(data.made_from)
        if isinstance(data, EndOfShards):
            self._finish(data.made_from)
            return
        self._write_state(data.made_from, complete=False)
        (self._path / CHECKSUMS).unlink(missing_ok=True)
        with TreeStore(self._path / _STORE) as store:
            store.add_batch(data.name, data.take_rows())

    def _prepare(self, start: StartOfTrees) -> None:
        """Drop a damaged store; ask before much work is discarded."""
        self._start = start
        self._work.start()
        state = self._read_state()
        if not self._is_made_from(start.made_from):
            parts = state.get("parts", {})
            start.ask_before_discarding(self._path, self._work.read(), parts)
            return
        try:
            check_folder(self._path, _REMEDY, whole=True)
        except DamagedFileError as exc:
            logger.warning("rebuilding the formula trees: %s", exc)
            self._discard(start.made_from)

    def _finish(self, made_from: str) -> None:
        """Write the checksum of the store, and note that it is complete."""
        has_checksum = (self._path / CHECKSUMS).is_file()
        if self._read_state()["complete"] and has_checksum:
            return
        TreeStore(self._path / _STORE).close()  # there may be no formula at all
        write_checksums(self._path, skip=(_STATE, WorkTime.NAME))
        self._write_state(made_from, complete=True)

    def _list_finished(self, made_from: str) -> frozenset[str]:
        if not self._is_made_from(made_from):
            return frozenset()
        with self._open_as_is() as store:
            return frozenset(store.finished_batches())

    def _find_missing(self, made_from: str, visual_ids: Iterable[str]) -> set[str]:
        if not self._is_made_from(made_from):
            return set(visual_ids)
        with self._open_as_is() as store:
            return store.missing_visuals(visual_ids)

    def _open_as_is(self) -> TreeStore:
        """Open the store to look; one with a checksum keeps its bytes."""
        return TreeStore(self._path / _STORE, (self._path / CHECKSUMS).is_file())

    def _is_made_from(self, made_from: str) -> bool:
        return self._read_state()["made_from"] == made_from

    def _discard(self, made_from: str) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        (self._path / _STATE).unlink(missing_ok=True)
        (self._path / CHECKSUMS).unlink(missing_ok=True)
        self._work.forget()
        for old in self._path.glob(f"{_STORE}*"):
            old.unlink()
        self._write_state(made_from, complete=False)

    def _read_state(self) -> dict[str, Any]:
        """Return what the store was made from and whether it is complete."""
        try:
            return json.loads((self._path / _STATE).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {"made_from": "", "complete": False}

    def _write_state(self, made_from: str, complete: bool) -> None:
        state = {
            "made_from": made_from,
            "complete": complete,
            "parts": dict(self._start.parts),
        }
        write_text(self._path / _STATE, json.dumps(state))
        self._work.note()

    def _exists(self) -> bool:
        return self._read_state()["complete"]
