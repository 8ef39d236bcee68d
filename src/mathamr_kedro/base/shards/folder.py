"""A folder of shards: writing, resuming, refusing what is damaged."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import FileChecksum
from mathamr_kedro.base.errors import DamagedFileError, MissingInputError
from mathamr_kedro.base.files import replace_file, write_text
from mathamr_kedro.base.shards.items import EndOfShards, ShardItem, StartOfShards
from mathamr_kedro.base.shards.lists import LIST_NAME, ShardList

logger = logging.getLogger(__name__)

_PREVIOUS = ".previous"
_WORK = ".seconds"
"""File that says how long the shards took; it differs between runs, they do not."""
_REMEDY = (
    "run the stage that writes it again (`kedro run` with the --env of your run), it "
    "rebuilds the shard"
)


class ShardFolder:
    """A folder of shards with the list of the finished ones."""

    def __init__(self, path: str | Path, suffix: str) -> None:
        self.path = Path(path)
        self.suffix = suffix
        self._start = StartOfShards("")
        self._since: float | None = None
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
        """Of the bytes of all shards: what is made from them depends on it."""
        return self.read_list().checksum

    def finished(self, made_from: str) -> frozenset[str]:
        """Return the names of the whole shards that were made from the same input."""
        found = self.read_list()
        if found.made_from != made_from:
            return frozenset()
        transient = {n for n, counts in found.counts.items() if counts.get("transient")}
        return frozenset(found.counts.keys() - self._find_damaged(found) - transient)

    def save(
        self, item: ShardItem, write: Callable[[Any, Path], None] | None = None
    ) -> None:
        """Save what a node yields: answer a start, write a shard, record an end.

        Args:
            item: a start, a shard or an end.
            write: writes the rows of a shard to a path.
        """
        if isinstance(item, StartOfShards):
            self._answer(item)
        elif isinstance(item, EndOfShards):
            self.complete(item.made_from)
        else:
            if write is None:
                raise TypeError("Expected how to write the rows of a shard")
            rows = item.take_rows()
            self.write(
                item.name,
                item.made_from,
                item.counts,
                lambda path: write(rows, path),
                item.source,
            )

    def write(
        self,
        name: str,
        made_from: str,
        counts: Mapping[str, int],
        write: Callable[[Path], None],
        source: str = "",
    ) -> None:
        """Write one shard with ``write(path)`` and enter it into the list.

        Args:
            name: of the shard.
            made_from: what it was made from; another one restarts the folder.
            counts: for the account of the stage.
            write: writes the shard to the path it is given.
            source: checksum of the one shard that it was made from.
        """
        found = self.begin(made_from)
        with replace_file(self.find(name)) as part:
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
        self._note_time()

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
        """Return the finished shards in order; refuse an unfinished folder.

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
            known.check_size(self.find(name), _REMEDY)
        return [self.find(name) for name in sorted(found.counts)]

    def check(self, file: Path) -> Path:
        """Refuse a shard whose bytes were changed; each is read once in a process.

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
        """Return what is wrong with the listed shards, a line for each; all is read."""
        found, lines = self.read_list(), []
        for name in sorted(found.checksums):
            try:
                found.checksums[name].check(self.find(name), _REMEDY)
            except DamagedFileError as exc:
                lines.append(str(exc))
        return lines

    def find(self, name: str) -> Path:
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
        self._start, self._since = start, time.monotonic()
        found = self.read_list()
        if found.made_from == start.made_from:
            self.drop_damaged()
        elif found.counts and self._is_reusable(found):
            self._restart(start.made_from)
        elif found.counts:
            work = self._measure_work()
            start.ask_before_discarding(self.path, work, found.parts)
        start.finished = self.finished(start.made_from)
        start.sources = self.read_list().sources
        start.files = {name: self.find(name) for name in start.finished}
        start.previous = tuple(sorted((self.path / _PREVIOUS).glob(f"*{self.suffix}")))

    def _check(self, name: str, found: ShardList) -> None:
        if name in found.checksums:
            found.checksums[name].check_once(self.find(name), _REMEDY)

    def _find_damaged(self, found: ShardList) -> set[str]:
        damaged = {n for n in found.counts if not self.find(n).is_file()}
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

    def _measure_work(self) -> float:
        """Return the seconds that the shards took."""
        with suppress(OSError, ValueError):
            return float((self.path / _WORK).read_text())
        return 0.0

    def _note_time(self) -> None:
        """Add the seconds since the last shard to the work in the folder."""
        now, since = time.monotonic(), self._since
        self._since = now
        if since is not None:
            known = self._measure_work()
            write_text(self.path / _WORK, f"{known + now - since:.1f}\n")

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
        (self.path / _WORK).unlink(missing_ok=True)
        for old in self._own_files():
            old.unlink()
        if not keep:
            shutil.rmtree(self.path / _PREVIOUS, ignore_errors=True)
        return new

    def _put_aside(self, found: ShardList) -> None:
        """Move whole shards to where the next ones may take from them."""
        aside = self.path / _PREVIOUS
        aside.mkdir(exist_ok=True)
        for name in found.counts.keys() - self._find_damaged(found):
            file = self.find(name)
            file.replace(aside / f"{found.made_from}-{file.name}")

    def _own_files(self) -> Iterator[Path]:
        yield from self.path.glob(f"*{self.suffix}")
        yield from self.path.glob(".*.part")


class Shards:
    """A folder of shards to read; nothing is read before it is asked for."""

    def __init__(self, folder: ShardFolder) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder.path

    @property
    def checksum(self) -> str:
        """Of the bytes of all shards: what is made from them depends on it."""
        return self._folder.checksum

    @property
    def made_from(self) -> str:
        """Checksum of what the shards were made from."""
        return self._folder.read_list().made_from

    @property
    def counts(self) -> dict[str, int]:
        """The account over all shards, e.g. ``{"read": 9, "written": 9, ...}``."""
        totals: dict[str, int] = {}
        for shard in self.counts_by_shard.values():
            for name, count in shard.items():
                totals[name] = totals.get(name, 0) + count
        return totals

    @property
    def counts_by_shard(self) -> Mapping[str, Mapping[str, int]]:
        """The account of each shard."""
        return self._folder.read_list().counts

    def checksums(self) -> dict[str, str]:
        """Return the checksum of each shard by its name."""
        return self._folder.checksums()

    def files(self) -> list[Path]:
        """Return the files of the shards, in order."""
        return self._folder.files()
