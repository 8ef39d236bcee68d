"""The vectors of all nodes of all formulas, an index for each representation.

::

    index/
      formulas.safetensors   ids of the formulas, their visual ids and posts
      slg/vectors/           a store of vectors: a formula is an entry, a node a vector
      slg/edge/              Qdrant's graph over them (engine ``edge``)
      opg/...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mathamr_kedro.arrays import TextColumn, read_arrays, write_arrays
from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.graph import SENTENCE
from mathamr_kedro.model import ComputeConfig, digest_model
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import FormulaInstance
from mathamr_kedro.search import (
    EngineConfig,
    PostEntry,
    PostVectors,
    VectorIndex,
    VectorStore,
    open_index,
)
from mathamr_kedro.search.engines import HnswConfig
from mathamr_kedro.systems.formula_rgcn.config import Config, Kind, NodeSearchConfig
from mathamr_kedro.systems.formula_rgcn.encoder import NodeEncoder
from mathamr_kedro.systems.formula_rgcn.forest import Forest
from mathamr_kedro.systems.formula_rgcn.trainer import load_encoders
from mathamr_kedro.systems.protocol import SystemSources
from mathamr_kedro.systems.queries import choose_instances
from mathamr_kedro.types import FormulaId

if TYPE_CHECKING:
    from mathamr_kedro.search.post_vectors import Vectors

_FORMULAS = "formulas.safetensors"
_COLUMNS = ("formula_id", "visual_id", "post_id", "latex")
_AT_ONCE = 4096
"""Formulas of a commit."""
_NODES = 1 << 15
"""Nodes that are encoded at once."""


def build_indexes(
    sources: SystemSources, config: Config, model: Path, folder: Path
) -> dict[str, Any]:
    """Encode one instance of each visual id; return counts and ``bytes``."""
    encoders = load_encoders(config.model, model)
    formulas = choose_instances(sources.formulas())
    counts: dict[str, Any] = {"formulas": len(formulas)}
    stores = {
        kind: VectorStore.open(
            folder / kind / "vectors",
            digest_model(model),
            config.model.hidden_dim,
            config.search.dtype,
        )
        for kind in config.model.kinds
    }
    read = report_progress(
        formulas.values(), "formulas indexed for formula_rgcn", total=len(formulas)
    )
    for some in _take_turns(read, _AT_ONCE):
        found = [(formula, sources.trees_of(formula)) for formula in some]
        for kind, store in stores.items():
            trees = {f.formula_id: pick_tree(t, kind) for f, t in found}
            shown = {name: tree for name, tree in trees.items() if tree is not None}
            vectors = encode_trees(encoders[kind], list(shown.values()))
            entries = [_enter(*pair) for pair in zip(shown, vectors, strict=True)]
            if entries:
                store.commit(PostVectors.of(entries, config.search.dtype))
                counts[f"{kind}_nodes"] = counts.get(f"{kind}_nodes", 0) + sum(
                    len(e.vectors) for e in entries
                )
    for kind, store in stores.items():
        store.complete()
        store.close()
        open_nodes(config.search, folder, kind)[1].close()
    write_formulas(folder, formulas)
    files = (path for path in folder.rglob("*") if path.is_file())
    return counts | {"bytes": sum(path.stat().st_size for path in files)}


def open_nodes(
    config: NodeSearchConfig, folder: Path, kind: Kind
) -> tuple[VectorStore, VectorIndex]:
    """Open the index of one representation; the engine ``edge`` is built if need be."""
    store = VectorStore(folder / kind / "vectors")
    engine = EngineConfig(
        engine=config.engine,
        device=ComputeConfig().choose_device().type,
        hnsw=HnswConfig(doc_m=0, all_m=config.hnsw_m),
    )
    return store, open_index(engine, store, folder / kind / "edge")


def pick_tree(trees: FormulaTrees | None, kind: Kind) -> FormulaTree | None:
    """Return the tree of a representation, if it shows anything."""
    tree = None if trees is None else trees.slt if kind == "slg" else trees.opt
    return None if tree is None or tree.is_blank else tree


@torch.inference_mode()
def encode_trees(encoder: NodeEncoder, trees: Sequence[FormulaTree]) -> list[Vectors]:
    """Return the vectors of the nodes of each tree, in preorder."""
    found: list[Vectors] = []
    forest = Forest.of(trees, encoder.vocabulary)
    device = encoder.bias.device
    # As many trees at once as have so many nodes, whatever their sizes.
    turn = forest.ptr[:-1] // _NODES
    for rows in np.split(np.arange(len(trees)), np.flatnonzero(np.diff(turn)) + 1):
        batch = forest.assemble(rows)
        vectors = encoder(batch.to(device)).float().cpu().numpy()
        found += [vectors[a:b] for a, b in pairwise(batch.node_ptr.tolist())]
    return found


def write_formulas(folder: Path, formulas: Mapping[FormulaId, FormulaInstance]) -> None:
    """Write what is known of the formulas that can be found."""
    arrays = {}
    for name in _COLUMNS:
        column = TextColumn.of(getattr(f, name) for f in formulas.values())
        arrays |= {f"{name}.text": column.text, f"{name}.ends": column.ends}
    write_arrays(folder / _FORMULAS, arrays)


def read_formulas(folder: Path) -> dict[FormulaId, FormulaInstance]:
    """Read what :func:`write_formulas` wrote."""
    arrays = read_arrays(folder / _FORMULAS)
    columns = [
        TextColumn(arrays[f"{name}.text"], arrays[f"{name}.ends"]) for name in _COLUMNS
    ]
    return {row[0]: FormulaInstance(*row) for row in zip(*columns, strict=True)}


def _enter(name: FormulaId, vectors: Vectors) -> PostEntry:
    """Make a formula an entry of a store: as a document, a node as a sentence of it."""
    count = len(vectors)
    return PostEntry(name, "document", vectors, [SENTENCE] * count, range(count))


def _take_turns(
    formulas: Iterator[FormulaInstance], count: int
) -> Iterator[list[FormulaInstance]]:
    while some := list(islice(formulas, count)):
        yield some
