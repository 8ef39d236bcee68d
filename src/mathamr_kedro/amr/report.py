"""The parsing report: Table 4.2 as far as it concerns AMR, and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mathamr_kedro.amr.parsers import describe_parser
from mathamr_kedro.base.formatting import format_table
from mathamr_kedro.figures import draw_bars, make_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def report_parsing(statistics: Mapping[str, Any]) -> tuple[str, Figure]:
    """Return the report, and the figure of the sizes of graphs."""
    return _write_report(statistics), _draw_sizes(statistics)


def _write_report(statistics: Mapping[str, Any]) -> str:
    """Return the statistics as a Markdown page in the order of Table 4.2."""
    posts, topics = statistics["posts"], statistics["topics"]
    parts = [
        f"# AMR parsing by `{statistics['parser']['parser']}`",
        describe_parser(statistics["parser"]),
        "Thesis: Table 4.2, on the full ARQMath collection. Its sizes of graphs count "
        "formula trees too, so they are compared after graph fusion.",
        format_table(("Statistic", "Here", "Thesis"), _outcome_rows(posts)),
        "## Sizes of the AMR graphs",
        "![Nodes per AMR graph](amr_figure.png)",
        format_table(
            ("Per graph", "Mean", "Median", "90 %", "Most"), _size_rows(posts)
        ),
        format_table(
            ("Statistic", "Value"),
            [
                ("Node types (without placeholders)", posts["node_types"]),
                ("Relation types (without :snt)", posts["relation_types"]),
                ("Placeholders in the texts", posts["placeholders"]["total"]),
                ("… with a node in the graph", _share(posts["placeholders"], "kept")),
                ("Chunks lost in posts with a graph", _lost(posts)),
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


def _draw_sizes(statistics: Mapping[str, Any]) -> Figure:
    """Return a figure of the number of nodes per graph."""
    histogram = statistics["posts"]["node_histogram"]
    figure, (axes,) = make_figure("Nodes per AMR graph")
    draw_bars(axes, list(histogram), {"graphs": list(histogram.values())})
    axes.set(xlabel="nodes in the graph", ylabel="graphs")
    return figure


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


def _size_rows(posts: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for name in ("nodes", "edges", "formulas"):
        for kind, spread in posts[f"{name}_per_graph"].items():
            rows.append((f"{name}, {kind}", *_numbers(spread)))
    return [*rows, ("sentences, all", *_numbers(posts["sentences_per_graph"]))]


def _numbers(spread: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(spread[name] for name in ("mean", "median", "p90", "max"))


def _share(counts: Mapping[str, Any], name: str) -> str:
    return f"{counts[name]:,} ({counts[f'{name}_percent']:.2f} %)"


def _lost(posts: Mapping[str, Any]) -> int:
    return sum(posts["chunks_lost_in_graphs"].values())
