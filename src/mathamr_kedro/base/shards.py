"""Shards: a folder of numbered files that survives being killed at any moment.

```
posts/
  _shards.json        what is finished, its size and checksum, what it was made from
  posts-00000.parquet
  posts-00001.parquet
  .previous/          shards of earlier input that may be reused
```

A shard is written whole (:mod:`mathamr_kedro.base.files`) and only then entered into
``_shards.json``. A file that is not in the list was left by a killed run: nothing reads
it, and the next run writes it again. The same holds for a listed file that is missing
or changed.

``made_from`` says what the shards were made from (raw files, parameters, versions).
When it changes, the folder is rebuilt, so results of two inputs never mix. Later stages
depend only on the bytes of the shards: if those come out the same, nothing else is
rebuilt.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from mathamr_kedro.base.checksums import FileChecksum, checksum, find_damage
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.files import replace_file, write_text

logger = logging.getLogger(__name__)

LIST_NAME = "_shards.json"
_ASK_SECONDS = 3600.0
"""Hours of work that are not discarded without consent."""
_PREVIOUS = ".previous"
_REMEDY = (
    "run the stage that writes it again (`kedro run` with the --env of your run), it "
    "rebuilds the shard"
)


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
        """Checksum of the bytes of all shards, on which later stages depend."""
        return checksum(*sorted((n, c.digest) for n, c in self.checksums.items()))

    def drop(self, names: set[str]) -> ShardList:
        """Return the list without some shards."""
        kept: dict[str, Any] = {
            key: {n: v for n, v in getattr(self, key).items() if n not in names}
            for key in ("counts", "checksums", "sources")
        }
        return replace(self, complete=self.complete and not names, **kept)


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
    """Part of it that must stay the same for old shards to be reused; they are set
    aside."""
    discard: str = ""
    """Parameter that permits discarding them, for the message."""
    may_discard: bool = False
    """Its value."""

    finished: frozenset[str] = frozenset()
    """Answer: names of the shards that an earlier run made from the same input."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Answer: the input shard (checksum) that each finished shard was made from."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Answer: the finished shards themselves."""
    previous: tuple[Path, ...] = ()
    """Answer: shards of earlier input that were set aside."""

    def is_finished(self, name: str, source: str) -> bool:
        """Tell whether a shard exists and was made from the input shard ``source``."""
        # A shard that was made from several has no source.
        return name in self.finished and self.sources.get(name, source) == source

    def ask_before_discarding(
        self, folder: Path, seconds: float, parts: Mapping[str, str]
    ) -> None:
        """Raise :class:`ConfigurationError` if hours of work would be lost unasked."""
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


class WorkTime:
    """Seconds of work in a folder, kept in a file there.

    Times differ between runs; what the runs made does not.
    """

    NAME = ".seconds"

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.NAME
        self._since: float | None = None

    def start(self) -> None:
        """Start measuring."""
        self._since = time.monotonic()

    def read(self) -> float:
        """Return the seconds."""
        with suppress(OSError, ValueError):
            return float(self._path.read_text())
        return 0.0

    def note(self) -> None:
        """Add the seconds since the start, or the last note."""
        since, self._since = self._since, time.monotonic()
        if since is not None:
            write_text(self._path, f"{self.read() + self._since - since:.1f}\n")

    def forget(self) -> None:
        """Reset to zero."""
        self._path.unlink(missing_ok=True)


ShardItem: TypeAlias = StartOfShards | Shard | EndOfShards
"""What a node yields for a sharded output: a start, shards, an end."""
ShardPairs: TypeAlias = Iterator[tuple[ShardItem, ShardItem]]
"""The same for two outputs, failures and records.

The records come last, because a shard counts as finished once they are written; and it
counts only while its failures exist too, and none of them is to be retried.
"""


def pair_shards(
    name: str,
    made_from: str,
    failures: Sequence[Any],
    texts: Sequence[str],
    read: int,
    source: str = "",
) -> tuple[Shard, Shard]:
    """Return the shards of failures and of texts; items without a text were dropped."""
    written = len(texts)
    counts = {"read": read, "written": written, "dropped": read - written}
    return (
        Shard.of_rows(name, made_from, failures),
        Shard(name, made_from, "".join(texts), counts, source),
    )


class ShardFolder:
    """A folder of shards with the list of the finished ones."""

    def __init__(self, path: str | Path, suffix: str) -> None:
        self.path = Path(path)
        self.suffix = suffix
        self._start = StartOfShards("")
        self._work = WorkTime(self.path)
        self._known: tuple[tuple[int, int, int], ShardList] | None = None

    def read_list(self) -> ShardList:
        """Read the list; an empty one if nothing was written yet."""
        try:
            stat = (self.path / LIST_NAME).stat()
        except FileNotFoundError:
            return ShardList()
        key = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if self._known is None or self._known[0] != key:
            self._known = key, ShardList.read(self.path)
        return self._known[1]

    @property
    def checksum(self) -> str:
        """Checksum of the bytes of all shards, on which later stages depend."""
        return self.read_list().checksum

    @property
    def made_from(self) -> str:
        """Checksum of what the shards were made from."""
        return self.read_list().made_from

    @property
    def counts_by_shard(self) -> Mapping[str, Mapping[str, int]]:
        """Counts of each shard."""
        return self.read_list().counts

    @property
    def counts(self) -> dict[str, int]:
        """Counts over all shards, e.g. ``{"read": 9, "written": 9, ...}``."""
        names = dict.fromkeys(n for c in self.counts_by_shard.values() for n in c)
        return {name: self.total(name) for name in names}

    def finished(self, made_from: str) -> frozenset[str]:
        """Return the names of the intact shards that were made from the same input."""
        found = self.read_list()
        if found.made_from != made_from:
            return frozenset()
        transient = {n for n, counts in found.counts.items() if counts.get("transient")}
        return frozenset(found.counts.keys() - self._find_damaged(found) - transient)

    def save(self, item: ShardItem, write: Callable[[Any, Path], None]) -> None:
        """Save what a node yields: answer a start, write a shard, record an end."""
        if isinstance(item, StartOfShards):
            self._answer(item)
        elif isinstance(item, EndOfShards):
            self.complete(item.made_from)
        else:
            what = item.name, item.made_from, item.counts
            self.write(*what, partial(write, item.take_rows()), item.source)

    def write(
        self,
        name: str,
        made_from: str,
        counts: Mapping[str, int],
        write: Callable[[Path], None],
        source: str = "",
    ) -> None:
        """Write one shard with ``write(path)`` and enter it into the list.

        Another ``made_from`` restarts the folder.
        """
        found = self.begin(made_from)
        with replace_file(self.locate(name)) as part:
            write(part)
            written = FileChecksum.of(part)
        sources = {**found.sources, name: source} if source else found.sources
        replace(
            found,
            complete=False,
            counts={**found.counts, name: dict(counts)},
            checksums={**found.checksums, name: written},
            sources=sources,
        ).write(self.path)
        self._work.note()

    def begin(self, made_from: str) -> ShardList:
        """Return the list, an empty one if it was made from something else."""
        self.path.mkdir(parents=True, exist_ok=True)
        found = self.read_list()
        return found if found.made_from == made_from else self._restart(made_from)

    def complete(self, made_from: str) -> None:
        """Record that every shard is present."""
        replace(self.begin(made_from), complete=True).write(self.path)
        shutil.rmtree(self.path / _PREVIOUS, ignore_errors=True)

    def files(self) -> list[Path]:
        """Return the finished shards in order.

        Raises:
            MissingInputError: it is missing or unfinished.
            DamagedFileError: a shard is missing or has another size.
        """
        found = self.read_list()
        if not found.complete:
            state = (
                "unfinished; run the stage again, it resumes"
                if found.counts
                else "missing; run the stage that writes it"
            )
            raise MissingInputError(f"{str(self.path)!r} is {state}")
        for name, known in found.checksums.items():
            known.check_size(self.locate(name), _REMEDY)
        return [self.locate(name) for name in sorted(found.counts)]

    def check(self, file: Path) -> Path:
        """Check the bytes of a shard; each is read once in a process.

        Raises:
            DamagedFileError: it is not what was written.
        """
        name = file.name.removesuffix(self.suffix)
        try:
            self._check(name, self.read_list())
        except DamagedFileError:  # or else its writer has just replaced it
            self._check(name, ShardList.read(self.path))
        return file

    def list_damage(self) -> list[str]:
        """Read all listed shards; return a line for each that is damaged."""
        known = sorted(self.read_list().checksums.items())
        return list(find_damage({self.locate(n): c for n, c in known}, _REMEDY))

    def locate(self, name: str) -> Path:
        """Return the file of a shard."""
        return self.path / f"{name}{self.suffix}"

    def checksums(self) -> dict[str, str]:
        """Return the checksum of each shard by its name."""
        return {n: known.digest for n, known in self.read_list().checksums.items()}

    def total(self, count: str) -> int:
        """Return the sum of one count over all shards."""
        return sum(c.get(count, 0) for c in self.read_list().counts.values())

    def _answer(self, start: StartOfShards) -> None:
        """Tell a start which shards are finished."""
        self._start = start
        self._work.start()
        found = self.read_list()
        if found.made_from == start.made_from:
            self.drop_damaged()
        elif found.counts and self._is_reusable(found):
            self._restart(start.made_from)
        elif found.counts:
            start.ask_before_discarding(self.path, self._work.read(), found.parts)
        start.finished = self.finished(start.made_from)
        start.sources = self.read_list().sources
        start.files = {name: self.locate(name) for name in start.finished}
        start.previous = tuple(sorted((self.path / _PREVIOUS).glob(f"*{self.suffix}")))

    def _check(self, name: str, found: ShardList) -> None:
        if name in found.checksums:
            found.checksums[name].check_once(self.locate(name), _REMEDY)

    def _find_damaged(self, found: ShardList) -> set[str]:
        damaged = {n for n in found.counts if not self.locate(n).is_file()}
        for name in found.checksums.keys() - damaged:
            try:
                self._check(name, found)
            except DamagedFileError:
                damaged.add(name)
        return damaged

    def drop_damaged(self, kept: Collection[str] | None = None) -> None:
        """Forget damaged shards, and all but those ``kept``."""
        found = self.read_list()
        damaged = self._find_damaged(found)
        others = found.counts.keys() - (found.counts if kept is None else kept)
        whole = found.drop(damaged | others)
        if damaged:
            text = ", ".join(sorted(damaged)[:5])
            logger.warning(
                "%d damaged or missing shards in %s are rebuilt: %s",
                len(damaged), self.path, text,
            )  # fmt: skip
        if whole != found:
            whole.write(self.path)

    def _is_reusable(self, found: ShardList) -> bool:
        part = self._start.reuse
        return bool(part) and found.parts.get(part) == self._start.parts.get(part)

    def _restart(self, made_from: str) -> ShardList:
        found = self.read_list()
        is_start = self._start.made_from == made_from
        keep = is_start and self._is_reusable(found)
        if found.counts:
            logger.info("rebuilding %s: its input or parameters changed", self.path)
        if keep:
            self._put_aside(found)
        new = ShardList(
            made_from,
            parts=dict(self._start.parts) if is_start else {},
            suffix=self.suffix,
        )
        new.write(self.path)
        self._work.forget()
        # An earlier version may have named its files otherwise.
        suffixes = {self.suffix, found.suffix or self.suffix}
        for pattern in (*(f"*{suffix}" for suffix in suffixes), ".*.part"):
            for old in self.path.glob(pattern):
                old.unlink()
        if not keep:
            shutil.rmtree(self.path / _PREVIOUS, ignore_errors=True)
        return new

    def _put_aside(self, found: ShardList) -> None:
        """Set intact shards aside, where the next ones may reuse them."""
        aside = self.path / _PREVIOUS
        aside.mkdir(exist_ok=True)
        for name in found.counts.keys() - self._find_damaged(found):
            file = self.locate(name)
            file.replace(aside / f"{found.made_from}-{file.name}")
