"""The engine ``edge``: Qdrant's engine inside the process, in a folder of its own.

::

    edge/
      edge.json         which build is in use, the generation of the store it has, and
                        the checksums of its files
      build-3f0c.../    posts/  formulas/  progress.json
      view-3f0c...-77/  the same as one reader sees it (edge_views)

A build is put into use by replacing ``edge.json``. While files change, it lists no
checksums; after a kill the index is only compared with its store. Readers need no
lock; one process at a time changes the index, and readers go on with what they opened.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from weakref import finalize

from mathamr_kedro.base.errors import DamagedFileError, InputError, LockedError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.vectors.edge_builds import EdgeBuilds
from mathamr_kedro.vectors.following import Follower
from mathamr_kedro.vectors.points import SPACES, Collections
from mathamr_kedro.vectors.protocol import HnswConfig, IndexSize
from mathamr_kedro.vectors.qdrant import QdrantIndex
from mathamr_kedro.vectors.store import VectorStore

logger = logging.getLogger(__name__)


class EdgeIndex(QdrantIndex):
    """An index in a folder, made from a store and kept up to date with it.

    ::

        with EdgeIndex.open(folder, VectorStore(vectors)) as index:
            hits = index.search_maxsim([query.vectors], depth=1000)
    """

    def __init__(
        self, folder: Path, store: VectorStore, hnsw: HnswConfig, verify: bool = False
    ) -> None:
        self._folder, self._store = folder, store
        self._builds = EdgeBuilds(folder, store.width, hnsw, verify)
        self._follower = Follower(self._builds, store, asdict(hnsw))
        super().__init__(self._open(), store.encoder, store.state.dtype, hnsw)

    @classmethod
    def open(
        cls,
        folder: str | Path,
        store: VectorStore,
        hnsw: HnswConfig | None = None,
        verify: bool = False,
        patience: float = 0.0,
    ) -> EdgeIndex:
        """Open the index of a store; build what is missing or damaged.

        Args:
            folder: of the index.
            store: the vectors; it goes on to the commit that the index has.
            hnsw: graphs to build.
            verify: read all files whole; their sizes are always looked at.
            patience: seconds to wait for another process that is changing it.

        Raises:
            LockedError: it lacks something, and another process is changing it.
        """
        end = time.monotonic() + patience
        while True:
            try:
                return cls(Path(folder), store, hnsw or HnswConfig(), verify)
            except LockedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def _open(self) -> Collections:
        """View the index; bring it up to date where it is not."""
        try:
            return self._view()
        except InputError as exc:
            logger.debug("%s", exc)
        with FolderLock(
            self._folder, "it is changing the index: wait for it, then run this again"
        ):
            self._follower.open().close()
            return self._view()

    def _view(self) -> Collections:
        """Open the build in use beside other readers, unless it lacks something."""
        self._note, view, opened = self._builds.view(self._store, self._follower)
        self._close_view = finalize(opened.posts, view.close)
        return opened

    @staticmethod
    def verify(folder: Path) -> Iterator[DamagedFileError]:
        """Read the index in a folder whole; yield what is wrong with each file."""
        return EdgeBuilds(folder, 0, HnswConfig()).verify()

    @staticmethod
    def reached(folder: Path, store: VectorStore, hnsw: HnswConfig) -> int | None:
        """Return the generation of an index; ``None`` if it must be built."""
        builds = EdgeBuilds(folder, store.width, hnsw)
        return Follower(builds, store, asdict(hnsw)).reached()

    def __enter__(self) -> EdgeIndex:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def refresh(self) -> None:
        """Catch up with what was committed to the store."""
        self._store.refresh()
        if self._note != self._builds.read_note() or (
            self._note.generation != self._store.generation
        ):
            # Searches that have begun finish in the old build, which goes with them.
            self._collections = self._open()

    def size(self) -> IndexSize:
        """Return how much it holds, and its size on disk."""
        posts, formulas = (self._builds.count_bytes(kind) for kind in SPACES)
        return IndexSize(*super().size()[:2], posts, formulas, "disk")

    def close(self) -> None:
        """Release the files; a writer that comes later need not copy them."""
        super().close()
        self._close_view()
