"""Statistics of an ingested collection, after Tables 4.2 and 4.3 of the thesis.

The report shows them as Markdown and as a figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.figures import draw_bars, make_figure
from mathamr_kedro.base.formatting import format_table
from mathamr_kedro.corpus.formula_index import FormulaIds
from mathamr_kedro.corpus.placeholders import REASONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Account = Mapping[str, int]
MAX_NAMED = 20
"""Places of failures that are named for each reason."""
_EXAMPLES = 3
_LAST = 30
"""Bar of the histogram for posts with as many formulas, or more."""
_MAX_CODE = 240
"""Maximum characters of a place and of what was wrong there."""


def check_accounts(accounts: Mapping[str, Account]) -> None:
    """Reject a table in which records were lost or duplicated.

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
    """Count posts by type, and formulas per post.

    Args:
        tables: tables with ``post_type`` and ``formula_map``.
    """
    types: Counter[str] = Counter()
    formulas: dict[str, list[np.ndarray]] = {}
    for table in tables:
        kinds = table["post_type"]
        lengths = pc.list_value_length(table["formula_map"]).to_numpy()
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
    columns = ("latex", "presentation", "content")
    counts = dict.fromkeys(("rows", *(f"with_{c}" for c in columns), "returnable"), 0)

    def read_index() -> Iterator[str]:
        for table in tables:
            counts["rows"] += table.num_rows
            for column in columns:
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
        **counts,
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
    tables: Iterable[pa.Table],
) -> dict[str, dict[str, Any]]:
    """Count failures by reason: records that were kept, records that were dropped.

    Args:
        tables: failures; :data:`MAX_NAMED` places of each reason are named, the
            dropped ones first.
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
            if len(named) < MAX_NAMED:
                is_one = pc.and_(
                    pc.equal(table["reason"], reason), pc.equal(table["kept"], kept)
                )
                rows = table.filter(is_one).slice(0, MAX_NAMED - len(named))
                named += map(_name_place, rows.to_pylist())
    for entry in counts.values():
        entry["places"] = [*entry["places"], *entry.pop("noted")][:MAX_NAMED]
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


def _histogram(values: np.ndarray) -> dict[str, int]:
    counts = np.bincount(np.minimum(values, _LAST), minlength=_LAST + 1).tolist()
    names = [*map(str, range(_LAST)), f"{_LAST}+"]
    return dict(zip(names, counts, strict=True))


def report_ingestion(statistics: Mapping[str, Any]) -> tuple[str, Figure]:
    """Return the report, and the figure of formulas per post."""
    return _write_report(statistics), _draw_formulas_per_post(statistics)


def _write_report(statistics: Mapping[str, Any]) -> str:
    """Return the statistics as a Markdown page in the order of Tables 4.2 and 4.3."""
    formulas = statistics["formulas"]
    parts = [
        f"# Ingestion of `{statistics['collection']}`",
        _table(("Statistic", "Value"), _list_counts(statistics)),
        *_describe_subset(statistics["subset"]),
        "## Formulas per post",
        _spread_table(statistics["formulas_per_post"]),
        "![Formulas per post](ingestion_figure.png)",
        "## Representations in the formula index",
        _table(
            ("Representation", "Rows"),
            [(k[5:], n) for k, n in formulas.items() if k.startswith("with_")],
        ),
        "## Formula trees",
        _tree_table(statistics["formula_trees"]),
        "## Texts against the formula files",
        "A formula with an id takes LaTeX, visual id and trees from its row in the "
        "formula files; the text says where it occurs. What the two say differently:",
        _disagreement_table(statistics),
        "## Judgments",
        _judgment_table(statistics["judgments"]),
        "## Accounts",
        "Records read = records written + records dropped, for every table.",
        _table(
            ("Table", "Read", "Written", "Dropped"),
            [
                (name, a["read"], a["written"], a["dropped"])
                for name, a in statistics["accounts"].items()
            ],
        ),
        "## What was wrong",
        "Kept: the record was written, with a defect worth knowing. Dropped: it was "
        "not.",
        _table(
            ("Reason", "Kept", "Dropped", "Example"),
            [
                (f"`{reason}`", n["kept"], n["left_out"], _code(n["places"][0]))
                for reason, n in statistics["failures"].items()
            ],
        ),
        *_list_damaged(statistics["formula_trees"]["deviations"]),
        *_list_lost(statistics["failures"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _list_damaged(deviations: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """List the formulas that were not read as written, with an example of each kind."""
    if deviations:
        yield "### Formulas that were read as far as it goes"
        rows = [
            (f"`{reason}`", n["formulas"], n["times"],
             f"{_code(n['latex'])} in {_code(n['example'])}")
            for reason, n in deviations.items()
        ]  # fmt: skip
        yield _table(("Reason", "Distinct formulas", "Times", "Example"), rows)


def _list_lost(failures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Name files and places that could not be read, some for each reason."""
    lost = {reason: found for reason, found in failures.items() if found["left_out"]}
    if lost:
        yield "## What could not be read"
    for reason, found in lost.items():
        shown = found["places"][: found["left_out"]]
        lines = [f"- {_code(place)}" for place in shown]
        if found["left_out"] > len(shown):
            rest = found["left_out"] - len(shown)
            lines.append(f"- … and {rest:,} more (dataset `ingestion_failures`)")
        yield f"`{reason}`:\n\n" + "\n".join(lines)


def _list_counts(statistics: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    posts, formulas = statistics["posts"], statistics["formulas"]
    return [
        ("Posts", posts["total"]),
        *(
            (f"{kind.capitalize()} posts", posts[kind])
            for kind in posts
            if kind != "total"
        ),
        ("Comments", statistics["comments"]),
        ("Formulas in the index", formulas["rows"]),
        ("Formulas that may be returned", formulas["returnable"]),
        ("Visually distinct formulas", formulas["visual_ids"]),
        ("… that may be returned", formulas["returnable_visual_ids"]),
        ("Formulas found in the texts", statistics["formulas_in_texts"]),
        ("Training pairs", statistics["training_pairs"]),
        *((f"Statements: {kind}", n) for kind, n in statistics["statements"].items()),
        ("Statements cited by proofs", statistics["statement_links"]),
        *((f"Topics, {task}", n) for task, n in statistics["topics"].items()),
    ]


def _describe_subset(counts: Mapping[str, int]) -> list[str]:
    """Return the section about the judged subset, if this is one."""
    tasks = [key.removesuffix("_judged") for key in counts if key.endswith("_judged")]
    if not tasks:
        return []
    rows = [(t, counts[f"{t}_judged"], counts[f"{t}_found"]) for t in tasks]
    kept = [
        ("Posts that are judged, or hold a judged formula", counts["judged"]),
        ("Questions of judged answers", counts.get("question", 0)),
        ("Training pairs drawn from the whole collection", counts.get("training", 0)),
        ("Posts of the subset", counts["posts"]),
    ]
    return [
        "## Judged subset",
        _table(
            ("Judgments", "Documents", "In the collection", "Missing"),
            [(task, judged, found, judged - found) for task, judged, found in rows],
        ),
        _table(("Kept", "Number"), kept),
    ]


def _draw_formulas_per_post(statistics: Mapping[str, Any]) -> Figure:
    """Return a figure of the number of formulas per post."""
    histogram = statistics["formula_histogram"]
    figure, (axes,) = make_figure(f"Formulas per post, {statistics['collection']}")
    draw_bars(axes, list(histogram), {"posts": list(histogram.values())})
    axes.set(xlabel="formulas in the post", ylabel="posts")
    return figure


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    if not rows:
        return "_None._"
    return format_table(header, rows)


def _spread_table(spreads: Mapping[str, Mapping[str, float]]) -> str:
    rows = [(k, s["mean"], s["median"], s["p90"], s["max"]) for k, s in spreads.items()]
    return _table(("Posts", "Mean", "Median", "90 %", "Most"), rows)


def _tree_table(trees: Mapping[str, Any]) -> str:
    rows = [
        ("Visually distinct formulas", trees["distinct"]),
        *(
            (f"{name[:3].upper()} from {name[4:]}", count)
            for name, count in trees["sources"].items()
        ),
    ]
    return _table(("Trees", "Formulas"), rows)


def _disagreement_table(statistics: Mapping[str, Any]) -> str:
    rows = []
    for reason in REASONS:
        found = statistics["failures"].get(reason)
        if found is not None:
            examples = "<br>".join(map(_code, found["places"][:_EXAMPLES]))
            rows.append((f"`{reason}`", found["kept"] + found["left_out"], examples))
    return _table(("Reason", "Formulas", "Examples"), rows)


def _code(text: str) -> str:
    """Return a text as code in a cell of a table."""
    text = " ".join(text.split())
    if len(text) > _MAX_CODE:
        text = text[: _MAX_CODE - 1] + "…"
    return f"`{text.replace('|', '¦').replace('`', chr(39))}`"


def _judgment_table(judgments: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (
            f"`{source}`",
            j["task"],
            j["topics"],
            j["judgments"],
            j["documents"],
            " / ".join(f"{grade}: {n:,}" for grade, n in j["grades"].items()),
        )
        for source, j in judgments.items()
    ]
    return _table(("File", "Task", "Topics", "Judgments", "Documents", "Grades"), rows)
