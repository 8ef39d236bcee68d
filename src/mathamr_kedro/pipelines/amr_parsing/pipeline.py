"""Wiring of the AMR parsing stage."""

from __future__ import annotations

from kedro.pipeline import Pipeline, node

from mathamr_kedro.pipelines.amr_parsing import nodes

_PARAMETERS = "params:amr_parsing"


def create_pipeline(**kwargs: object) -> Pipeline:
    """Return the AMR parsing stage: clean texts in, PENMAN graphs out."""
    return Pipeline(
        [
            node(
                nodes.resolve_parser,
                inputs=["earlier_amr_parser", _PARAMETERS],
                outputs="amr_parser",
                name="resolve_parser",
            ),
            node(
                nodes.parse_texts,
                inputs=["posts", "amr_parser", _PARAMETERS],
                outputs=["amr_post_failures", "amr_graphs"],
                name="parse_posts",
                tags="gpu",
            ),
            node(
                nodes.parse_texts,
                inputs=["topics", "amr_parser", _PARAMETERS],
                outputs=["amr_topic_failures", "topic_amr_graphs"],
                name="parse_topics",
                tags="gpu",
            ),
            node(
                nodes.describe_parsing,
                inputs={
                    "posts": "posts",
                    "topics": "topics",
                    "graphs": "amr_graphs",
                    "topic_graphs": "topic_amr_graphs",
                    "failures": "amr_post_failures",
                    "topic_failures": "amr_topic_failures",
                    "parser": "amr_parser",
                    "parameters": _PARAMETERS,
                },
                outputs=["amr_statistics", "amr_report"],
                name="describe_parsing",
            ),
        ],
        namespace="amr_parsing",
        prefix_datasets_with_namespace=False,
    )
