"""Statistics of math graphs and prepared graphs: the thesis' Tables 4.2 and 4.3.

The reports show them as Markdown and as figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mathamr_kedro.amr import describe_parser
from mathamr_kedro.base.figures import add_legend, draw_bars, make_figure
from mathamr_kedro.base.formatting import format_table
from mathamr_kedro.graph.prepared import PreparedGraphs
from mathamr_kedro.graph.vocabulary import UNK

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_REASONS = {
    "all_chunks_failed": "All chunks failed to parse",
    "disconnected_graph": "Disconnected graph",
    "penman_error": "Penman decode error",
    "graph_error": "Graph breaks an invariant",
}
_RETURNED = ("answer", "document")
"""Types of post that Task 1 returns."""

_COLOURS = {"question": "#3b6ea8", "answer": "#d98032", "document": "#5a9a5a"}


def report_graphs(statistics: Mapping[str, Any]) -> tuple[str, Figure]:
    """Return the report on math graphs, and the figure of their sizes."""
    return _write_graph_report(statistics), _draw_graph_sizes(statistics)


def report_preparation(statistics: Mapping[str, Any]) -> tuple[str, Figure]:
    """Return the report on prepared graphs, and the figure of the vocabulary."""
    return _write_preparation_report(statistics), _draw_vocabulary(statistics)


def _write_graph_report(statistics: Mapping[str, Any]) -> str:
    """Return the statistics of a collection as the thesis' Tables 4.2 and 4.3."""
    parts = [
        "# Math graphs",
        describe_parser(statistics["parser"]),
        "## Graph collection (Table 4.2)",
        _write_table(("Statistic", "Value"), _list_table_4_2(statistics)),
        "## Benchmark and corpus (Table 4.3)",
        _write_table(("Statistic", "Value"), _list_table_4_3(statistics)),
        "## Parts",
        _write_table(("Statistic", "Value"), _list_parts(statistics["all"])),
        "![Nodes per graph](math_graph_figure.png)",
    ]
    if statistics.get("notes"):
        parts += [
            "## Notes",
            "Posts that have a graph, with a defect worth knowing.",
            _write_table(("Reason", "Posts"), list(statistics["notes"].items())),
        ]
    return "\n\n".join(parts) + "\n"


def _list_table_4_2(statistics: Mapping[str, Any]) -> list[tuple[str, Any]]:
    everything = statistics["all"]
    by_type = statistics["by_post_type"]
    processed = statistics["posts_processed"]
    return [
        ("Posts processed", processed),
        ("Successful graphs", _with_share(statistics["graphs"], processed)),
        ("Failed posts", _with_share(statistics["failed_posts"], processed)),
        *(
            (f"… {_REASONS.get(reason, reason.replace('_', ' '))}", count)
            for reason, count in statistics["failures"].items()
        ),
        *((f"{kind.capitalize()} graphs", p["graphs"]) for kind, p in by_type.items()),
        ("Training pairs", statistics["training_pairs"]),
        ("Avg. nodes per graph (all)", everything["nodes_per_graph"]),
        *(
            (
                f"… {kind}s",
                f"{part['nodes_per_graph']:.1f} nodes, "
                f"{part['formulas_per_graph']:.1f} formulas",
            )
            for kind, part in by_type.items()
        ),
        ("Avg. edges per graph", everything["edges_per_graph"]),
        ("Median nodes per graph", everything["median_nodes"]),
        ("Vocabulary node types (raw)", statistics["raw_node_types"]),
        ("Vocabulary relation types (raw)", statistics["raw_relations"]),
    ]


def _list_table_4_3(statistics: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the scale of benchmark and corpus; an edition per file of judgments."""
    collection, by_type = statistics["collection"], statistics["by_post_type"]
    posts, judgments = collection["posts"], collection["judgments"]
    tasks = {"task1": "Task 1", "task2": "Task 2", "task2_formulas": "Task 2"}
    judged = [(tasks.get(j["task"], j["task"]), f, j) for f, j in judgments.items()]
    answers = [by_type[kind] for kind in _RETURNED if kind in by_type]
    return [
        ("*Collection*", ""),
        ("Total posts", posts["total"]),
        *((f"{k.capitalize()} posts", n) for k, n in posts.items() if k != "total"),
        ("Mathematical formulas", collection["formulas"]),
        ("*Evaluation topics, judged*", ""),
        *((f"{task} topics, `{f}`", j["topics"]) for task, f, j in judged),
        ("*Relevance judgments*", ""),
        *(
            row
            for task, f, j in judged
            for row in (
                (f"{task} total judgments, `{f}`", j["judgments"]),
                (f"{task} unique judged documents, `{f}`", j["documents"]),
            )
        ),
        ("*Corpus*", ""),
        ("Training pairs", statistics["training_pairs"]),
        ("Task 1 retrieval index (answers)", sum(a["graphs"] for a in answers)),
        ("Task 2 retrieval index (posts with formulas)", sum(
            part["with_formulas"] for k, part in by_type.items() if k != "example"
        )),
    ]  # fmt: skip


def _list_parts(everything: Mapping[str, Any]) -> list[tuple[str, Any]]:
    lost = _with_share(everything["lost_formulas"], everything["formulas"])
    return [
        ("Formulas", everything["formulas"]),
        ("Formulas that the AMR lost (hung by `:math`)", lost),
        ("Formulas per graph", everything["formulas_per_graph"]),
        ("Sentences per graph", everything["sentences_per_graph"]),
        ("OPT nodes per graph", everything["opt_nodes_per_graph"]),
        ("SLT nodes per graph", everything["slt_nodes_per_graph"]),
        ("Largest graph", everything["largest_graph"]),
    ]


def _draw_graph_sizes(statistics: Mapping[str, Any]) -> Figure:
    """Return a figure of the number of nodes per graph, by post type.

    All types have the same bins, those without a graph among them, in order.
    """
    histograms = statistics["size_histograms"]
    lows = sorted({int(low) for found in histograms.values() for low in found})
    first, last = (lows[0], lows[-1]) if lows else (1, 0)
    bins = [1 << n for n in range(first.bit_length() - 1, last.bit_length())]
    figure, (axes,) = make_figure("Nodes per graph")
    draw_bars(
        axes,
        [f"{low}–{2 * low - 1}" for low in bins],
        {kind: [h.get(str(low), 0) for low in bins] for kind, h in histograms.items()},
        colours=[_COLOURS.get(kind, "#888888") for kind in histograms],
        is_stacked=True,
    )
    axes.set(xlabel="nodes", ylabel="graphs")
    add_legend(figure)
    return figure


def describe_prepared(prepared: PreparedGraphs) -> dict[str, Any]:
    """Return sizes per graph of the posts, with the report of the stage."""
    posts = prepared.posts
    graphs = max(len(posts), 1)
    totals = {group: int(offsets[-1]) for group, offsets in posts.offsets.items()}
    written = sum(file.stat().st_size for file in posts.folder.iterdir())
    content = totals["node"] - totals["virtual"]
    unknown = posts.count_type(prepared.types.find(UNK))
    return {
        "folder": prepared.folder.name,
        "configuration": prepared.configuration,
        **prepared.report,
        "coverage_of_posts": 1 - unknown / max(content, 1),
        "bytes_per_graph": written / graphs,
        "bytes_per_156_nodes": written / max(content, 1) * 156,
        "nodes_per_graph": content / graphs,
        "virtual_nodes_per_graph": totals["virtual"] / graphs,
        "representatives_per_graph": totals["representative"] / graphs,
    }


def _write_preparation_report(statistics: Mapping[str, Any]) -> str:
    """Return what preprocessing made of the graphs, as Markdown."""
    vocabulary = statistics["vocabulary"]
    rows = [
        ("Graphs counted", vocabulary["graphs"]),
        ("Nodes counted", vocabulary["nodes"]),
        ("Node types (raw)", vocabulary["raw_types"]),
        ("Node types (normalised)", vocabulary["normalised_types"]),
        ("… numbers that share a token", vocabulary["rare_numbers"]),
        ("Node types (normalised + truncated)", vocabulary["types"]),
        ("Coverage of the graphs counted", f"{vocabulary['coverage']:.2%}"),
        ("Coverage of all posts", f"{statistics['coverage_of_posts']:.2%}"),
        ("Relation types (raw)", vocabulary["raw_relations"]),
        ("Relation types (total)", vocabulary["relations"]),
    ]
    graphs = [
        ("Graphs of posts", statistics["posts"]),
        ("Graphs of topics", statistics["topics"]),
        ("Graphs excluded", statistics["failed"]),
        ("Graphs of single formulas", statistics["formulas"]),
        ("Formulas that may be returned", statistics["returnable_formulas"]),
        ("Bytes per graph", statistics["bytes_per_graph"]),
        ("Nodes per graph, without virtual ones", statistics["nodes_per_graph"]),
        ("Virtual nodes per graph", statistics["virtual_nodes_per_graph"]),
        ("Vectors per graph", statistics["representatives_per_graph"]),
        ("Training pairs", statistics["train_pairs"]),
        ("Validation pairs", statistics["validation_pairs"]),
        ("Pairs without a graph", statistics["pairs_without_graph"]),
    ]
    settings: list[tuple[str, object]] = []
    for group, values in statistics["configuration"].items():
        if not isinstance(values, Mapping):
            settings.append((group, values))
            continue
        for name, value in values.items():
            settings.append((f"{group}.{name}", "–" if value is None else str(value)))
    return (
        "\n\n".join(
            [
                f"# Prepared graphs `{statistics['folder']}`",
                _write_table(("Parameter", "Value"), settings),
                "## Vocabulary",
                _write_table(("Statistic", "Value"), rows),
                "![Share of nodes covered](preprocessing_figure.png)",
                "## Graphs and pairs",
                _write_table(("Statistic", "Value"), graphs),
            ]
        )
        + "\n"
    )


def _draw_vocabulary(statistics: Mapping[str, Any]) -> Figure:
    """Return a figure of how many node types cover which share of the nodes."""
    vocabulary = statistics["vocabulary"]
    sizes, shares = zip(*vocabulary["coverage_by_size"], strict=True)
    figure, (axes,) = make_figure("Share of nodes covered by the most frequent types")
    axes.plot(sizes, shares, "o-", markersize=4)
    axes.axvline(vocabulary["types"], color="#888888", linestyle=":", linewidth=1.2)
    axes.set(xlabel="node types", ylabel="share of nodes", xscale="log")
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    return figure


def _write_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table; fractions have one decimal."""
    return format_table(
        head,
        [[f"{v:,.1f}" if isinstance(v, float) else v for v in row] for row in rows],
    )


def _with_share(part: int, whole: int) -> str:
    return f"{part:,} ({part / max(whole, 1):.1%})"
