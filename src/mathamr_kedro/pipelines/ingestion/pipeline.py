"""Wiring of the ingestion stage."""

from __future__ import annotations

from collections.abc import Callable

from kedro.pipeline import Node, Pipeline, node

from mathamr_kedro.pipelines.ingestion import extraction, nodes
from mathamr_kedro.pipelines.ingestion.formula_trees import build_formula_trees
from mathamr_kedro.pipelines.ingestion.selection import choose_posts, pair_posts

_PARAMETERS = "params:ingestion"
_CHOSEN = "chosen_posts"
# Tables whose records are as their reader yields them.
_READ = ("topic_formulas", "judgments", "statements", "statement_links")
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
    return Pipeline(
        [*_extract_tables(), *_derive_tables(), *_report()],
        namespace="ingestion",
        prefix_datasets_with_namespace=False,
    )


def _extract_tables() -> list[Node]:
    """From raw files to one table of each kind of record."""
    return [
        node(
            choose_posts,
            inputs=["collection", _PARAMETERS],
            outputs=_CHOSEN,
            name="choose_posts",
        ),
        _extract(extraction.extract_formulas, "formulas", _CHOSEN),
        node(
            nodes.index_visual_ids,
            inputs="formulas",
            outputs="visual_index",
            name="index_visual_ids",
        ),
        _extract(extraction.extract_posts, "posts", "visual_index", _CHOSEN),
        _extract(extraction.extract_comments, "comments", "visual_index", _CHOSEN),
        _extract(extraction.extract_topics, "topics", _CHOSEN),
        *(_extract(extraction.extract_as_read(t), t, _CHOSEN) for t in _READ),
    ]


def _derive_tables() -> list[Node]:
    """From tables to formula trees, returnable formulas and training pairs."""
    return [
        node(
            build_formula_trees,
            inputs=[
                "formulas",
                "topic_formulas",
                "posts",
                "comments",
                "training_formulas",
                _PARAMETERS,
            ],
            outputs="formula_trees",
            name="build_formula_trees",
        ),
        node(
            nodes.list_returnable_formulas,
            inputs=["formulas", "posts", "comments", _PARAMETERS],
            outputs="returnable_formulas",
            name="list_returnable_formulas",
        ),
        node(
            nodes.list_training_formulas,
            inputs=["collection", "posts", "topics", _PARAMETERS],
            outputs="training_formulas",
            name="list_training_formulas",
        ),
        node(
            pair_posts,
            inputs=["collection", "posts", "statement_links", _CHOSEN, _PARAMETERS],
            outputs=["training_pairs_failures", "training_pairs"],
            name="pair_posts",
        ),
    ]


def _report() -> list[Node]:
    """From tables to failures and a report."""
    return [
        node(
            nodes.check_judgments,
            inputs=["judgments", "posts", "visual_index"],
            outputs="judgment_check_failures",
            name="check_judgments",
        ),
        node(
            nodes.collect_failures,
            inputs=[
                *(f"{table}_failures" for table in _SOURCES),
                "judgment_check_failures",
            ],
            outputs="ingestion_failures",
            name="collect_failures",
        ),
        node(
            nodes.describe_ingestion,
            inputs={
                "collection": "collection",
                "failures": "ingestion_failures",
                "formula_trees": "formula_trees",
                "returnable_formulas": "returnable_formulas",
                "chosen_posts": _CHOSEN,
                "visual_index": "visual_index",
                **{table: table for table in _SOURCES},
            },
            outputs=["ingestion_statistics", "ingestion_report", "ingestion_figure"],
            name="describe_ingestion",
        ),
    ]


def _extract(function: Callable[..., object], table: str, *extra: str) -> Node:
    return node(
        function,
        inputs=["collection", *extra, _PARAMETERS],
        outputs=[f"{table}_failures", table],
        name=f"extract_{table}",
    )
