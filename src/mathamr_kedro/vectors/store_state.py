"""``store.json``: the files of a store that count, with a checksum of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mathamr_kedro.base.arrays import Arrays, read_arrays, write_arrays
from mathamr_kedro.base.checksums import FileChecksum, checksum
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.types import PostId
from mathamr_kedro.vectors.post_vectors import PostVectors

Dtype: TypeAlias = Literal["float32", "float16"]
_LIST_NAME = "store.json"
_VERSION = 2
_SUFFIX = ".safetensors"
_REMEDY = (
    "run `kedro run --pipelines indexing` with the --env of your run: it encodes again "
    "what is damaged"
)


@dataclass(frozen=True)
class GraphRange:
    """A finished batch: the graphs from ``first`` up to, but without, ``last``."""

    of: str
    """What they are graphs of: ``posts``, or certain topics."""
    first: int
    last: int
    formulas: int = 0
    """In all of them."""

    @property
    def name(self) -> str:
        """Name of the batch, in messages and in the entry of its segment."""
        return f"{self.of}-{self.first:08d}-{self.last:08d}"


@dataclass(frozen=True)
class SegmentEntry:
    """What ``store.json`` says about one segment."""

    name: str
    posts: int
    vectors: int
    formulas: int
    seal: FileChecksum
    added: int
    """Generation that added it."""
    ranges: tuple[str, ...] = ()
    """Batches of the collection that are in it; none where posts were added by hand."""
    dead: str | None = None
    """File that lists its replaced and deleted posts."""
    dead_seal: FileChecksum | None = None

    @classmethod
    def write(
        cls,
        folder: Path,
        posts: PostVectors,
        generation: int,
        ranges: Sequence[str] = (),
        part: int = 0,
    ) -> SegmentEntry:
        """Write posts as a segment; it counts once ``store.json`` lists the entry.

        Args:
            folder: of the store.
            posts: what to write.
            generation: commit that adds it.
            ranges: batches of the collection that the posts are from.
            part: tells segments of one commit apart.
        """
        name = f"seg-{generation:06d}" + (f"-{part}" if part else "")
        path = folder / f"{name}{_SUFFIX}"
        write_arrays(path, posts.to_arrays())
        vectors, formulas = len(posts.vectors), len(posts.formula_ids)
        return cls(
            name, len(posts), vectors, formulas, FileChecksum.of(path), generation,
            tuple(ranges),
        )  # fmt: skip

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> SegmentEntry:
        """Undo :func:`dataclasses.asdict`."""
        seals = {
            name: None if found[name] is None else FileChecksum(**found[name])
            for name in ("seal", "dead_seal")
        }
        return cls(**found | seals | {"ranges": tuple(found["ranges"])})

    def write_dead(self, folder: Path, arrays: Arrays, generation: int) -> SegmentEntry:
        """Write which posts are dead; return the entry with that file."""
        name = f"dead-{generation:06d}-{self.name.removeprefix('seg-')}"
        path = folder / f"{name}{_SUFFIX}"
        write_arrays(path, arrays)
        return replace(self, dead=name, dead_seal=FileChecksum.of(path))

    def read(self, folder: Path, name: str) -> Arrays:
        """Map one of its files, ``name`` or ``dead``.

        Raises:
            DamagedFileError: it is missing or cut short.
        """
        path = folder / f"{name}{_SUFFIX}"
        try:
            dict(self.files(folder))[path].check_size(path, _REMEDY)
            return read_arrays(path)
        except (MissingInputError, MalformedInputError, FileNotFoundError) as exc:
            raise DamagedFileError(f"{exc}; {_REMEDY}") from exc

    def files(self, folder: Path) -> Iterator[tuple[Path, FileChecksum]]:
        """Yield its files, each with its checksum."""
        yield folder / f"{self.name}{_SUFFIX}", self.seal
        if self.dead is not None and self.dead_seal is not None:
            yield folder / f"{self.dead}{_SUFFIX}", self.dead_seal

    def find_damage(self, folder: Path) -> DamagedFileError | None:
        """Read its files whole and return what is wrong with them."""
        try:
            for path, seal in self.files(folder):
                seal.check(path, _REMEDY)
        except DamagedFileError as error:
            return error
        return None


@dataclass(frozen=True)
class StoreState:
    """What ``store.json`` holds."""

    encoder: str
    width: int
    identity: str
    """Tells stores apart that were made one after another in one folder."""
    dtype: Dtype = "float32"
    generation: int = 0
    compacted: int = 0
    """Deletions up to this generation are forgotten."""
    complete: bool = False
    shards: tuple[GraphRange, ...] = ()
    """Batches of the collection that are in, to go on after a kill."""
    deleted: tuple[PostId, ...] = ()
    """Posts that were deleted by hand: a stage must not bring them back."""
    segments: tuple[SegmentEntry, ...] = ()
    version: int = _VERSION

    @cached_property
    def gone(self) -> frozenset[PostId]:
        """Posts that were deleted by hand, to look them up."""
        return frozenset(self.deleted)

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Tell whether there is a store in a folder; one of an older version is not."""
        path = folder / _LIST_NAME
        try:
            found = json.loads(path.read_text(encoding="utf-8")).get("version")
        except FileNotFoundError:
            return False
        except (ValueError, AttributeError):
            return True  # to be refused when it is read
        return not (isinstance(found, int) and found < _VERSION)

    @classmethod
    def read(cls, folder: Path) -> StoreState:
        """Read ``store.json``; refuse a folder without one."""
        path = folder / _LIST_NAME
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["version"] != _VERSION:
                raise ValueError(f"version {found['version']!r} instead of {_VERSION}")
            if found.pop("seal") != checksum(found):
                raise ValueError("its bytes were changed")
            entries = tuple(map(SegmentEntry.from_json, found.pop("segments")))
            shards = tuple(GraphRange(**r) for r in found.pop("shards"))
            deleted = tuple(found.pop("deleted"))
            return cls(segments=entries, shards=shards, deleted=deleted, **found)
        except FileNotFoundError as exc:
            raise MissingInputError(
                f"Expected a store of vectors in {str(folder)!r}; encode the posts "
                "first"
            ) from exc
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise DamagedFileError(
                f"Expected the state of a store in {str(path)!r} ({exc}); delete that "
                "file, run `kedro run --pipelines indexing` with the --env of your "
                "run, and `mathamr index restore` if posts were added by hand"
            ) from exc

    def check_vectors(self, folder: Path, width: int, dtype: Dtype) -> None:
        """Raise :class:`ConfigurationError` where vectors would not fit."""
        if (self.width, self.dtype) != (width, dtype):
            raise ConfigurationError(
                f"Expected {width} numbers of {dtype} in a vector of {str(folder)!r} "
                f"(got {self.width} of {self.dtype}); delete the folder to encode anew"
            )

    def write(self, folder: Path) -> None:
        """Replace ``store.json``: the moment in which a commit happens."""
        content = json.loads(json.dumps(asdict(self)))
        content["seal"] = checksum(content)
        write_text(folder / _LIST_NAME, json.dumps(content, indent=1))

    def keep_shards(
        self, segments: Sequence[SegmentEntry], of: str
    ) -> Iterator[GraphRange]:
        """Yield the shards that are whole after a shard of some graphs was committed.

        Those of other topics are not, where these replace theirs.

        Args:
            segments: after the commit, in the same order.
            of: what was committed.
        """
        pairs = zip(self.segments, segments, strict=False)
        losing = {name for old, new in pairs if old != new for name in old.ranges}
        for shard in self.shards:
            if shard.of == of or shard.name not in losing:
                yield shard

    def without(self, damaged: Sequence[SegmentEntry]) -> StoreState:
        """Return the state without some segments, and with their batches to be done."""
        lost = {name for entry in damaged for name in entry.ranges}
        kept = tuple(e for e in self.segments if e not in damaged)
        # An index cannot know what is gone: it has to be built anew.
        generation = self.generation + 1
        return replace(
            self,
            segments=kept,
            shards=tuple(r for r in self.shards if r.name not in lost),
            generation=generation,
            compacted=generation,
            complete=False,
        )

    def remove_leftovers(self, folder: Path) -> None:
        """Remove the files that killed writers left, and those nobody lists now.

        A reader of an older commit keeps what it has mapped.
        """
        listed = {path for e in self.segments for path, _ in e.files(folder)}
        for file in folder.glob(f"*{_SUFFIX}"):
            if file not in listed:
                file.unlink()
        for part in folder.glob(".*.part"):
            part.unlink()
