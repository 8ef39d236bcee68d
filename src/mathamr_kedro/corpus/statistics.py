"""Statistics of an ingested collection, after Tables 4.2 and 4.3 of the thesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.corpus.returnable import FormulaIds

Account = Mapping[str, int]


def check_accounts(accounts: Mapping[str, Account]) -> None:
    """Refuse a table in which records were lost or doubled.

    Raises:
        MalformedInputError: for some table, read differs from written + dropped.
    """
    for name, account in accounts.items():
        read, written, dropped = (account[k] for k in ("read", "written", "dropped"))
        if read != written + dropped:
            raise MalformedInputError(
                f"The account of {name!r} does not balance: {read:,} read, {written:,} "
                f"written, {dropped:,} dropped; delete its folder and run again"
            )


def describe_posts(tables: Iterable[pa.Table]) -> dict[str, Any]:
    """Count posts by type, formulas and words per post.

    Args:
        tables: tables with ``post_type``, ``text`` and ``formula_map``.
    """
    types: Counter[str] = Counter()
    formulas: dict[str, list[np.ndarray]] = {}
    words: list[np.ndarray] = []
    for table in tables:
        kinds = table["post_type"]
        lengths = pc.list_value_length(table["formula_map"]).to_numpy()
        words.append(pc.count_substring_regex(table["text"], r"\S+").to_numpy())
        for kind in pc.unique(kinds).to_pylist():
            is_kind = pc.equal(kinds, kind).to_numpy()
            types[kind] += int(is_kind.sum())
            formulas.setdefault(kind, []).append(lengths[is_kind].astype(np.int32))
    by_kind = {kind: np.concatenate(parts) for kind, parts in sorted(formulas.items())}
    everything = (
        np.concatenate(list(by_kind.values())) if by_kind else np.zeros(0, np.int32)
    )
    return {
        "posts": {"total": types.total(), **dict(sorted(types.items()))},
        "formulas_in_texts": int(everything.sum()),
        "formulas_per_post": {
            "all": _spread(everything),
            **{kind: _spread(values) for kind, values in by_kind.items()},
        },
        "words_per_post": _spread(np.concatenate(words) if words else everything),
        "formula_histogram": _histogram(everything),
    }


def describe_formulas(
    tables: Iterable[pa.Table], returnable: Iterable[pa.Table]
) -> dict[str, int]:
    """Count the rows of the formula index, their representations and visual ids.

    Args:
        tables: tables with ``visual_id, latex, presentation, content``.
        returnable: tables with the ``visual_id`` of formulas that may be returned.
    """
    counts: Counter[str] = Counter()

    def read_index() -> Iterator[str]:
        for table in tables:
            counts["rows"] += table.num_rows
            for column in ("latex", "presentation", "content"):
                trimmed = pc.utf8_trim_whitespace(table[column])
                filled = pc.greater(pc.utf8_length(trimmed), 0)
                counts[f"with_{column}"] += pc.sum(filled).as_py() or 0
            yield from pc.unique(table["visual_id"]).to_pylist()

    def read_returnable() -> Iterator[str]:
        for table in returnable:
            counts["returnable"] += table.num_rows
            yield from pc.unique(table["visual_id"]).to_pylist()

    # Ids are counted as they are read: ARQMath has millions.
    visual_ids, returned = FormulaIds(read_index()), FormulaIds(read_returnable())
    return {
        "rows": counts["rows"],
        "with_latex": counts["with_latex"],
        "with_presentation": counts["with_presentation"],
        "with_content": counts["with_content"],
        "returnable": counts["returnable"],
        "visual_ids": len(visual_ids),
        "returnable_visual_ids": len(returned),
    }


def describe_judgments(table: pa.Table) -> dict[str, dict[str, Any]]:
    """Count judgments, topics, documents and grades by source file.

    Args:
        table: columns ``source, task, topic_id, doc_id, grade``.
    """
    found: dict[str, dict[str, Any]] = {}
    for source in pc.unique(table["source"]).to_pylist():
        part = table.filter(pc.equal(table["source"], source))
        grades = Counter(part["grade"].to_pylist())
        found[source] = {
            "task": part["task"][0].as_py(),
            "judgments": part.num_rows,
            "topics": pc.count_distinct(part["topic_id"]).as_py(),
            "documents": pc.count_distinct(part["doc_id"]).as_py(),
            "grades": {str(grade): grades[grade] for grade in sorted(grades)},
        }
    return found


def count_failures(
    tables: Iterable[pa.Table], max_examples: int = 20
) -> dict[str, dict[str, Any]]:
    """Count failures by reason: records that were kept, records that were dropped.

    Args:
        tables: failures.
        max_examples: how many places of each reason are named, the dropped ones first.
    """
    counts: dict[str, dict[str, Any]] = {}
    for table in tables:
        pairs = zip(table["reason"].to_pylist(), table["kept"].to_pylist(), strict=True)
        for (reason, kept), number in Counter(pairs).items():
            entry = counts.setdefault(
                reason, {"kept": 0, "left_out": 0, "places": [], "noted": []}
            )
            entry["kept" if kept else "left_out"] += number
            named = entry["noted" if kept else "places"]
            if len(named) < max_examples:
                is_one = pc.and_(
                    pc.equal(table["reason"], reason), pc.equal(table["kept"], kept)
                )
                rows = table.filter(is_one).slice(0, max_examples - len(named))
                named += map(_name_place, rows.to_pylist())
    for entry in counts.values():
        entry["places"] = [*entry["places"], *entry.pop("noted")][:max_examples]
    return dict(sorted(counts.items()))


def _name_place(failure: Mapping[str, Any]) -> str:
    where = [failure["source"], failure["place"]]
    if failure["record_id"] not in (*where, ""):
        where.append(failure["record_id"])
    return f"{', '.join(filter(None, where))}: {failure['detail']}"


def _spread(values: np.ndarray) -> dict[str, float]:
    if not len(values):
        return {"mean": 0.0, "median": 0.0, "p90": 0.0, "max": 0}
    return {
        "mean": round(float(values.mean()), 2),
        "median": float(np.median(values)),
        "p90": float(np.percentile(values, 90)),
        "max": int(values.max()),
    }


def _histogram(values: np.ndarray, last: int = 30) -> dict[str, int]:
    counts = np.bincount(np.minimum(values, last), minlength=last + 1)
    return {
        (f"{last}+" if number == last else str(number)): int(count)
        for number, count in enumerate(counts)
    }
