"""The index of a store of vectors: built once, opened by many.

::

    build_index(EngineConfig("edge"), store, folder)      # an empty folder
    with open_index(EngineConfig("edge"), store, folder) as index:
        hits = index.search_maxsim([query.vectors], depth=10)

Who builds makes the folder atomic (:func:`~mathamr_kedro.base.files.replace_folder`),
so a killed build leaves nothing. Qdrant's packages are loaded only if they are used.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from mathamr_kedro.base.checksums import (
    check_folder,
    checksum,
    read_json,
    write_checksums,
)
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.vectors.config import REMEDY, EngineConfig
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.qdrant import QdrantIndex
from mathamr_kedro.vectors.store import VectorStore

_NOTE = "built_from.json"
"""What tells an index from others."""

BuiltIndex: TypeAlias = ExactIndex | QdrantIndex


def build_index(config: EngineConfig, store: VectorStore, folder: Path) -> None:
    """Build the index of a store in an empty folder.

    Raises:
        MalformedInputError: a post has more vectors than Qdrant takes.
        DiskFullError: there is no room.
    """
    if config.engine == "exact":  # scans the store
        return
    content = _describe(config, store)
    name = f"{config.name}_{content}"
    _find_engine(config).build_collections(config, name, store, folder)
    note = {"engine": config.engine, "name": name, "content": content}
    write_text(folder / _NOTE, json.dumps(note, indent=2) + "\n")
    write_checksums(folder, deep=True)


def open_index(
    config: EngineConfig, store: VectorStore, folder: Path, verify: bool = False
) -> BuiltIndex:
    """Open the index of a store; any number of processes may have one open.

    Args:
        config: as it was built.
        store: from which it was built.
        folder: of the index.
        verify: read all its files whole; sizes are always looked at.

    Raises:
        MissingInputError: there is none, or one of other vectors.
        DamagedFileError: it is not as it was built.
    """
    if config.engine == "exact":
        return ExactIndex(store, config.device, config.scan)
    check_folder(folder, REMEDY, whole=verify)
    note = folder / _NOTE
    found = read_json(note, REMEDY) if note.is_file() else {}
    if found.get("content") != _describe(config, store):
        raise MissingInputError(
            f"Expected an index of the vectors in {str(store.folder)!r} by "
            f"{config.engine!r} in {str(folder)!r} (got "
            f"{'one of others' if found else 'none'}); {REMEDY}"
        )
    collections = _find_engine(config).open_collections(config, found["name"], folder)
    return QdrantIndex(collections, store, config.hnsw, folder)


def _find_engine(config: EngineConfig) -> Any:
    return import_module(f"{__package__}.{config.engine}")


def _describe(config: EngineConfig, store: VectorStore) -> str:
    return checksum(store.content, config.describe_result())
