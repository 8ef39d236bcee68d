"""Shards: a folder of numbered files that survives being killed at any moment.

```
posts/
  _shards.json        what is finished, and what it was made from
  posts-00000.parquet
  posts-00001.parquet
```

A shard is written whole (:mod:`mathamr_kedro.files`) and only then entered into
``_shards.json``. A file that is not in the list was left by a killed run: nobody reads
it, and the next run writes it again.

The fingerprint says what the shards were made from (raw files, parameters). When it
changes, the folder starts anew, so results of two inputs never mix.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mathamr_kedro.errors import MalformedInputError, MissingInputError
from mathamr_kedro.files import replace_file, write_text

LIST_NAME = "_shards.json"


@dataclass(frozen=True)
class _ShardList:
    """What ``_shards.json`` holds."""

    fingerprint: str = ""
    complete: bool = False
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Shard name to its counts, e.g. ``{"read": 10, "written": 9, "dropped": 1}``."""


class ShardFolder:
    """A folder of shards with the list of the finished ones."""

    def __init__(self, path: str | Path, suffix: str) -> None:
        self.path = Path(path)
        self.suffix = suffix

    def read_list(self) -> _ShardList:
        """Read the list; an empty one where nothing was written yet."""
        file = self.path / LIST_NAME
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            return _ShardList(found["fingerprint"], found["complete"], found["counts"])
        except FileNotFoundError:
            return _ShardList()
        except (ValueError, KeyError, TypeError) as exc:
            raise MalformedInputError(
                f"Expected a list of shards in {str(file)!r} ({exc}); delete the "
                "folder and run the stage again"
            ) from exc

    def finished(self, made_from: str) -> frozenset[str]:
        """Return the names of the shards that were made from the same input."""
        found = self.read_list()
        return frozenset(found.counts if found.fingerprint == made_from else ())

    def write(
        self,
        name: str,
        made_from: str,
        counts: Mapping[str, int],
        write: Callable[[Path], None],
    ) -> None:
        """Write one shard with ``write(path)`` and enter it into the list."""
        self.path.mkdir(parents=True, exist_ok=True)
        found = self.read_list()
        if found.fingerprint != made_from:
            found = self._start_anew(made_from)
        file = self.path / f"{name}{self.suffix}"
        with replace_file(file) as part:
            write(part)
        self._write_list(
            _ShardList(made_from, False, {**found.counts, name: dict(counts)})
        )

    def mark(self, mark: StartOfShards | EndOfShards) -> None:
        """Answer a start with what is finished; note an end."""
        if isinstance(mark, StartOfShards):
            mark.finished = self.finished(mark.made_from)
        else:
            self.complete(mark.made_from)

    def complete(self, made_from: str) -> None:
        """Note that every shard is there."""
        self.path.mkdir(parents=True, exist_ok=True)
        found = self.read_list()
        if found.fingerprint != made_from:
            found = self._start_anew(made_from)
        self._write_list(_ShardList(made_from, True, found.counts))

    def files(self) -> list[Path]:
        """Return the finished shards in order; refuse an unfinished folder."""
        found = self.read_list()
        if not found.complete:
            state = (
                "unfinished; run the stage again, it goes on where it stopped"
                if found.counts
                else "missing; run the stage that writes it"
            )
            raise MissingInputError(f"{str(self.path)!r} is {state}")
        return [self.path / f"{name}{self.suffix}" for name in sorted(found.counts)]

    def total(self, count: str) -> int:
        """Return the sum of one count over all shards."""
        return sum(c.get(count, 0) for c in self.read_list().counts.values())

    def _start_anew(self, made_from: str) -> _ShardList:
        self._write_list(_ShardList(made_from))
        for old in self._own_files():
            old.unlink()
        return _ShardList(made_from)

    def _own_files(self) -> Iterator[Path]:
        yield from self.path.glob(f"*{self.suffix}")
        yield from self.path.glob(".*.part")

    def _write_list(self, shards: _ShardList) -> None:
        file = self.path / LIST_NAME
        content = {
            "fingerprint": shards.fingerprint,
            "complete": shards.complete,
            "counts": shards.counts,
        }
        write_text(file, json.dumps(content, indent=1))


@dataclass(eq=False)
class StartOfShards:
    """Yielded before the first shard, to ask which shards are finished.

    A Kedro node may not read what it writes. But what a generator node yields is saved
    before the node goes on, so the dataset that saves a start can answer in it::

        start = StartOfShards(made_from)
        yield start
        missing = [name for name in names if name not in start.finished]
    """

    made_from: str
    finished: frozenset[str] = frozenset()
    """Names of the shards that an earlier run made from the same input."""


@dataclass(eq=False)
class Shard:
    """One finished piece of a table on its way to a :class:`ShardFolder`."""

    name: str
    made_from: str
    rows: Any
    counts: Mapping[str, int]

    @classmethod
    def of_rows(cls, name: str, made_from: str, rows: Sequence[Any]) -> Shard:
        """Return rows as a shard that counts them."""
        return cls(name, made_from, rows, {"written": len(rows)})

    def take_rows(self) -> Any:
        """Return the rows and forget them.

        A generator node with several outputs is split by ``itertools.tee``, which
        holds on to the last 57 pieces; without their rows they take no memory.
        """
        rows, self.rows = self.rows, None
        return rows


@dataclass(frozen=True)
class EndOfShards:
    """Yielded after the last shard: the table is complete."""

    made_from: str


ShardItem: TypeAlias = StartOfShards | Shard | EndOfShards
"""What a node yields for a sharded output: a start, shards, an end."""
ShardPairs: TypeAlias = Iterator[tuple[ShardItem, ShardItem]]
"""The same for two outputs, failures and records.

The records come last, because a shard counts as finished once they are written.
"""
