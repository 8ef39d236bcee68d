"""Wiring of the AMR parsing stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline

from mathamr_kedro.pipelines import box, make_node
from mathamr_kedro.pipelines.amr_parsing import nodes


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the AMR parsing stage: clean texts in, PENMAN graphs out."""
    return box(
        "amr_parsing",
        make_node(nodes.resolve_parser, "amr_parser", earlier="earlier_amr_parser"),
        make_node(
            nodes.parse_texts,
            ["amr_post_failures", "amr_graphs"],
            name="parse_posts",
            tags="gpu",
            texts="posts",
            parser="amr_parser",
        ),
        make_node(
            nodes.parse_texts,
            ["amr_topic_failures", "topic_amr_graphs"],
            name="parse_topics",
            tags="gpu",
            texts="topics",
            parser="amr_parser",
        ),
        make_node(
            nodes.describe_parsing,
            ["amr_statistics", "amr_report"],
            graphs="amr_graphs",
            topic_graphs="topic_amr_graphs",
            failures="amr_post_failures",
            topic_failures="amr_topic_failures",
            parser="amr_parser",
        ),
    )
