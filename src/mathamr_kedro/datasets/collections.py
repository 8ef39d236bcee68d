"""Raw collections as datasets: read-only, lazy, their layout checked on load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from mathamr_kedro.base.checksums import ChecksumCache
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.corpus import (
    ArqmathCollection,
    ArqmathFiles,
    BeirCollection,
    BeirFiles,
    Collection,
    FormulaPool,
    FormulaPoolFiles,
    KnownItems,
    Ntcir12Collection,
    Ntcir12Files,
    Ntcir12Tuples,
    OwnCollection,
    PremiseCollection,
    StatementFiles,
    TupleFiles,
)
from mathamr_kedro.corpus.own_files import Unit

_KINDS: Mapping[str, tuple[Callable[..., Collection], type]] = {
    "arqmath": (ArqmathCollection, ArqmathFiles),
    "beir": (BeirCollection, BeirFiles),
    "formula_pool": (FormulaPool, FormulaPoolFiles),
    "ntcir12": (Ntcir12Collection, Ntcir12Files),
    "ntcir12_tuples": (Ntcir12Tuples, TupleFiles),
    "premises": (PremiseCollection, StatementFiles),
}
"""Readers of collections, and the classes that locate their files."""


class CollectionDataset(AbstractDataset[None, Collection]):
    """A folder of raw files: a collection, a benchmark or files of your own.

    Example of a catalog entry::

        collection:
          type: mathamr_kedro.datasets.collections.CollectionDataset
          kind: arqmath
          root: data/01_raw/sample
          files: {posts: Posts.V1.3.xml, ...}     # see ArqmathFiles, ...
          checksums: data/02_intermediate/raw_digests.json   # of large files, for reuse
          queries: [names.jsonl]                  # instead of its topics: KnownItems
          names: false                            # of documents are not searched then
    """

    def __init__(
        self,
        *,
        kind: str,
        root: str,
        files: Mapping[str, Any] | None = None,
        unit: Unit = "section",
        checksums: str | None = None,
        queries: Sequence[str] = (),
        names: bool = True,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        if kind not in (known := sorted((*_KINDS, "own"))):
            raise ConfigurationError(
                f"Expected one of {known} for 'kind' of a collection (got {kind!r}) "
                "(conf/<env>/catalog.yml)"
            )
        self._kind = kind
        self._root = root
        self._files = dict(files or {})
        self._unit = unit
        self._queries, self._names = tuple(queries), names
        self._checksums = Path(checksums) if checksums is not None else None
        self.metadata = metadata

    def load(self) -> Collection:
        """Return the lazy reader; refuse a folder that lacks a part."""
        collection = self._reader()
        if self._queries:
            collection = KnownItems(collection, self._queries, self._names)
        collection.checksums = ChecksumCache(self._checksums)
        collection.check_layout()
        return collection

    def _reader(self) -> Collection:
        if self._kind == "own":
            return OwnCollection(self._root, self._unit)
        reader, files = _KINDS[self._kind]
        where = "ingestion.collection.files"
        return reader(self._root, read_parameters(files, self._files, where))

    def save(self, data: None) -> None:
        """Raw data never changes."""
        raise ConfigurationError(f"The raw collection {self._root!r} is read-only")

    def _exists(self) -> bool:
        return Path(self._root).is_dir()

    def _describe(self) -> dict[str, Any]:
        return {"kind": self._kind, "root": self._root}
