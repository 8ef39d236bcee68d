"""Judged triples (query, candidate, score), and who may learn from which.

A grade of 3 or 2 is a score of 1, 1 one of 0.5, 0 one of 0 (MathAMR, section 4).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.base.types import TopicId

_SCORES = {0: 0.0, 1: 0.5, 2: 1.0, 3: 1.0}


class Triple(NamedTuple):
    """A query, a formula that was judged for it, and how."""

    topic_id: TopicId
    query: str
    candidate: str
    grade: int

    @property
    def score(self) -> float:
        """1, 0.5 or 0."""
        return _SCORES[min(self.grade, 3)]


def write_triples(path: Path, triples: Iterable[Triple]) -> dict[str, int]:
    """Write triples, a line of JSON each; return how many there are by grade."""
    counts: Counter[str] = Counter()
    with replace_file(path) as part, part.open("w", encoding="utf-8") as file:
        for triple in triples:
            file.write(json.dumps(triple._asdict()) + "\n")
            counts[f"grade_{triple.grade}"] += 1
    return dict(sorted(counts.items()))


def read_triples(path: Path) -> list[Triple]:
    """Read what :func:`write_triples` wrote.

    Raises:
        MalformedInputError: a line is no triple.
    """
    triples = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                triples.append(Triple(**json.loads(line)))
            except (ValueError, TypeError) as exc:
                raise MalformedInputError(
                    f"Expected a triple in line {number} of {str(path)!r} (got "
                    f"{line[:80]!r}); run the stage 'training' again"
                ) from exc
    return triples


def choose_triples(
    triples: Sequence[Triple], fold_of: Mapping[TopicId, str], model: str
) -> list[Triple]:
    """Return what a model may learn from: no topic that it will search for."""
    return [t for t in triples if fold_of[t.topic_id] != model]


def split_triples(
    triples: Sequence[Triple], part: float, seed: int
) -> tuple[list[Triple], list[Triple]]:
    """Split off a part of the triples of each grade, at random.

    Returns:
        What is learned from, and what chooses the epoch.
    """
    rng = np.random.default_rng(seed)
    held: set[int] = set()
    for grade in sorted({t.grade for t in triples}):
        places = [n for n, t in enumerate(triples) if t.grade == grade]
        held.update(rng.permutation(places)[: round(part * len(places))].tolist())
    kept = [t for n, t in enumerate(triples) if n not in held]
    return kept, [triples[n] for n in sorted(held)]


def cut_batches(
    triples: Sequence[Triple], size: int, rng: np.random.Generator
) -> list[list[Triple]]:
    """Return batches in a random order; a rest of one joins the batch before."""
    order = rng.permutation(len(triples)).tolist()
    starts = list(range(0, len(order), size))
    if len(starts) > 1 and len(order) - starts[-1] == 1:
        starts.pop()
    ends = [*starts[1:], len(order)]
    return [[triples[n] for n in order[a:b]] for a, b in zip(starts, ends, strict=True)]


def correlate_ranks(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Return Spearman's correlation: Pearson's of ranks, which equal values share."""
    ranks = np.stack([_rank(first), _rank(second)])
    if np.ptp(ranks, axis=1).min() == 0:
        return 0.0
    table: NDArray[np.float64] = np.atleast_2d(np.corrcoef(ranks))
    return float(table[0, 1])


def _rank(values: NDArray[np.float32]) -> NDArray[np.float64]:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return middles[places]
