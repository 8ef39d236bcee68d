"""The vectors of all nodes of all formulas, an index for each representation.

::

    index/
      formulas.safetensors   ids of the formulas, their visual ids and posts
      slg/vectors/           a store of vectors: a formula is an entry, a node a vector
      slg/edge/              Qdrant's graph over them (engine ``edge``)
      opg/...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathamr_kedro.base.arrays import Arrays, TextColumn, read_arrays, write_arrays
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.graph import SENTENCE
from mathamr_kedro.model import ComputeConfig, checksum_model
from mathamr_kedro.systems.base import Collection, choose_instances
from mathamr_kedro.systems.formula_rgcn.config import Config, Kind, NodeSearchConfig
from mathamr_kedro.systems.formula_rgcn.encoder import NodeEncoder, NodeEncoders
from mathamr_kedro.vectors import (
    EngineConfig,
    HnswConfig,
    PostEntry,
    PostVectors,
    VectorIndex,
    Vectors,
    VectorStore,
    open_index,
)

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTrees

_FORMULAS = "formulas.safetensors"
_COLUMNS = ("formula_id", "visual_id", "post_id", "latex")
_AT_ONCE = 4096
"""Formulas of a commit."""


class NodeIndexes:
    """The indexes of all representations, below one folder."""

    def __init__(self, config: NodeSearchConfig, folder: Path) -> None:
        self._config, self._folder = config, folder
        self._opened: dict[Kind, tuple[VectorStore, VectorIndex]] = {}

    @classmethod
    def build(
        cls, sources: Collection, config: Config, model: Path, folder: Path
    ) -> dict[str, Any]:
        """Encode one instance of each visual id; return counts and ``bytes``."""
        encoders, dtype = NodeEncoders.load(config.model, model), config.search.dtype
        formulas = choose_instances(sources.formulas())
        nodes = dict.fromkeys(config.model.kinds, 0)
        with ExitStack() as stack:
            stores = {
                kind: stack.enter_context(_create(config, model, folder / kind))
                for kind in config.model.kinds
            }
            for some in _take_turns(formulas):
                found = {f.formula_id: sources.trees_of(f) for f in some}
                for kind, store in stores.items():
                    entries = _encode(encoders[kind], found)
                    nodes[kind] += sum(len(entry.vectors) for entry in entries)
                    if entries:
                        store.commit(PostVectors.of(entries, dtype))
            for store in stores.values():
                store.complete()
        _write_formulas(folder, formulas)
        built = cls(config.search, folder)
        for kind in config.model.kinds:
            built.open(kind)[1].close()
        files = (path for path in folder.rglob("*") if path.is_file())
        return {
            "formulas": len(formulas),
            **{f"{kind}_nodes": count for kind, count in nodes.items()},
            "bytes": sum(path.stat().st_size for path in files),
        }

    def open(self, kind: Kind) -> tuple[VectorStore, VectorIndex]:
        """Return vectors and index of one representation, opened once."""
        if kind not in self._opened:
            store = VectorStore(self._folder / kind / "vectors")
            engine = EngineConfig(
                engine=self._config.engine,
                device=ComputeConfig().choose_device().type,
                hnsw=HnswConfig(doc_m=0, all_m=self._config.hnsw_m),
            )
            index = open_index(engine, store, self._folder / kind / "edge")
            self._opened[kind] = store, index
        return self._opened[kind]

    @cached_property
    def formulas(self) -> dict[FormulaId, FormulaInstance]:
        """What can be found."""
        arrays = read_arrays(self._folder / _FORMULAS)
        columns = [
            TextColumn(arrays[f"{name}.text"], arrays[f"{name}.ends"])
            for name in _COLUMNS
        ]
        return {row[0]: FormulaInstance(*row) for row in zip(*columns, strict=True)}


def _create(config: Config, model: Path, folder: Path) -> VectorStore:
    return VectorStore.open(
        folder / "vectors",
        checksum_model(model),
        config.model.hidden_dim,
        config.search.dtype,
    )


def _encode(
    encoder: NodeEncoder, found: Mapping[FormulaId, FormulaTrees | None]
) -> list[PostEntry]:
    picked = {name: encoder.pick(trees) for name, trees in found.items()}
    shown = {name: tree for name, tree in picked.items() if tree is not None}
    vectors = encoder.encode(list(shown.values()))
    return [_enter(*pair) for pair in zip(shown, vectors, strict=True)]


def _write_formulas(
    folder: Path, formulas: Mapping[FormulaId, FormulaInstance]
) -> None:
    arrays: Arrays = {}
    for name in _COLUMNS:
        column = TextColumn.of(getattr(f, name) for f in formulas.values())
        arrays |= {f"{name}.text": column.text, f"{name}.ends": column.ends}
    write_arrays(folder / _FORMULAS, arrays)


def _enter(name: FormulaId, vectors: Vectors) -> PostEntry:
    """Make a formula an entry of a store: as a document, a node as a sentence of it."""
    count = len(vectors)
    return PostEntry(name, "document", vectors, [SENTENCE] * count, range(count))


def _take_turns(
    formulas: Mapping[FormulaId, FormulaInstance],
) -> Iterator[list[FormulaInstance]]:
    """Yield the formulas of one commit after another."""
    read = report_progress(
        formulas.values(), "formulas indexed for formula_rgcn", total=len(formulas)
    )
    while some := list(islice(read, _AT_ONCE)):
        yield some
