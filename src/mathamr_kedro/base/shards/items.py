"""What a node yields for an output in shards: a start, shards, an end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError

_ASK_SECONDS = 3600.0
"""Hours of work that are not discarded without consent."""


@dataclass(eq=False)
class StartOfShards:
    """Yielded before the first shard, to ask which shards are finished.

    A Kedro node may not read what it writes. But what a generator node yields is saved
    before the node continues, so the dataset that saves a start can answer in it::

        start = StartOfShards(made_from)
        yield start
        missing = [name for name in names if name not in start.finished]
    """

    made_from: str
    parts: Mapping[str, str] = field(default_factory=dict)
    """What ``made_from`` consists of, by a name for people. If it is given, shards
    of much work are not discarded without consent."""
    reuse: str = ""
    """Part that suffices for old shards to be of use: they are kept aside meanwhile."""
    discard: str = ""
    """Parameter that agrees to discard them, for the message."""
    may_discard: bool = False
    """Its value."""

    finished: frozenset[str] = frozenset()
    """Answer: names of the shards that an earlier run made from the same input."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Answer: of which shard of the input each finished shard was made."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Answer: the finished shards themselves."""
    previous: tuple[Path, ...] = ()
    """Answer: shards of other input that were kept aside."""

    def is_finished(self, name: str, source: str) -> bool:
        """Tell whether a shard exists and was made from these bytes.

        Args:
            name: of the shard.
            source: checksum of the one shard that it is made from.
        """
        # A shard that was made from several has no source.
        return name in self.finished and self.sources.get(name, source) == source

    def ask_before_discarding(
        self, folder: Path, seconds: float, parts: Mapping[str, str]
    ) -> None:
        """Refuse to discard much work without consent.

        Args:
            folder: what would be rebuilt.
            seconds: the work in it.
            parts: what it was made from.

        Raises:
            ConfigurationError: it is much, and there is no consent.
        """
        if not self.parts or seconds < _ASK_SECONDS or self.may_discard:
            return
        changed = [n for n, v in self.parts.items() if parts.get(n, v) != v]
        agree = f"--params {self.discard}=true, or with " if self.discard else ""
        raise ConfigurationError(
            f"{str(folder)!r} holds {seconds / 3600:.1f} h of work, made from other "
            f"{' and '.join(changed) or 'input or parameters'}; to rebuild it, run "
            f"again with {agree}the folder moved away"
        )


@dataclass(eq=False)
class Shard:
    """One finished piece of a table on its way to a :class:`ShardFolder`."""

    name: str
    made_from: str
    rows: Any
    counts: Mapping[str, int]
    source: str = ""
    """Checksum of the one shard that it was made from, if there is one."""

    @classmethod
    def of_rows(cls, name: str, made_from: str, rows: Sequence[Any]) -> Shard:
        """Return rows as a shard that counts them, and failures to try again."""
        transient = sum(getattr(row, "kind", "") == "transient" for row in rows)
        counts = {"transient": transient} if transient else {}
        return cls(name, made_from, rows, {"written": len(rows), **counts})

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

The records come last, because a shard counts as finished once they are written; and it
counts only while its failures exist too, and none of them is to be retried.
"""
