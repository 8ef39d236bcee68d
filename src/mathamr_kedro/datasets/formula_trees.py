"""The formula-tree store as a dataset: batches in, look-ups out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.files import write_text
from mathamr_kedro.formula import TreeStore
from mathamr_kedro.shards import EndOfShards, Shard

_STORE, _STATE = "trees.sqlite", "_state.json"


class FormulaTreesDataset(AbstractDataset[Shard | EndOfShards, TreeStore]):
    """A folder with a :class:`~mathamr_kedro.formula.TreeStore`.

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
        state = read_state(self._folder)
        if not state["complete"]:
            raise MissingInputError(
                f"{str(self._folder)!r} is missing or unfinished; run the stage "
                "'ingestion', it goes on where it stopped"
            )
        return TreeStore(self._folder / _STORE, True, state["made_from"])

    def save(self, data: Shard | EndOfShards) -> None:
        """Add one batch, or note that all are there."""
        if read_state(self._folder)["made_from"] != data.made_from:
            self._start_anew(data.made_from)
        with TreeStore(self._folder / _STORE) as store:
            if isinstance(data, Shard):
                store.add_batch(data.name, *data.take_rows())
        self._write_state(data.made_from, isinstance(data, EndOfShards))

    def _start_anew(self, made_from: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob(f"{_STORE}*"):
            old.unlink()
        self._write_state(made_from, complete=False)

    def _write_state(self, made_from: str, complete: bool) -> None:
        state = {"made_from": made_from, "complete": complete}
        write_text(self._folder / _STATE, json.dumps(state))

    def _exists(self) -> bool:
        return read_state(self._folder)["complete"]

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}


class TreesSoFar:
    """What a formula-tree store holds already, for the node that fills it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def finished(self, made_from: str) -> frozenset[str]:
        """Return the names of the finished batches made from the same input."""
        if read_state(self._folder)["made_from"] != made_from:
            return frozenset()
        with TreeStore(self._folder / _STORE) as store:
            return frozenset(store.finished_batches())

    def find_missing(self, made_from: str, visual_ids: Iterable[str]) -> set[str]:
        """Return the visual ids whose trees were not made from the same input yet."""
        if read_state(self._folder)["made_from"] != made_from:
            return set(visual_ids)
        with TreeStore(self._folder / _STORE) as store:
            return store.missing_visuals(visual_ids)


class TreesSoFarDataset(AbstractDataset[None, TreesSoFar]):
    """The folder of a :class:`FormulaTreesDataset`, asked what it holds already."""

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> TreesSoFar:
        """Return the object to ask."""
        return TreesSoFar(self._folder)

    def save(self, data: None) -> None:
        """Never called: the store's own dataset writes."""
        raise ConfigurationError(
            f"{str(self._folder)!r} is read-only under this name; save to the dataset "
            "of the store"
        )

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}


def read_state(folder: Path) -> dict[str, Any]:
    """Return what the store of a folder was made from and whether it is complete."""
    try:
        return json.loads((folder / _STATE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {"made_from": "", "complete": False}
