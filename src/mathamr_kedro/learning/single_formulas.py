r"""Single formulas as further training pairs, so that one alone finds its like.

Of a question and its answer the two formulas that are most similar, one from each, are
cut out. Each becomes the graph of a post that is nothing but this formula
(:mod:`.formula_graphs`). Similar are formulas whose sets of node types overlap (the
Jaccard index); the same set teaches nothing, and formulas that are too small or too
large are skipped:

.. math::
    0.35 < \frac{|A \cap B|}{|A \cup B|} < 1

The graphs stand behind those of the posts in one folder, so positions of posts stay::

    out/single_formulas/       posts, then formulas
    out/single_formulas.npz    the pairs of formulas, and what all was made from
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.graph import (
    FORMULA,
    GraphArrays,
    GraphShards,
    ShardWriter,
    join_shards,
)
from mathamr_kedro.learning.formula_graphs import Formula
from mathamr_kedro.learning.pairs import NOTHING, Positions, TrainingPairs
from mathamr_kedro.learning.processes import Processes

logger = logging.getLogger(__name__)

FOLDER = "single_formulas"

SIZES = (8, 90)
"""Members of a formula, at least and at most."""
FORMULAS = 16
"""Formulas of a post that are looked at: its first ones."""
MIN_SIMILARITY = 0.35
"""Formulas less similar make no pair."""

_REMEMBERED = 4096
"""Posts whose formulas are kept: those of a question serve all its answers."""


def add_single_formulas(
    shards: GraphShards,
    pairs: TrainingPairs,
    held_out: NDArray[np.bool_],
    out_dir: Path,
    processes: Processes | None = None,
) -> tuple[GraphShards, TrainingPairs]:
    """Return the graphs with single formulas behind them, and the pairs with theirs.

    What was made from the same graphs and pairs before is read again.

    Args:
        shards: the graphs of posts.
        pairs: of posts.
        held_out: which pairs validate; formulas come from the others alone.
        out_dir: of the training.
        processes: of which one writes.

    Raises:
        ConfigurationError: the graphs have no virtual nodes of formulas.
    """
    _check_structure(shards)
    processes = processes or Processes()
    folder, mark = out_dir / FOLDER, out_dir / f"{FOLDER}.npz"
    if processes.leads:
        made_from = _identify(shards, pairs, held_out)
        if not _is_finished(mark, made_from):
            mark.unlink(missing_ok=True)
            found = _write(shards, pairs.take(~held_out), folder)
            with replace_file(mark) as part, part.open("wb") as file:
                np.savez(file, pairs=found, made_from=made_from)
    processes.wait()
    with np.load(mark, allow_pickle=False) as known:
        found = known["pairs"]
    if processes.leads:
        logger.info("%d pairs of single formulas beside %d", len(found), len(pairs))
    return GraphShards(folder), _append(pairs, held_out, found)


def _check_structure(shards: GraphShards) -> None:
    """Refuse graphs without a virtual node below the document."""
    counts = shards.offsets["virtual"][1:] - shards.offsets["virtual"][:-1]
    flat = np.flatnonzero(counts < 2)
    if flat.size:
        raise ConfigurationError(
            "Expected graphs with virtual nodes of formulas and sentences for "
            f"single_formulas (got {int(counts[flat[0]])} virtual nodes in graph "
            f"{shards.keys[flat[0]]!r} of {str(shards.folder)!r}); prepare them with "
            "preprocessing.graph.structure 'hierarchy', or leave single_formulas out"
        )


def _identify(
    shards: GraphShards, pairs: TrainingPairs, held_out: NDArray[np.bool_]
) -> str:
    """Digest of all that decides which formulas are cut out, and what stands before."""
    digest = hashlib.blake2b(digest_size=16)
    columns = [pairs.queries, pairs.documents, held_out]
    for values in (*shards.arrays.values(), *columns):
        digest.update(np.ascontiguousarray(values).data)
    return checksum(digest.hexdigest(), SIZES, FORMULAS, MIN_SIMILARITY)


def _is_finished(mark: Path, made_from: str) -> bool:
    if not mark.is_file():
        return False
    with np.load(mark, allow_pickle=False) as known:
        return str(known["made_from"]) == made_from


def _append(
    pairs: TrainingPairs, held_out: NDArray[np.bool_], found: Positions
) -> TrainingPairs:
    """Put pairs of formulas, which have no negatives, behind the others."""
    nothing = np.full((len(found), pairs.negatives.shape[1]), NOTHING, dtype=np.int64)
    return TrainingPairs(
        np.concatenate([pairs.queries, found[:, 0]]),
        np.concatenate([pairs.documents, found[:, 1]]),
        np.concatenate([pairs.negatives, nothing]),
        np.concatenate([held_out, np.zeros(len(found), dtype=bool)]),
    )


def _write(shards: GraphShards, learn: TrainingPairs, folder: Path) -> Positions:
    """Write posts and formulas to a folder; return the pairs of formulas."""
    alone = folder.with_name(f"{folder.name}.alone")
    rows: list[tuple[int, int]] = []
    places: dict[tuple[int, int], int] = {}
    with ShardWriter(alone, shards.schema) as writer:

        def place(post: int, formula: Formula, graph: GraphArrays) -> int:
            """Write each formula once."""
            if (post, formula.number) not in places:
                places[post, formula.number] = len(shards) + len(writer)
                key = f"{shards.keys[post]}/FORMULA_{formula.number}"
                writer.add(key, graph)
            return places[post, formula.number]

        posts = [learn.queries.tolist(), learn.documents.tolist()]
        numbered = report_progress(
            zip(*posts, strict=True),
            "pairs searched for single formulas",
            total=len(learn),
        )
        for pair, formulas, graphs in _cut_pairs(shards, numbered):
            one, two = map(place, pair, formulas, graphs)
            rows.append((one, two))
    join_shards([shards.folder, alone], folder)
    shutil.rmtree(alone)
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _cut_pairs(
    shards: GraphShards, pairs: Iterator[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[Formula, ...], list[GraphArrays]]]:
    """Yield posts, formulas and their graphs, of those pairs that have any."""
    schema = shards.schema

    @lru_cache(maxsize=_REMEMBERED)
    def read(post: int) -> list[Formula]:
        return Formula.find_all(shards.graph(post), schema, SIZES, FORMULAS)

    first: int | None = None
    for pair in pairs:
        chosen = _choose_similar(*map(read, pair))
        if chosen is None:
            continue
        if first is None:
            first = _find_placeholder_type(shards)
        graphs = [
            formula.cut(shards.graph(post), schema, first)
            for post, formula in zip(pair, chosen, strict=True)
        ]
        yield pair, chosen, graphs


def _choose_similar(
    ours: Sequence[Formula], theirs: Sequence[Formula]
) -> tuple[Formula, Formula] | None:
    """Return the most similar formulas of two posts, the first of equals."""
    best, chosen = MIN_SIMILARITY, None
    for one in ours:
        for two in theirs:
            similarity = one.measure_similarity(two)
            if best < similarity < 1:
                best, chosen = similarity, (one, two)
    return chosen


def _find_placeholder_type(shards: GraphShards) -> int:
    """Return the node type of ``FORMULA_0``, as the posts have it.

    Raises:
        ConfigurationError: no post has a first formula with trees.
    """
    kind, number = (
        shards.arrays[f"representative_{name}"] for name in ("kind", "number")
    )
    rows = np.flatnonzero((kind == FORMULA) & (number == 0))
    ends = shards.offsets["representative"][1:]
    for post in np.searchsorted(ends, rows, side="right").tolist():
        graph = shards.graph(post)
        # A formula without trees has one member: its placeholder.
        sizes = (2, graph.num_nodes)
        for formula in Formula.find_all(graph, shards.schema, sizes, FORMULAS):
            node = formula.find_placeholder(graph)
            if formula.number == 0 and node is not None:
                return int(graph.node_type[node])
    raise ConfigurationError(
        f"Expected a post with trees below FORMULA_0 in {str(shards.folder)!r} for "
        "single_formulas (got none): the graphs number formulas otherwise"
    )
