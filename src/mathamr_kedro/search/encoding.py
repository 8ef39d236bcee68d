"""All graphs of a collection to a store of vectors, shard by shard.

::

    graphs 0 .. 4095    -> encoder -> commit "posts-00000000"
    graphs 4096 .. 8191 -> encoder -> commit "posts-00004096"        ...

A shard is one commit: a killed run goes on behind the last one. The vectors of formulas
get the ids that ``formula_map`` of the graph gives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.arrays import TextColumn
from mathamr_kedro.errors import MalformedInputError, WorkerError
from mathamr_kedro.files import fingerprint
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.graph.tensors import FORMULA
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model
from mathamr_kedro.progress import report_progress
from mathamr_kedro.ragged import RaggedVectors
from mathamr_kedro.records import FormulaMention
from mathamr_kedro.search.post_vectors import (
    POST_TYPES,
    PostVectors,
    scale_to_length_one,
)
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.types import FormulaId, PostId
from mathamr_kedro.workers import (
    Failed,
    Partition,
    PartitionResult,
    WorkerSettings,
    run_partitions,
)

FormulaMap: TypeAlias = Sequence[FormulaMention]
IsReturnable: TypeAlias = Callable[[FormulaId], bool]
"""Whether Task 2 may return a formula."""

_PLACEHOLDER = "FORMULA_"


class Range(NamedTuple):
    """Graphs from ``first`` up to, but without, ``last``."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class EncodingConfig:
    """How graphs are encoded; never changes a vector beyond rounding."""

    posts_per_shard: int = 4096
    """A killed run loses at most one shard of work."""
    compute: ComputeConfig = field(default_factory=ComputeConfig)
    workers: WorkerSettings = field(
        default_factory=lambda: WorkerSettings(workers=1, batch_size=1, timeout_s=3600)
    )


def fingerprint_encoder(model_folder: Path, graphs: str) -> str:
    """Name an encoder by its weights and by the graphs whose numbers it knows."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ("model.json", "weights.pt"):
        digest.update((model_folder / name).read_bytes())
    return fingerprint(digest.hexdigest(), graphs)


class EncodeRanges:
    """The function of the workers: ranges of graphs to vectors."""

    def __init__(
        self, model_folder: Path, graphs_folder: Path, compute: ComputeConfig
    ) -> None:
        self._folders = model_folder, graphs_folder
        self._compute = compute
        self._loaded: tuple[MathAMRPlus, GraphShards] | None = None

    def prepare(self) -> tuple[MathAMRPlus, GraphShards]:
        """Load the model once in each worker."""
        model, graphs = self._folders
        self._loaded = load_model(model, self._compute), GraphShards(graphs)
        return self._loaded

    def __call__(self, ranges: Sequence[Range]) -> list[RaggedVectors]:
        """Encode each range."""
        model, graphs = self._loaded or self.prepare()
        return [_encode(model, graphs, np.arange(r.first, r.last)) for r in ranges]


def _encode(
    model: MathAMRPlus, graphs: GraphShards, positions: NDArray[np.int64]
) -> RaggedVectors:
    """Encode graphs into memory of their own."""
    parts = encode_shards(model, graphs, positions)
    return RaggedVectors.join([replace(p, vectors=p.vectors.copy()) for p in parts])


def list_ranges(count: int, name: str, size: int) -> list[Range]:
    """Cut graphs into shards.

    >>> list_ranges(5, "posts", 3)[1]
    Range(name='posts-00000003', first=3, last=5)
    """
    return [
        Range(f"{name}-{a:08d}", a, min(a + size, count)) for a in range(0, count, size)
    ]


def encode_collection(
    store: VectorStore,
    function: EncodeRanges,
    ranges: Sequence[Range],
    facts: Facts,
    workers: WorkerSettings,
) -> None:
    """Encode what a store lacks, and note that it is complete.

    Args:
        store: open for writing.
        function: encodes a range.
        ranges: of all graphs.
        facts: says what the graphs are.
        workers: where to run.
    """
    done = frozenset(store.state.shards)
    missing = {r.name: r for r in ranges if r.name not in done}
    facts.restrict(missing.values())
    partitions = (Partition(name, [r]) for name, r in missing.items())
    results = run_partitions(function, partitions, workers)
    for result in report_progress(results, "posts encoded", _count_posts):
        encoded = result.results[0]
        if isinstance(encoded, Failed):
            raise WorkerError(f"Shard {result.name!r}: {encoded.detail}")
        graphs = missing[result.name]
        positions = np.arange(graphs.first, graphs.last)
        store.commit(facts.describe(positions, encoded), shard=result.name)
    store.complete()


def _count_posts(result: PartitionResult) -> int:
    encoded = result.results[0]
    return 0 if isinstance(encoded, Failed) else len(encoded)


class Facts:
    """Keys, types and formulas of the graphs of a collection.

    Args:
        keys: of the graphs, in their order.
        post_types: number of the type of each.
        formula_maps: key and formulas of each graph, in about the same order.
        is_returnable: whether Task 2 may return a formula.
    """

    def __init__(
        self,
        keys: Sequence[PostId],
        post_types: NDArray[np.uint8],
        formula_maps: Iterable[tuple[PostId, FormulaMap]],
        is_returnable: IsReturnable,
    ) -> None:
        self._keys, self._types = keys, post_types
        self._maps = iter(formula_maps)
        self._waiting: dict[PostId, FormulaMap] = {}
        self._is_returnable = is_returnable
        self._wanted = frozenset(keys)

    def count(self) -> int:
        """Return how many graphs to encode: texts to learn from come last, without."""
        found = np.flatnonzero(self._types != POST_TYPES.index("example"))
        return int(found[-1]) + 1 if len(found) else 0

    def restrict(self, ranges: Iterable[Range]) -> None:
        """Pass over the formulas of posts that will not be asked for."""
        chosen = (self._keys[r.first : r.last] for r in ranges)
        self._wanted = frozenset(key for keys in chosen for key in keys)

    def _find(self, key: PostId) -> FormulaMap:
        """Read on until the graph comes; what comes before it waits for its turn."""
        while key not in self._waiting:
            found = next(self._maps, None)
            if found is None:
                raise MalformedInputError(f"Expected the formulas of post {key!r}")
            if found[0] in self._wanted:
                self._waiting[found[0]] = found[1]
        return self._waiting.pop(key)

    def describe(
        self, positions: NDArray[np.int64], encoded: RaggedVectors
    ) -> PostVectors:
        """Say what the encoded posts at some positions are."""
        keys = [self._keys[i] for i in positions]
        kinds = np.asarray(encoded.columns["kind"], dtype=np.uint8)
        numbers = np.asarray(encoded.columns["number"], dtype=np.uint32)
        formulas = np.flatnonzero(kinds == FORMULA)
        owner = np.searchsorted(encoded.ptr, formulas, side="right") - 1
        maps = [by_number(self._find(key)) for key in keys]
        found = [
            _pick(maps[i], int(n), keys[i])
            for i, n in zip(owner.tolist(), numbers[formulas], strict=True)
        ]
        posts = PostVectors(
            keys=TextColumn.of(keys),
            post_types=self._types[positions],
            nodes=RaggedVectors(
                scale_to_length_one(encoded.vectors).astype(np.float32),
                np.asarray(encoded.ptr, dtype=np.int64),
                {"kind": kinds, "number": numbers},
            ),
            formula_ids=TextColumn.of(m.formula_id for m in found),
            visual_ids=TextColumn.of(m.visual_id for m in found),
            returnable=np.array(
                [self._is_returnable(m.formula_id) for m in found], dtype=np.bool_
            ),
        )
        posts.check()
        return posts


def by_number(formula_map: FormulaMap) -> Mapping[int, FormulaMention]:
    """Return formulas by the ``n`` of their placeholder ``FORMULA_n``."""
    return {int(m.placeholder.removeprefix(_PLACEHOLDER)): m for m in formula_map}


def _pick(
    formulas: Mapping[int, FormulaMention], number: int, key: PostId
) -> FormulaMention:
    if number not in formulas:
        raise MalformedInputError(
            f"Expected {_PLACEHOLDER}{number} in formula_map of post {key!r} "
            f"(got {sorted(formulas)})"
        )
    return formulas[number]


def read_maps(records: Iterable[GraphRecord]) -> Iterator[tuple[PostId, FormulaMap]]:
    """Yield key and formulas of graph records."""
    for record in records:
        yield record.graph_id, record.formula_map
