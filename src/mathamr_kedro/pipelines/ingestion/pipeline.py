"""Wiring of the ingestion stage."""

from __future__ import annotations

from collections.abc import Callable

from kedro.pipeline import Node, Pipeline, node

from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.ingestion import extraction, nodes

# Tables whose records are as their reader yields them.
_READ = ("formulas", "topic_formulas", "judgments", "statements", "statement_links")
# Tables whose failures are collected, in the order of the report.
_SOURCES = (
    "formulas",
    "posts",
    "comments",
    "topics",
    "topic_formulas",
    "judgments",
    "training_pairs",
    "statements",
    "statement_links",
)


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the ingestion stage: raw collection in, typed tables out."""
    return box("ingestion", *_extract_tables(), *_derive_tables(), *_report())


def _extract_tables() -> list[Node]:
    """From raw files to one table of each kind of record."""
    return [
        make_node(extraction.choose_posts, "chosen_posts"),
        *(_extract(table, extraction.extract_as_read(table)) for table in _READ),
        make_node(nodes.index_visual_ids, "visual_index"),
        _extract("posts", extraction.extract_posts),
        _extract("comments", extraction.extract_comments),
        _extract("topics", extraction.extract_topics),
    ]


def _extract(table: str, function: Callable[..., object]) -> Node:
    return make_node(function, [f"{table}_failures", table], name=f"extract_{table}")


def _derive_tables() -> list[Node]:
    """From tables to formula trees, returnable formulas and training pairs."""
    pairs = ["training_pairs_failures", "training_pairs"]
    return [
        make_node(nodes.build_formula_trees, "formula_trees"),
        make_node(nodes.list_returnable_formulas, "returnable_formulas"),
        make_node(nodes.list_training_formulas, "training_formulas"),
        make_node(extraction.pair_posts, pairs),
    ]


def _report() -> list[Node]:
    """From tables to failures and a report."""
    failures = [f"{table}_failures" for table in _SOURCES]
    return [
        make_node(nodes.check_judgments, "judgment_check_failures"),
        node(
            nodes.collect_failures,
            inputs=[*failures, "judgment_check_failures"],
            outputs="ingestion_failures",
            name="collect_failures",
        ),
        make_node(
            nodes.describe_ingestion,
            ["ingestion_statistics", "ingestion_report", "ingestion_figure"],
            failures="ingestion_failures",
            **{table: table for table in _SOURCES},
        ),
    ]
