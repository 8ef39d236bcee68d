"""Vectors and indexes as datasets: a folder for each encoder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset
from kedro_datasets._typing import TablePreview

from mathamr_kedro.base.errors import ConfigurationError, InputError, MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.datasets.previews import list_rows
from mathamr_kedro.datasets.store_folder import StoreFolderDataset
from mathamr_kedro.vectors import (
    Changes,
    Dtype,
    EngineConfig,
    StoreWriter,
    VectorStore,
    connect_index,
)

logger = logging.getLogger(__name__)

_LATEST = "latest.txt"
"""Checksum of the encoder whose index is in use."""


class VectorStores:
    """All stores of vectors below one folder, each named by its encoder."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        found = [f"{count_nouns(len(s), 'post')} by {s.encoder}" for s in self.list()]
        what = "; ".join(found) or "nothing encoded"
        return f"<{type(self).__name__}: {what}, in {self.base}>"

    def list(self) -> Sequence[VectorStore]:
        """Return all stores, for reading; those of other versions are left out."""
        found = []
        for path in sorted(self.base.glob("*/store.json")):
            with suppress(MissingInputError):
                found.append(VectorStore(path.parent))
        return found

    def write(
        self,
        encoder: str,
        width: int,
        dtype: Dtype,
        of: Collection[str] | None = None,
    ) -> StoreWriter:
        """Open the store of an encoder for writing (:class:`StoreWriter`)."""
        return StoreWriter(self.base / encoder, encoder, width, dtype, of)

    def verify(self) -> Iterator[InputError]:
        """Read all stores whole and yield what is wrong with them."""
        for path in sorted(self.base.glob("*/store.json")):
            try:
                yield from VectorStore(path.parent).verify()
            except InputError as error:
                yield error

    def read(self, encoder: str, verify: bool = True) -> VectorStore:
        """Open the complete store of an encoder.

        Args:
            encoder: its checksum.
            verify: read all files whole; their sizes are always looked at.

        Raises:
            MissingInputError: it is missing or unfinished.
            DamagedFileError: a file is not what was written.
        """
        store = VectorStore(self.base / encoder)
        for error in store.verify() if verify else ():
            raise error
        if not store.is_complete:
            raise MissingInputError(
                f"{str(store.folder)!r} is unfinished; run `kedro run --pipelines "
                "indexing` with the --env of your run: it resumes"
            )
        return store


class VectorStoresDataset(StoreFolderDataset[VectorStores]):
    """The folder of all stores of vectors; the stage writes below it, shard by shard.

    Example of a catalog entry::

        post_vectors:
          type: mathamr_kedro.datasets.vector_stores.VectorStoresDataset
          filepath: data/06_models/post_vectors
    """

    STORE = VectorStores
    WRITTEN_BY = "its stage"

    def preview(self) -> TablePreview:
        """List the stores in Kedro-Viz."""
        rows = [[s.encoder, len(s), s.width, s.is_complete] for s in self._store.list()]
        return list_rows(["encoder", "posts", "width", "complete"], rows)


class IndexPlaces:
    """Where indexes are: a folder for each encoder, and perhaps a server."""

    def __init__(self, base: Path, connect: Callable[[], Any] | None) -> None:
        self.base, self.connect = Path(base), connect

    def __repr__(self) -> str:
        found = count_nouns(len(list(self.base.glob("[!.]*/"))), "index folder")
        server = "" if self.connect is None else " and a server"
        return f"<{type(self).__name__}: {found}{server}, in {self.base}>"

    def folder(self, encoder: str) -> Path:
        """Return the folder of an index, whether it is there or not."""
        return self.base / encoder

    def verify(self) -> Iterator[InputError]:
        """Read all indexes in folders whole and yield what is wrong with them."""
        for folder in sorted(f for f in self.base.glob("*") if f.is_dir()):
            # Loaded here: the engine 'exact' needs no Qdrant.
            from mathamr_kedro.vectors.edge import EdgeConnection  # noqa: PLC0415

            yield from EdgeConnection(folder).verify()

    def read_changes(self, config: EngineConfig, encoder: str) -> Changes | None:
        """Return what was changed by hand in the index that was in use before.

        Args:
            config: its engine.
            encoder: the present one; ``None`` is returned if its index was in use.
        """
        try:
            before = (self.base / _LATEST).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        if before == encoder or config.engine == "exact":
            return None
        found = connect_index(config, before, self.folder(before), self.connect)
        try:
            return found.read_changes()
        except InputError as exc:
            logger.info("Nothing is taken over from the index before: %s", exc)
            return None

    def put_into_use(self, encoder: str) -> None:
        """Note whose index is in use now."""
        self.base.mkdir(parents=True, exist_ok=True)
        write_text(self.base / _LATEST, encoder)


class IndexesDataset(AbstractDataset[None, IndexPlaces]):
    """The folder of embedded indexes, and the Qdrant server of the engine ``server``.

    Example of a catalog entry; the key stands as ``qdrant: {api_key: ...}`` in
    ``credentials.yml`` of the same environment (``conf/local`` without ``--env``)::

        indexes:
          type: mathamr_kedro.datasets.vector_stores.IndexesDataset
          filepath: data/06_models/indexes
          url: https://qdrant.example.org:6333
          prefer_grpc: true
          credentials: qdrant
    """

    def __init__(
        self,
        *,
        filepath: str,
        url: str | None = None,
        prefer_grpc: bool = False,
        credentials: Mapping[str, str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._url, self._prefer_grpc = url, prefer_grpc
        self._credentials = dict(credentials or {})
        self._base = Path(filepath)
        self.metadata = metadata

    def load(self) -> IndexPlaces:
        """Return the places; a server is not called before it is needed."""
        if self._url is None:
            return IndexPlaces(self._base, None)
        # Loaded here: the engine 'exact' needs no Qdrant.
        from mathamr_kedro.vectors.server import connect  # noqa: PLC0415

        key = self._credentials.get("api_key")
        call = partial(connect, self._url, key, self._prefer_grpc)
        return IndexPlaces(self._base, call)

    def save(self, data: None) -> None:
        """Never called: the stage writes the indexes itself."""
        raise ConfigurationError(f"{str(self._base)!r} is written by its stage")

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._base), "url": self._url}
