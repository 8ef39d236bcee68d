"""All graphs of a collection to stores of vectors, shard by shard.

::

    graphs 0 .. 4095    -> encoder -> GraphRange("posts", 0, 4096)
    graphs 4096 .. 8191 -> encoder -> GraphRange("posts", 4096, 8192)        ...

    06_models/systems/mathamr_plus/<training>/vectors/<encoder and graphs>/
      posts/     posts, and the formulas beside them
      topics/    topics: the queries of both tasks

The store knows which graphs its shards hold: a killed run encodes those that are not in
yet, whatever the size of a shard is now. The end is proved: every graph is in the
store. The vectors of formulas get the ids of the prepared graphs.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.errors import (
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors, scale_to_length_one
from mathamr_kedro.base.workers import WorkerConfig, run_each
from mathamr_kedro.graph import (
    FORMULA,
    FORMULA_TYPE,
    POST_TYPES,
    GraphShards,
    PreparedGraphs,
)
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model
from mathamr_kedro.systems.mathamr_plus.encoder import Encoder
from mathamr_kedro.vectors import (
    Dtype,
    VectorIndex,
    compute_bytes,
    count_by_type,
)
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store import GraphRange, StoreWriter, VectorStore

logger = logging.getLogger(__name__)

_give_back: Any = getattr(ctypes.CDLL(None), "malloc_trim", lambda spare: None)
"""Gives freed memory back: the C library of Linux had kept 200 KB for every post."""

_POSTS, _TOPICS = "posts", "topics"


@dataclass(frozen=True)
class EncodingConfig:
    """How graphs are encoded; never changes a vector beyond rounding."""

    posts_per_shard: int = 4096
    """A killed run loses at most one shard of work."""
    compute: ComputeConfig = field(default_factory=ComputeConfig)
    workers: WorkerConfig = field(
        default_factory=lambda: WorkerConfig(workers=1, batch_size=1, timeout_s=3600)
    )

    def __post_init__(self) -> None:
        check_range(self, "posts_per_shard", least=1)


class EncodeRanges:
    """The function of the workers: ranges of graphs to vectors."""

    def __init__(
        self,
        model_folder: Path,
        open_graphs: Callable[[], GraphShards],
        compute: ComputeConfig,
    ) -> None:
        self._model_folder, self._open_graphs = model_folder, open_graphs
        self._compute = compute
        self._loaded: tuple[MathAMRPlus, GraphShards] | None = None

    def prepare(self) -> tuple[MathAMRPlus, GraphShards]:
        """Load the model once in each worker."""
        graphs = self._open_graphs()
        self._loaded = load_model(self._model_folder, self._compute), graphs
        return self._loaded

    def __call__(self, ranges: Sequence[GraphRange]) -> list[RaggedVectors]:
        """Encode each range."""
        model, graphs = self._loaded or self.prepare()
        return [_encode(model, graphs, np.arange(r.first, r.last)) for r in ranges]


def _open_part(prepared: Path, part: str) -> GraphShards:
    return PreparedGraphs(prepared).open(part)


def _encode(
    model: MathAMRPlus, graphs: GraphShards, positions: NDArray[np.int64]
) -> RaggedVectors:
    """Encode graphs into memory of their own."""
    parts: list[RaggedVectors] = []
    for part in encode_shards(model, graphs, positions):
        parts.append(replace(part, vectors=part.vectors.copy()))
        _give_back(0)
    return RaggedVectors.join(parts)


def _list_ranges(
    count: int, of: str, size: int, done: Iterable[GraphRange] = ()
) -> list[GraphRange]:
    """Cut the graphs that are not in the shards ``done`` into shards of some size.

    >>> _list_ranges(5, "posts", 3)[1]
    GraphRange(of='posts', first=3, last=5)
    >>> done = [GraphRange("posts", 2, 4)]
    >>> [(r.first, r.last) for r in _list_ranges(9, "posts", 4, done)]
    [(0, 2), (4, 8), (8, 9)]
    """
    is_in = np.zeros(count + 2, dtype=np.bool_)
    is_in[0] = is_in[-1] = True
    for shard in done:
        if shard.of == of:
            is_in[shard.first + 1 : min(shard.last, count) + 1] = True
    edges = np.flatnonzero(np.diff(is_in)).reshape(-1, 2).tolist()
    return [
        GraphRange(of, a, min(a + size, last))
        for first, last in edges
        for a in range(first, last, size)
    ]


def encode_collection(
    writer: StoreWriter,
    function: EncodeRanges,
    of: str,
    graphs: CollectionGraphs,
    config: EncodingConfig,
) -> None:
    """Encode what a store lacks of some graphs; prove that it lacks nothing.

    Raises:
        DamagedFileError: the store does not hold what the graphs say.
    """
    ranges = _list_ranges(graphs.count(), of, config.posts_per_shard, writer.shards)
    missing = {r.name: r for r in ranges}
    results = run_each(function, missing.items(), config.workers)
    total = sum(r.last - r.first for r in ranges)
    what = f"{of.partition('-')[0]} encoded"
    for name, encoded in report_progress(
        results, what, lambda result: len(result[1]), total=total
    ):
        chosen = missing[name]
        posts = graphs.describe(np.arange(chosen.first, chosen.last), encoded)
        writer.write(posts, chosen)
    graphs.prove(VectorStore(writer.folder), of)


class CollectionGraphs:
    """The graphs of a collection, with what the store says about each.

    Args:
        shards: of prepared graphs, with the ids of their formulas.
        returnable: whether Task 2 may return each of their formulas; ``None``: all.
    """

    def __init__(
        self,
        shards: GraphShards,
        returnable: NDArray[np.bool_] | None = None,
    ) -> None:
        self._shards, self._types = shards, shards.post_types
        self._returnable = returnable

    def count(self) -> int:
        """Return how many graphs to encode: texts to learn from come last, without."""
        found = np.flatnonzero(self._types != POST_TYPES.index("example"))
        return int(found[-1]) + 1 if len(found) else 0

    def prove(self, store: VectorStore, of: str) -> None:
        """Raise :class:`DamagedFileError` unless a store holds all of these graphs."""
        keys = [self._shards.keys[i] for i in range(self.count())]
        lost = [k for k in keys if k not in store]
        shards = [r for r in store.shards if r.of == of]
        formulas = self._shards.count_formulas(len(keys))
        for name, expected, found in (
            ("posts in shards", len(keys), sum(r.last - r.first for r in shards)),
            ("formulas in shards", formulas, sum(r.formulas for r in shards)),
            ("posts", len(keys), len(keys) - len(lost)),
        ):
            if found != expected:
                which = f", e.g. post {lost[0]!r} is missing" if lost else ""
                raise DamagedFileError(
                    f"Expected {expected} {name} in {str(store.folder)!r}, as many as "
                    f"graphs (got {found}{which}); delete the folder and run "
                    "`kedro run --pipelines indexing` with the --env of your run again"
                )

    def describe(
        self, positions: NDArray[np.int64], encoded: RaggedVectors[NDArray[Any]]
    ) -> PostVectors:
        """Say what the encoded posts at some positions are.

        Of formulas beside the posts only their own vectors count.
        """
        kinds = np.asarray(encoded.columns["kind"], dtype=np.uint8)
        numbers = np.asarray(encoded.columns["number"], dtype=np.uint32)
        formula_ids, visual_ids = self._shards.name_formulas(positions)
        nodes: RaggedVectors[NDArray[Any]] = RaggedVectors(
            scale_to_length_one(encoded.vectors),
            np.asarray(encoded.ptr, dtype=np.int64),
            {"kind": kinds, "number": numbers},
        )
        self._refuse_unnamed(positions, nodes, formula_ids)
        if (self._types[positions] == POST_TYPES.index(FORMULA_TYPE)).all():
            nodes = _keep_formulas(nodes)
        flags = np.ones(len(formula_ids), dtype=np.bool_)
        if self._returnable is not None:
            flags = self._returnable[self._shards.number_formulas(positions)]
        posts = PostVectors(
            keys=TextColumn.of(self._shards.keys[i] for i in positions),
            post_types=self._types[positions],
            nodes=nodes,
            formula_ids=formula_ids,
            visual_ids=visual_ids,
            returnable=flags,
        )
        posts.check()
        return posts

    def _refuse_unnamed(
        self,
        positions: NDArray[np.int64],
        nodes: RaggedVectors[NDArray[Any]],
        formula_ids: TextColumn,
    ) -> None:
        nameless = np.flatnonzero(np.diff(formula_ids.ends, prepend=0) == 0)
        if len(nameless) == 0:
            return
        row = np.flatnonzero(nodes.columns["kind"] == FORMULA)[nameless[0]]
        owner = int(np.searchsorted(nodes.ptr, row, side="right")) - 1
        raise MalformedInputError(
            f"Expected an id for FORMULA_{nodes.columns['number'][row]} of post "
            f"{self._shards.keys[positions[owner]]!r} (got none); the graph "
            "has a formula that is not in its formula_map"
        )


def _keep_formulas(
    nodes: RaggedVectors[NDArray[Any]],
) -> RaggedVectors[NDArray[Any]]:
    is_formula = nodes.columns["kind"] == FORMULA
    counted = np.concatenate([[0], np.cumsum(is_formula, dtype=np.int64)])
    columns = {name: values[is_formula] for name, values in nodes.columns.items()}
    return RaggedVectors(nodes.vectors[is_formula], counted[nodes.ptr], columns)


class CollectionVectors(NamedTuple):
    """All vectors of a collection by one encoder."""

    topics: VectorStore
    posts: VectorStore


def open_vectors(folder: Path, verify: bool = False) -> CollectionVectors:
    """Open the complete vectors of an encoder.

    Args:
        folder: of the encoder's vectors.
        verify: read all files whole; their sizes are always looked at.

    Raises:
        MissingInputError: they are missing or unfinished.
        DamagedFileError: a file is not what was written.
    """
    posts, topics = (_open(folder / part, verify) for part in (_POSTS, _TOPICS))
    return CollectionVectors(topics, posts)


def encode_graphs(
    encoder: Encoder, config: EncodingConfig, dtype: Dtype = "float32"
) -> CollectionVectors:
    """Encode all posts and topics that are not encoded yet, shard by shard."""
    graphs = encoder.graphs.check()
    posts = {
        part: CollectionGraphs(graphs.open(part), graphs.load_returnable(part))
        for part in ("posts", "formulas")
    }
    store = _write(_POSTS, posts, encoder, config, dtype)
    logger.info("%s formulas may be returned", f"{store.num_formulas():,}")
    topics = {"topics": CollectionGraphs(graphs.topics)}
    return CollectionVectors(_write(_TOPICS, topics, encoder, config, dtype), store)


def _write(
    kind: str,
    sources: Mapping[str, CollectionGraphs],
    encoder: Encoder,
    config: EncodingConfig,
    dtype: Dtype,
) -> VectorStore:
    """Encode graphs, given by the name of their folder, into one store."""
    graphs, width = encoder.graphs, encoder.config.projection_dim
    folder = encoder.vectors_folder / kind
    # Other topics are other shards of the same store.
    stems = {
        name: f"{name}-{graphs.sources[name]}" if name == "topics" else name
        for name in sources
    }
    with StoreWriter(folder, encoder.checksum, width, dtype, stems.values()) as writer:
        for name, source in sources.items():
            function = EncodeRanges(
                encoder.model_folder,
                partial(_open_part, graphs.folder, name),
                config.compute,
            )
            encode_collection(writer, function, stems[name], source, config)
        writer.complete()
    return _open(folder, verify=False)


def _open(folder: Path, verify: bool) -> VectorStore:
    store = VectorStore(folder)
    if verify:
        store.check()
    if not store.is_complete:
        raise MissingInputError(
            f"{str(store.folder)!r} is unfinished; run `kedro run --pipelines "
            "indexing` with the --env of your run: it resumes"
        )
    return store


def describe_vectors(vectors: CollectionVectors, index: VectorIndex) -> dict[str, Any]:
    """Return what an index holds, with its bytes, and the same by type of post.

    Bytes of the whole are those that the engine tells; if it does not, and for each
    type of post, they are computed.
    """
    store, size = vectors.posts, index.size()
    counts = count_by_type(store)
    computed = compute_bytes(counts, store.width, size.number_bytes)
    posts, formulas = size.post_bytes, size.formula_bytes
    if size.source == "unknown":
        posts = sum(of_posts for of_posts, _ in computed.values())
        formulas = sum(of_formulas for _, of_formulas in computed.values())
    names = ("post_bytes", "formula_bytes")
    return {
        "posts": size.posts,
        "formulas": size.formulas,
        "topics": len(vectors.topics),
        "vectors": sum(found.vectors for found in counts.values()),
        "width": store.width,
        "bytes": posts + formulas,
        "post_bytes": posts,
        "formula_bytes": formulas,
        "bytes_from": "computed" if size.source == "unknown" else size.source,
        "post_types": {
            name: found._asdict() | dict(zip(names, computed[name], strict=True))
            for name, found in counts.items()
        },
        "machine": asdict(Machine.find()),
    }
