"""Compare what two data roots hold, and what two checkouts answered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas

Outcome = Literal["identical", "equal", "different"]
TOLERANCE = 1e-6
"""Relative to scores above 1, where a sum was taken in another order."""
SCORES = "07_model_output/scores.parquet"
_RUNS = "07_model_output"
_RESULT_ID = ("post_id", "id", "key")
_LASTING = (
    *_RESULT_ID, "score", "rank", "closeness", "close", "same",
    "parts", "system", "share", "words", "word",
    "statement", "kind", "used_by", "place", "url",
)  # fmt: skip
"""Fields that mean the same in both forms of an answer: a list of results in plain
text, and since then the object that the server answers."""


class Comparison:
    """Counts of what was compared, and the first lines about what differs."""

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self.notes: list[str] = []

    def add(self, what: str, problem: str | None, is_identical: bool = False) -> None:
        """Count one thing that was compared; ``problem`` says how it differs."""
        if problem is not None:
            self.outcomes["different"] += 1
            self.notes.append(f"{what}: {problem}")
        else:
            self.outcomes["identical" if is_identical else "equal"] += 1


def compare_roots(old: Path, new: Path, names: Mapping[str, str]) -> Comparison:
    """Compare all run files and the table of scores of two data roots.

    Args:
        old: data root of one checkout.
        new: that of the other.
        names: new names of systems by their old ones.
    """
    comparison = Comparison()
    before, after = _find_runs(old, names), _find_runs(new, {})
    for key in sorted(before.keys() | after.keys()):
        what = " ".join(key[:3])
        if key not in before or key not in after:
            side = "new" if key in before else "old"
            comparison.add(what, f"missing in the {side} checkout")
            continue
        one, other = before[key], after[key]
        is_identical = one.read_bytes() == other.read_bytes()
        problem = None if is_identical else compare_runs(_lists(one), _lists(other))
        comparison.add(what, problem, is_identical)
    _compare_scores(old, new, names, comparison)
    return comparison


def compare_runs(
    old: Mapping[str, Sequence[tuple[str, float]]],
    new: Mapping[str, Sequence[tuple[str, float]]],
) -> str | None:
    """Return how two runs differ by more than the tolerance, if they do.

    Documents whose scores are equal to the tolerance may change places, also at the
    end of a list, where one may drop out for another.

    >>> old = {"A.1": [("7", 0.5), ("8", 0.5)]}
    >>> compare_runs(old, {"A.1": [("8", 0.5), ("7", 0.5)]})
    >>> compare_runs(old, {"A.1": [("7", 0.6), ("8", 0.5)]})
    'topic A.1, rank 1: 7 0.5, then 7 0.6'
    """
    if old.keys() != new.keys():
        return f"{len(old)} topics, then {len(new)}"
    for topic, before in old.items():
        after = new[topic]
        if len(before) != len(after):
            return f"topic {topic}: {len(before)} results, then {len(after)}"
        first, second = dict(before), dict(after)
        for rank, (one, other) in enumerate(zip(before, after, strict=True), start=1):
            same = is_near(one[1], other[1]) and all(
                is_near(scores.get(key, before[-1][1]), score)
                for scores, (key, score) in ((second, one), (first, other))
            )
            if not same:
                shown = f"{one[0]} {one[1]:.7g}, then {other[0]} {other[1]:.7g}"
                return f"topic {topic}, rank {rank}: {shown}"
    return None


def is_near(one: float, other: float) -> bool:
    """Tell whether two scores are equal up to the order of a sum."""
    if math.isnan(one) and math.isnan(other):
        return True
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one))


def compare_answers(
    queries: Sequence[tuple[str, str]], old: Sequence[Any], new: Sequence[Any]
) -> Comparison:
    """Compare what was answered: ids and scores, and all fields that both have.

    Of answers of two forms only those fields are compared that mean the same in both.
    """
    comparison = Comparison()
    for query, one, other in zip(queries, old, new, strict=True):
        before, after = _results(one), _results(other)
        if isinstance(one, list) is not isinstance(other, list):
            before, after = _select(before), _select(after)
        if len(before) != len(after):
            problem: str | None = f"{len(before)} results, then {len(after)}"
        else:
            ranked = [{"query": _ranking(results)} for results in (before, after)]
            problem = compare_runs(*ranked) or next(_find_changes(before, after), None)
        comparison.add(f"{query[0]} {query[1]!r:.60}", problem, before == after)
    return comparison


def _find_runs(
    root: Path, names: Mapping[str, str]
) -> dict[tuple[str, str, str, frozenset[str]], Path]:
    """Return the newest run files by form, system and topics, wherever they lie."""
    found = {}
    files = (f for f in (root / _RUNS).rglob("*") if f.suffix in (".trec", ".tsv"))
    for file in sorted(files, key=lambda file: file.stat().st_mtime):
        rows = [line.split("\t") for line in file.read_text().splitlines()]
        topics = [row[0] for row in rows]
        system = rows[0][-1] if rows else file.stem
        where = f"{topics[0]}-{topics[-1]}" if rows else "nothing"
        key = (file.suffix, names.get(system, system), where, frozenset(topics))
        found[key] = file
    return found


def _lists(file: Path) -> dict[str, list[tuple[str, float]]]:
    """Read a run in TREC's form, or in that of the lab (without ``Q0``)."""
    lists: dict[str, list[tuple[str, float]]] = {}
    for line in file.read_text().splitlines():
        topic, *columns = line.split("\t")
        key = columns[1] if file.suffix == ".trec" else columns[0]
        lists.setdefault(topic, []).append((key, float(columns[-2])))
    return lists


def _compare_scores(
    old: Path, new: Path, names: Mapping[str, str], comparison: Comparison
) -> None:
    before, after = _read_scores(old, names), _read_scores(new, {})
    if before.keys() != after.keys():
        odd = min(before.keys() ^ after.keys())
        problem: str | None = (
            f"{len(before)} rows, then {len(after)}; only one has {odd}"
        )
    else:
        changed = [key for key in before if not is_near(before[key], after[key])]
        problem = (
            f"{len(changed)} of {len(before)} rows; {changed[0]}: "
            f"{before[changed[0]]}, then {after[changed[0]]}"
            if changed
            else None
        )
    comparison.add("scores", problem, before == after)


def _read_scores(root: Path, names: Mapping[str, str]) -> dict[tuple[str, ...], float]:
    files = sorted((root / SCORES).rglob("*.parquet")) or [root / SCORES]
    table = pandas.read_parquet(files[-1])
    table["system"] = table["system"].replace(dict(names))
    keys = [column for column in table.columns if column != "score"]
    rows = table[keys].astype(str).itertuples(index=False, name=None)
    return dict(zip(rows, table["score"].tolist(), strict=True))


def _results(answer: Any) -> list[dict[str, Any]]:
    """Return the results of an answer: a list, or an object that holds one."""
    found = answer if isinstance(answer, list) else answer.get("results", [])
    return list(found)


def _select(value: Any) -> Any:
    """Return only the fields that mean the same in both forms."""
    if isinstance(value, Mapping):
        return {key: _select(v) for key, v in value.items() if key in _LASTING}
    return [_select(v) for v in value] if isinstance(value, list) else value


def _ranking(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Return ids and scores; a post found twice by its formulas keeps both places."""
    seen: Counter[str] = Counter()
    ranking = []
    for result in results:
        key = str(next(result[name] for name in _RESULT_ID if name in result))
        seen[key] += 1
        ranking.append((f"{key}#{seen[key]}", float(result["score"])))
    return ranking


def _find_changes(old: Any, new: Any, where: str = "results") -> Iterator[str]:
    """Yield the places where two answers differ, of those that both have."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old.keys() & new.keys():
            yield from _find_changes(old[key], new[key], f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} items, then {len(new)}"
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from _find_changes(one, other, f"{where}[{number}]")
    elif isinstance(old, float) and isinstance(new, float):
        if not is_near(old, new):
            yield f"{where}: {old}, then {new}"
    elif old != new:
        yield f"{where}: {old!r:.80}, then {new!r:.80}"
