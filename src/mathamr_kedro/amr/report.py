"""The report of parsing: Table 4.2 of the thesis as far as it concerns AMR.

Its sizes of graphs count formula trees too, so they are counted after graph fusion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from mathamr_kedro.amr.parsers import describe_parser
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.formatting import format_table

_THESIS = {
    "Posts processed": "2,482,294",
    "Successful graphs": "2,432,933 (98.0 %)",
    "Failed posts": "49,361 (2.0 %)",
    "… all chunks failed": "41,404",
    "… disconnected graph": "7,946",
    "… PENMAN error": "20",
    "Question graphs": "1,009,372",
    "Answer graphs": "1,423,561",
}
_REASONS = {
    "all_chunks_failed": "… all chunks failed",
    "disconnected_graph": "… disconnected graph",
    "penman_error": "… PENMAN error",
    "empty_text": "… empty text",
    "timeout": "… time-out",
    "worker_died": "… worker died",
}


def describe_outcomes(
    kinds: Mapping[str, int],
    reasons: Mapping[str, int],
    partial: Mapping[str, int],
    placeholders: int,
    missing: int,
) -> dict[str, Any]:
    """Return how many texts became graphs and why others did not.

    Args:
        kinds: graphs by type of text.
        reasons: failed texts by reason.
        partial: failed chunks by reason, of texts that nevertheless have a graph.
        placeholders: of the formulas of all texts with a graph.
        missing: how many of them have no node.
    """
    graphs, failed = sum(kinds.values()), sum(reasons.values())
    return {
        "processed": graphs + failed,
        "graphs": graphs,
        "graphs_percent": _percent(graphs, graphs + failed),
        "failed": failed,
        "failed_by_reason": dict(sorted(reasons.items())),
        "chunks_lost_in_graphs": dict(sorted(partial.items())),
        "graphs_by_type": dict(sorted(kinds.items())),
        "placeholders": {
            "total": placeholders,
            "kept": placeholders - missing,
            "kept_percent": _percent(placeholders - missing, placeholders),
        },
    }


def check_account(
    shard: str,
    expected: Iterable[str],
    graphs: Iterable[str],
    failed: Iterable[str],
) -> None:
    """Reject a shard in which a text was lost, duplicated or invented.

    Raises:
        MalformedInputError: some id is not exactly once a graph or a failure.
    """
    wanted, found = Counter(expected), Counter(graphs)
    found.update(failed)
    if wanted != found:
        wrong = sorted((wanted - found) | (found - wanted))
        raise MalformedInputError(
            f"The account of shard {shard!r} does not balance: {len(wrong)} ids "
            f"are not exactly once a graph or a failure, e.g. {wrong[0]!r}; delete "
            "the folder of the graphs and run the stage again"
        )


def report_parsing(statistics: Mapping[str, Any]) -> str:
    """Return the statistics as a Markdown page in the order of Table 4.2."""
    posts, topics = statistics["posts"], statistics["topics"]
    lost = sum(posts["chunks_lost_in_graphs"].values())
    parts = [
        f"# AMR parsing by `{statistics['parser']['parser']}`",
        describe_parser(statistics["parser"]),
        "Thesis: Table 4.2, on the full ARQMath collection.",
        format_table(("Statistic", "Here", "Thesis"), _outcome_rows(posts)),
        format_table(
            ("Statistic", "Value"),
            [
                ("Placeholders in the texts", posts["placeholders"]["total"]),
                ("… with a node in the graph", _share(posts["placeholders"], "kept")),
                ("Chunks lost in posts with a graph", lost),
            ],
        ),
        "## Topics",
        format_table(
            ("Statistic", "Value"),
            [
                ("Topics processed", topics["processed"]),
                ("Successful graphs", _share(topics, "graphs")),
                ("Placeholders with a node", _share(topics["placeholders"], "kept")),
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _outcome_rows(posts: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    by_reason = posts["failed_by_reason"]
    share = f"{posts['failed']:,} ({100 - posts['graphs_percent']:.2f} %)"
    shown = [r for r in _REASONS if r in by_reason or _REASONS[r] in _THESIS]
    rows: list[tuple[str, Any]] = [
        ("Posts processed", posts["processed"]),
        ("Successful graphs", _share(posts, "graphs")),
        ("Failed posts", share),
        *((_REASONS[reason], by_reason.get(reason, 0)) for reason in shown),
    ]
    rows += [
        (f"{kind.capitalize()} graphs", count)
        for kind, count in posts["graphs_by_type"].items()
    ]
    return [(name, value, _THESIS.get(name, "")) for name, value in rows]


def _share(counts: Mapping[str, Any], name: str) -> str:
    return f"{counts[name]:,} ({counts[f'{name}_percent']:.2f} %)"


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 100.0
