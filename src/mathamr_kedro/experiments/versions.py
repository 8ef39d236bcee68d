"""How two versions of an experiment's result differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mathamr_kedro.stats import (
    Column,
    Figure,
    Row,
    SeedResult,
    Table,
    summarise_seeds,
)

Values = Mapping[str, Any]


def compare_versions(old: Values, new: Values, measure: str | None = None) -> Table:
    """Return a table of the means of two versions and their differences.

    Args:
        old: a result as ``Outcome.describe`` gives it.
        new: another one of the same experiment.
        measure: one measure; all that both have where absent.
    """
    rows = []
    for name in dict.fromkeys([*old["rows"], *new["rows"]]):
        before, after = _read_seeds(old, name), _read_seeds(new, name)
        measures = _list_measures(before, after)
        for key in [m for m in measures if measure in (None, m)]:
            spreads = [
                summarise_seeds(having, key) if having else None
                for having in (
                    [r for r in found if r.has(key)] for found in (before, after)
                )
            ]
            figures = [None if s is None else Figure(s.mean, s.std) for s in spreads]
            first, second = spreads
            change = Figure(second.mean - first.mean) if first and second else None
            seeds = [str(s.num_seeds) if s else "0" for s in spreads]
            rows.append(Row((name, key), (*figures, change, " / ".join(seeds))))
    columns = (
        Column("old", "old", 4), Column("new", "new", 4),
        Column("difference", "difference", 4), Column("seeds", "seeds"),
    )  # fmt: skip
    notes = (
        () if _is_same_data(old, new) else ("The two ran on different collections.",)
    )
    title = f"{new['experiment']}: two versions"
    return Table(title, ("Row", "Measure"), columns, tuple(rows), notes)


def _read_seeds(result: Values, row: str) -> list[SeedResult]:
    return [
        SeedResult(found["seed"], {}, {**found["means"], **found["figures"]})
        for found in result["rows"].get(row, ())
    ]


def _list_measures(
    before: Sequence[SeedResult], after: Sequence[SeedResult]
) -> list[str]:
    return list(dict.fromkeys(key for r in (*before, *after) for key in r.figures))


def _is_same_data(old: Values, new: Values) -> bool:
    return old.get("collection") == new.get("collection")
