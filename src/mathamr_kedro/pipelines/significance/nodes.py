"""Nodes of the significance stage: recorded cells to tables, tests and plots."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.types import VisualId
from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.evaluation.tables import Outcome
from mathamr_kedro.experiments import CellStore, describe_key, read_experiment
from mathamr_kedro.experiments.examples import (
    ExampleTexts,
    compare_nodes,
    write_examples,
    write_pair,
)
from mathamr_kedro.experiments.outcomes import (
    summarise_evaluation,
    summarise_experiment,
)
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.pipelines.significance import SignificanceConfig
from mathamr_kedro.runs import list_topic_sets
from mathamr_kedro.systems.mathamr_plus import CollectionVectors, open_vectors
from mathamr_kedro.systems.registry import OWN

logger = logging.getLogger(__name__)


_FIGURES = {
    "topic_differences": "Differences to the baseline, topic by topic",
    "seeds": "Scores by seed",
    "tradeoff": "Effectiveness against throughput",
}
"""Pictures beside the page of tables."""


def compare_results(cells: CellStore, parameters: Mapping[str, Any]) -> Outcome:
    """Gather the cells of the experiment, or the last evaluation; test differences."""
    config = SignificanceConfig.read(parameters["significance"])
    experiment = read_experiment(parameters)
    if experiment is not None:
        grid = GridResults.find(experiment, parameters, cells)
        if grid.missing:
            logger.warning("not finished: %s", grid.describe_missing())
        return summarise_experiment(grid, config.tests, config.topic_set, config.papers)
    found = cells.list(describe_key(parameters))
    if not found:
        raise MissingInputError(
            "No recorded evaluation with the current parameters in "
            f"{str(cells.base)!r}; run the stage 'evaluation'"
        )
    return summarise_evaluation(
        found[-1], config.tests, config.published, config.topic_set, config.papers
    )


def write_tables(
    outcome: Outcome,
) -> tuple[str, dict[str, str], dict[str, str], dict[str, Any]]:
    """Write the tables as Markdown, CSV and LaTeX, and the whole result."""
    tables = outcome.tables
    pages = [f"# {outcome.title}", *outcome.notes]
    pages += [table.to_markdown() for table in tables.values()]
    if outcome.results:
        pages += [f"![{title}]({name}.png)" for name, title in _FIGURES.items()]
    return (
        "\n\n".join(pages),
        {name: table.to_csv() for name, table in tables.items()},
        {name: table.to_latex() for name, table in tables.items()},
        outcome.describe(),
    )


def gather_texts(
    topics: ShardedTable,
    judgments: ShardedTable,
    posts: ShardedTable,
    formulas: ShardedTable,
    visual_index: VisualIndex,
    parameters: Mapping[str, Any],
) -> ExampleTexts:
    """Gather topics with their judgments; texts are found when they are asked for."""
    patterns = parameters.get("topic_sets") or {}
    return ExampleTexts(
        list_topic_sets(topics.records(), judgments.records(), patterns, visual_index),
        partial(posts.find_all, "post_id"),
        partial(_find_latex, formulas, posts),
    )


def show_examples(
    outcome: Outcome,
    texts: ExampleTexts,
    folders: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> tuple[str, Any]:
    """Show judged documents and first results, and a pair of texts node by node.

    Returns:
        The page, and the picture of the pair under each condition.
    """
    # Loaded here: matplotlib takes half a second of every command.
    from mathamr_kedro.search.heatmap import draw_panels  # noqa: PLC0415

    config = SignificanceConfig.read(parameters).examples
    page = write_examples(outcome.title, outcome.shown, texts, config)

    def find_vectors(place: str) -> CollectionVectors:
        return open_vectors(Path(folders["models"]) / OWN / place, verify=True)

    pair = compare_nodes(outcome.shown, texts, config.pair, find_vectors)
    return f"{page}\n{write_pair(config.pair, pair)}", draw_panels(pair)


def _find_latex(
    formulas: ShardedTable, posts: ShardedTable, visual_ids: Collection[VisualId]
) -> dict[VisualId, str]:
    """Return the LaTeX of formulas: from the formula index, or else from the posts."""
    if formulas.counts.get("written"):
        rows = formulas.find_all("visual_id", visual_ids)
        return {visual_id: row.latex for visual_id, row in rows.items()}
    wanted = set(visual_ids)
    return {
        mention.visual_id: mention.latex
        for post in posts.records()
        for mention in post.formula_map
        if mention.visual_id in wanted
    }
