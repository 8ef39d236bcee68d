r"""Single formulas as further training pairs, so that one alone finds its like.

Of a question and its answer the two formulas that are most alike, one from each, are
cut out. Each becomes the graph of a post that is nothing but this formula::

    0 FORMULA_0     0 -opt--> 1       3 formula   members 1 2
    1 V!x  (OPT)    0 -slt--> 2       4 sentence  members 0
    2 V!x  (SLT)                      5 document  members 3 4 0

Alike are formulas whose sets of node types overlap (the Jaccard index); the same set
teaches nothing, and too small or too large formulas are left out:

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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.files import fingerprint, replace_file
from mathamr_kedro.graph.tensor_files import ShardWriter, join_shards
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.graph.tensors import (
    DOCUMENT,
    FORMULA,
    SENTENCE,
    GraphArrays,
    GraphSchema,
)
from mathamr_kedro.learning.pairs import NOTHING, Positions, TrainingPairs
from mathamr_kedro.learning.processes import Processes
from mathamr_kedro.progress import report_progress

logger = logging.getLogger(__name__)

FOLDER = "single_formulas"

SIZES = (8, 90)
"""Least and most members of a formula."""
FORMULAS = 16
"""Formulas of a post that are looked at: its first ones."""
LIKENESS = 0.35
"""Formulas less alike make no pair."""

_REMEMBERED = 4096
"""Posts whose formulas are kept: those of a question serve all its answers."""


class Formula(NamedTuple):
    """A formula inside the graph of a post."""

    members: NDArray[np.int64]
    types: frozenset[int]
    """Node types of the members."""
    number: int
    """``n`` of ``FORMULA_n``."""
    label: int


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
    return fingerprint(digest.hexdigest(), SIZES, FORMULAS, LIKENESS)


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
            zip(*posts, strict=True), "pairs searched for single formulas"
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
        return list_formulas(shards.graph(post), schema)

    first: int | None = None
    for pair in pairs:
        chosen = choose_alike(*map(read, pair))
        if chosen is None:
            continue
        if first is None:
            first = find_placeholder_type(shards)
        graphs = [
            cut_formula(shards.graph(post), formula, schema, first)
            for post, formula in zip(pair, chosen, strict=True)
        ]
        yield pair, chosen, graphs


def list_formulas(
    graph: GraphArrays, schema: GraphSchema, sizes: tuple[int, int] = SIZES
) -> list[Formula]:
    """List the first formulas of a graph that are neither too small nor too large."""
    least, most = sizes
    content, count = graph.num_content, graph.member_count
    is_formula = graph.node_type[content:] == schema.num_node_types + FORMULA
    suits = np.flatnonzero(is_formula & (count >= least) & (count <= most))
    if not suits.size:
        return []
    ends = np.cumsum(count, dtype=np.int64)
    row = {int(node): n for n, node in enumerate(graph.representative)}
    found = []
    for v in suits[:FORMULAS].tolist():
        members = graph.member[ends[v] - count[v] : ends[v]].astype(np.int64)
        n = row[content + v]
        found.append(
            Formula(
                members,
                frozenset(graph.node_type[members].tolist()),
                int(graph.representative_number[n]),
                int(graph.representative_label[n]),
            )
        )
    return found


def choose_alike(
    ours: Sequence[Formula], theirs: Sequence[Formula]
) -> tuple[Formula, Formula] | None:
    """Return the most alike formulas of two posts, the first of equals."""
    best, chosen = LIKENESS, None
    for one in ours:
        for two in theirs:
            shared = len(one.types & two.types)
            likeness = shared / (len(one.types) + len(two.types) - shared)
            if best < likeness < 1:
                best, chosen = likeness, (one, two)
    return chosen


def find_placeholder_type(shards: GraphShards) -> int:
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
        for formula in list_formulas(graph, shards.schema, (2, graph.num_nodes)):
            node = _find_placeholder(graph, _number(graph, formula))
            if formula.number == 0 and node is not None:
                return int(graph.node_type[node])
    raise ConfigurationError(
        f"Expected a post with trees below FORMULA_0 in {str(shards.folder)!r} for "
        "single_formulas (got none): the graphs number formulas otherwise"
    )


def cut_formula(
    graph: GraphArrays, formula: Formula, schema: GraphSchema, placeholder: int
) -> GraphArrays:
    """Return the graph of a post that is this formula alone.

    Args:
        graph: of the post that the formula stands in.
        formula: of this graph.
        schema: meaning of the numbers.
        placeholder: node type of ``FORMULA_0``.
    """
    number = _number(graph, formula)
    above = _find_placeholder(graph, number)
    source, target = number[graph.source], number[graph.target]
    kept = (target > 0) & ((source > 0) | (graph.source == above))
    n = len(formula.members)
    virtual = n + 1 + np.arange(3)
    links = _link_virtual(graph, virtual)
    kinds = np.array([FORMULA, SENTENCE, DOCUMENT])
    return GraphArrays(
        node_type=_join(
            [placeholder],
            graph.node_type[formula.members],
            schema.num_node_types + kinds,
        ),
        source=_join(source[kept], links[0]),
        target=_join(target[kept], links[1]),
        relation=_join(graph.relation[kept], links[2]),
        member_count=_join([n, 1, 3]),
        member=_join(np.arange(1, n + 1), [0], virtual[:2], [0]),
        representative=_join(virtual),
        representative_kind=_join(kinds),
        representative_number=_join([0, 0, 0]),
        representative_label=_join([formula.label, 0, 0]),
    )


def _number(graph: GraphArrays, formula: Formula) -> NDArray[np.int64]:
    """New number of each node; 0 for all that are no members."""
    number = np.zeros(graph.num_nodes, dtype=np.int64)
    number[formula.members] = np.arange(1, len(formula.members) + 1)
    return number


def _find_placeholder(graph: GraphArrays, number: NDArray[np.int64]) -> int | None:
    """The node that the trees hang from."""
    roots = (number[graph.target] > 0) & (number[graph.source] == 0)
    return int(graph.source[roots.argmax()]) if roots.any() else None


def _link_virtual(graph: GraphArrays, virtual: NDArray[np.int64]) -> list[list[int]]:
    """Source, target, relation of the edge from sentence to formula, if there is one.

    Where virtual nodes are linked at all (thesis 4.3.3), those of each post with a
    formula are, and two have one edge in each of the ways.
    """
    linked = np.flatnonzero(graph.source >= graph.num_content)
    if not linked.size:
        return [[], [], []]
    return [[int(virtual[1])], [int(virtual[0])], [int(graph.relation[linked[0]])]]


def _join(*parts: Sequence[int] | NDArray[np.integer]) -> NDArray[np.uint32]:
    return np.concatenate([np.asarray(part, dtype=np.uint32) for part in parts])
