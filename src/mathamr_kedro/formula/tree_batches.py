"""Trees of many formulas, built by workers in batches; known ones are skipped.

Trees are built once per visual id, from the first formula that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from mathamr_kedro.base.records import Formula
from mathamr_kedro.base.types import VisualId
from mathamr_kedro.base.workers import Failed, Partition, WorkerConfig, run_partitions
from mathamr_kedro.formula.tree_store import TreeRow, build_rows

AT_ONCE = 2048
"""Formulas of a file that are read together: their markup is long."""

_ReadPlaces = Callable[[list[int]], Iterable[Formula]]


class TreeBatches:
    """Builds the trees of files of formulas, each visually distinct one once.

    Several files are processed at once, and the store does not have their trees yet:
    pending formulas count as built, so the result does not depend on the order in which
    workers finish.

    Args:
        find_missing: returns the visual ids that the store does not know.
    """

    def __init__(
        self, find_missing: Callable[[Iterable[VisualId]], set[VisualId]]
    ) -> None:
        self._find_missing = find_missing
        self._on_their_way: set[VisualId] = set()

    def build(
        self,
        files: Iterable[tuple[str, Sequence[VisualId], _ReadPlaces]],
        workers: WorkerConfig,
        function: Callable[[Sequence[Formula]], list[TreeRow]] = build_rows,
    ) -> Iterator[tuple[str, list[TreeRow]]]:
        """Yield the new trees of each file, in their order."""
        rows: list[TreeRow] = []
        for done in run_partitions(function, self._cut(files), workers):
            rows += map(_note_failure, done.items, done.results)
            if not done.name:  # a piece of a file
                continue
            yield done.name, rows
            # The store knows them now; what has failed waits for the next run.
            self._on_their_way -= {row.visual_id for row in rows if not row.may_pass}
            rows = []

    def _cut(
        self, files: Iterable[tuple[str, Sequence[VisualId], _ReadPlaces]]
    ) -> Iterator[Partition]:
        """Yield the new formulas of each file in pieces; the last has its name."""
        for name, visual_ids, read in files:
            places = find_new_formulas(visual_ids, self._find_new)
            self._on_their_way |= {visual_ids[place] for place in places}
            piece: list[Formula] = []
            for formula in read(places):
                if len(piece) == AT_ONCE:
                    yield Partition("", piece)
                    piece = []
                piece.append(formula)
            yield Partition(name, piece)

    def _find_new(self, visual_ids: Iterable[VisualId]) -> set[VisualId]:
        return self._find_missing(visual_ids) - self._on_their_way


def find_new_formulas(
    visual_ids: Sequence[VisualId],
    find_missing: Callable[[Iterable[VisualId]], set[VisualId]],
) -> list[int]:
    """Return the places of the formulas whose trees are to be built.

    >>> find_new_formulas(["a", "b", "b", "c"], lambda visual_ids: {"b", "c"})
    [1, 3]
    """
    first_at: dict[VisualId, int] = {}
    for place, visual_id in enumerate(visual_ids):
        first_at.setdefault(visual_id, place)
    missing = find_missing(first_at)
    return [place for visual_id, place in first_at.items() if visual_id in missing]


def _note_failure(formula: Formula, result: TreeRow | Failed) -> TreeRow:
    """Record a formula that no worker could read, with the reason."""
    if isinstance(result, Failed):
        return TreeRow.without_trees(formula, result.reason)
    return result
