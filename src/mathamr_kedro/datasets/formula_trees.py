"""The formula-tree store as a dataset: batches in, look-ups out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import write_text
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.shards import EndOfShards, Shard, StartOfShards

_STORE, _STATE = "trees.sqlite", "_state.json"


@dataclass(eq=False)
class StartOfTrees(StartOfShards):
    """Asks, before the first batch, what a store of formula trees holds already."""

    find_missing: Callable[[Iterable[str]], set[str]] = set
    """Returns the visual ids whose trees were not made from the same input yet."""


class FormulaTreesDataset(
    AbstractDataset[StartOfTrees | Shard | EndOfShards, TreeStore]
):
    """A folder with a :class:`~mathamr_kedro.formula.tree_store.TreeStore`.

    Saves shards whose rows are a :class:`.TreeBatch` of the formula package,
    each in one transaction, so a killed run leaves whole batches. Loads the store
    read-only. Trees made from other input are dropped.
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> TreeStore:
        """Open the store for reading; refuse a missing or unfinished one."""
        state = self._read_state()
        if not state["complete"]:
            raise MissingInputError(
                f"{str(self._folder)!r} is missing or unfinished; run the stage "
                "'ingestion', it goes on where it stopped"
            )
        return TreeStore(self._folder / _STORE, True, state["made_from"])

    def save(self, data: StartOfTrees | Shard | EndOfShards) -> None:
        """Add one batch; tell at the start what is there, note the end."""
        if isinstance(data, StartOfTrees):
            data.finished = self._list_finished(data.made_from)
            data.find_missing = partial(self._find_missing, data.made_from)
            return
        if not self._is_made_from(data.made_from):
            self._start_anew(data.made_from)
        with TreeStore(self._folder / _STORE) as store:
            if isinstance(data, Shard):
                store.add_batch(data.name, *data.take_rows())
        self._write_state(data.made_from, isinstance(data, EndOfShards))

    def _list_finished(self, made_from: str) -> frozenset[str]:
        if not self._is_made_from(made_from):
            return frozenset()
        with TreeStore(self._folder / _STORE) as store:
            return frozenset(store.finished_batches())

    def _find_missing(self, made_from: str, visual_ids: Iterable[str]) -> set[str]:
        if not self._is_made_from(made_from):
            return set(visual_ids)
        with TreeStore(self._folder / _STORE) as store:
            return store.missing_visuals(visual_ids)

    def _is_made_from(self, made_from: str) -> bool:
        return self._read_state()["made_from"] == made_from

    def _start_anew(self, made_from: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob(f"{_STORE}*"):
            old.unlink()
        self._write_state(made_from, complete=False)

    def _read_state(self) -> dict[str, Any]:
        """Return what the store was made from and whether it is complete."""
        try:
            return json.loads((self._folder / _STATE).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {"made_from": "", "complete": False}

    def _write_state(self, made_from: str, complete: bool) -> None:
        state = {"made_from": made_from, "complete": complete}
        write_text(self._folder / _STATE, json.dumps(state))

    def _exists(self) -> bool:
        return self._read_state()["complete"]

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}
