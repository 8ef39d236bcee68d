"""Posts that were added, replaced and deleted after indexing, for all indexes alike.

::

    06_models/changes/
      posts.sqlite      the changes of a data root, with clean texts
      vectors.sqlite    what encoders made of added posts; made again if it is lost

Indexes are written once. What is changed later is kept here, and every index takes it
(:meth:`~mathamr_kedro.systems.base.Index.update`): it finds what was built without the
posts that were deleted or replaced, and in a small, exact index those that were added.

A post is changed by hand, or by a sync with a folder. The stages read a folder
themselves, so they forget what was synced; what was changed by hand stays.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import DamagedFileError, MathAMRError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.base.record_file import RecordFile
from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.base.types import PostId

_POSTS, _VECTORS = "posts.sqlite", "vectors.sqlite"
_MARK = 16
"""Bytes of the checksum of a post before what was made of it."""


class Change(NamedTuple):
    """What became of a post."""

    post: Post | None
    """As it is now; ``None``: it was deleted."""
    is_synced: bool = False
    """Whether a folder decides it."""


class VectorCache:
    """What encoders made of added posts.

    It saves time; no harm is done if it is lost, damaged or cannot be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file = RecordFile(path, "delete it", seconds=1.0) if path else None

    def find(self, encoder: str, posts: Collection[Post]) -> dict[PostId, bytes]:
        """Return what an encoder made of posts, of those for which it is known."""
        keys = {_name(encoder, post): post for post in posts}
        found: dict[PostId, bytes] = {}
        if self._file is None:
            return found
        with contextlib.suppress(MathAMRError):
            for key, content in self._file.find(keys).items():
                post, mark = keys[key], content[:_MARK]
                if mark == _mark(post):
                    found[post.post_id] = content[_MARK:]
        return found

    def keep(self, encoder: str, made: Mapping[Post, bytes]) -> None:
        """Remember what an encoder made of posts."""
        if self._file is None or not made:
            return
        records = {_name(encoder, p): _mark(p) + vectors for p, vectors in made.items()}
        with contextlib.suppress(MathAMRError, OSError):
            try:
                self._file.put(records)
            except DamagedFileError:  # or missing
                self._file.path.unlink(missing_ok=True)
                self._file.create()
                self._file.put(records)

    def drop(self, ids: Collection[PostId]) -> None:
        """Forget what was made of posts."""
        if self._file is None:
            return
        gone = {json.dumps(key) for key in ids}
        with contextlib.suppress(MathAMRError), self._file.changing() as records:
            for key in [key for key in records if key.partition(" ")[2] in gone]:
                del records[key]


def _name(encoder: str, post: Post) -> str:
    return f"{encoder} {json.dumps(post.post_id)}"


def _mark(post: Post) -> bytes:
    return checksum(post).encode()


@dataclass(frozen=True)
class Changes:
    """How the posts of a data root differ from those that were indexed."""

    added: Mapping[PostId, Post] = field(default_factory=dict)
    """With their clean texts; those that replaced others among them."""
    deleted: frozenset[PostId] = frozenset()
    synced: frozenset[PostId] = frozenset()
    """Of all: those that a folder decides, until the stages read it again."""
    cache: VectorCache = field(default_factory=VectorCache, compare=False)
    """What encoders made of added posts."""

    @classmethod
    def of(
        cls, posts: Mapping[PostId, Change], cache: VectorCache | None = None
    ) -> Self:
        """Return what became of posts."""
        added = {k: found.post for k, found in posts.items() if found.post is not None}
        synced = frozenset(key for key, found in posts.items() if found.is_synced)
        deleted = frozenset(posts.keys() - added.keys())
        return cls(added, deleted, synced, cache or VectorCache())

    @property
    def keys(self) -> frozenset[PostId]:
        """All posts that were changed."""
        return self.deleted.union(self.added)

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted)

    def by_hand(self) -> Changes:
        """Return those that no folder decides."""
        added = {k: post for k, post in self.added.items() if k not in self.synced}
        return Changes(added, self.deleted - self.synced, cache=self.cache)


class ChangeStore:
    """The changes of a data root.

    ::

        store = ChangeStore(data_root / "06_models" / "changes")
        with store.changing() as posts:            # other writers wait
            posts["note.md"] = Change(post)
        index.update(store.read())

    Readers see the state before a change or after it, whoever is killed when.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        remedy = (
            f"delete the folder {str(folder)!r}, then add the files of the posts that "
            "were added again (`mathamr index add`, or `mathamr index sync`)"
        )
        self._file = RecordFile(self.folder / _POSTS, remedy)
        self._known: dict[str, tuple[bytes, Change]] = {}
        """What was read before: most of it is the same the next time."""
        self.cache = VectorCache(self.folder / _VECTORS)

    def read(self) -> Changes:
        """Return all changes.

        Raises:
            DamagedFileError: they are not as they were written.
        """
        if not self.folder.exists():  # nothing was ever changed
            return Changes()
        return Changes.of(self._parse(self._file.read()), self.cache)

    def read_version(self) -> str:
        """Return what differs after each change, without reading all."""
        return self._file.read_version() if self.folder.exists() else ""

    @contextmanager
    def changing(self) -> Iterator[dict[PostId, Change]]:
        """Give all changes to be changed; on an error they stay as they are.

        Raises:
            LockedError: another process changes them.
            DamagedFileError: as :meth:`read`.
        """
        if not self.folder.exists():
            with replace_folder(self.folder) as part:
                RecordFile(part / _POSTS, "").create()
        with self._file.changing() as records:
            before = self._parse(records)
            posts = dict(before)
            yield posts
            for key in before.keys() - posts.keys():
                del records[json.dumps(key)]
            for key, change in posts.items():
                if change != before.get(key):
                    records[json.dumps(key)] = _write(change)

    def _parse(self, records: Mapping[str, bytes]) -> dict[PostId, Change]:
        known = self._known
        self._known = {
            key: known[key] if known.get(key, (b"",))[0] == content
            else (content, _read(content))
            for key, content in records.items()
        }  # fmt: skip
        return {json.loads(key): found for key, (_, found) in self._known.items()}

    def forget_synced(self) -> None:
        """Forget what was synced with a folder: the stages have just read it."""
        if not self.folder.exists():
            return
        with self.changing() as posts:
            gone = [key for key, change in posts.items() if change.is_synced]
            for key in gone:
                del posts[key]
        if gone:
            self.cache.drop(gone)


def _write(change: Change) -> bytes:
    post = None if change.post is None else change.post._asdict()
    return json.dumps({"post": post, "synced": change.is_synced}).encode()


def _read(content: bytes) -> Change:
    found: dict[str, Any] = json.loads(content)
    if (values := found["post"]) is None:
        return Change(None, found["synced"])
    values["formula_map"] = tuple(FormulaMention(*m) for m in values["formula_map"])
    values["tags"] = tuple(values["tags"])
    return Change(Post(**values), found["synced"])
