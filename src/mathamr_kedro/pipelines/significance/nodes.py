"""Nodes of the significance stage: recorded cells to tables, tests and plots."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.experiments import CellStore, describe_key, read_experiment
from mathamr_kedro.experiments.figures import draw_outcome
from mathamr_kedro.experiments.outcomes import (
    Outcome,
    summarise_evaluation,
    summarise_experiment,
)
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.pipelines.significance.parameters import SignificanceConfig

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
        return summarise_experiment(grid, config.tests, config.topic_set)
    found = cells.find_all(describe_key(parameters))
    if not found:
        raise MissingInputError(
            "No recorded evaluation with the current parameters in "
            f"{str(cells.base)!r}; run the stage 'evaluation'"
        )
    return summarise_evaluation(found[-1], config.tests, config.published)


def write_tables(
    outcome: Outcome,
) -> tuple[str, dict[str, str], dict[str, str], dict[str, Any]]:
    """Write the tables as Markdown, CSV and LaTeX, and the whole result."""
    tables = outcome.report.tables
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


def draw_figures(outcome: Outcome) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Draw differences by topic, seeds, and effectiveness against throughput."""
    return draw_outcome(outcome)
