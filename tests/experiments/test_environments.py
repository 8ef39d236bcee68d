"""What experiments state; tests/test_thesis_tables.py runs those of the thesis."""

from __future__ import annotations

import pytest

from mathamr_kedro.evaluation.tables import LAYOUTS
from mathamr_kedro.experiments.grid import describe_key
from mathamr_kedro.project.cells import GridRun, list_experiments
from mathamr_kedro.project.loader import EnvironmentLoader
from mathamr_kedro.settings import CONFIG_LOADER_ARGS
from tests.experiments.world import open_grid
from tests.pipelines.graph_world import PROJECT

pytestmark = pytest.mark.slow

TABLES = {
    "formula_modes": ["4.6", "4.7", "4.8"],
    "vn_structure": ["4.9"],
    "vn_connectivity": ["4.10", "4.11", "4.12"],
    "vn_initialisation": ["4.13", "4.14"],
    "retrieval_strategies": ["4.15", "4.16"],
    "auxiliary_loss": ["4.17"],
}
BEYOND = [
    "edges",
    "formula_rgcn_pairings",
    "formula_rgcn_scale",
    "marf_context",
    "marf_scoring",
    "mathamr_contexts",
    "mathamr_tuning",
    "ssemb_augmentations",
    "ssemb_scale",
]


def test_all_environments_are_known():
    assert list_experiments(PROJECT) == sorted([*TABLES, *BEYOND])


@pytest.mark.parametrize("name", sorted(TABLES))
def test_environment_states_the_experiment_of_the_thesis(name, tmp_path):
    grid = open_grid(name, tmp_path)
    experiment = grid.experiment
    assert experiment.name == name
    assert list(experiment.tables) == TABLES[name]
    assert len(experiment.seeds) == 5
    layouts = [LAYOUTS[number] for number in experiment.tables]
    assert set(experiment.row_names) == {row for found in layouts for row in found.rows}
    baselines = {found.baseline for found in layouts} - {None}
    assert baselines == {experiment.baseline}
    assert grid.context.params["preprocessing"]["pairs"]["max_pairs"] == 50_000
    cells = grid.list_cells()
    assert len({cell.key for cell in cells}) == 5 * len(experiment.conditions)
    # A plain run of the environment is the baseline.
    seed = grid.context.params["training"]["seed"]
    wanted = {cell.condition: cell.key for cell in cells if cell.seed == seed}
    is_row = experiment.rows == "conditions"
    baseline = experiment.baseline if is_row else next(iter(wanted))
    assert describe_key(grid.context.params) == wanted[baseline]


@pytest.mark.parametrize("name", [*sorted(TABLES), *BEYOND])
def test_experiment_leaves_nothing_to_the_environment_of_the_collection(name):
    """Over any other environment, cells hold only trained systems, searched alike."""
    loader = EnvironmentLoader(str(PROJECT / "conf"), name, **CONFIG_LOADER_ARGS)
    over_pool = EnvironmentLoader(
        str(PROJECT / "conf"), f"pool+{name}", **CONFIG_LOADER_ARGS
    )
    stated = loader["parameters"]["evaluation"]
    keys = ["baselines", "optional_baselines", "fusions"]
    assert not any(stated[key] for key in keys)
    found = over_pool["parameters"]["evaluation"]
    assert all(found[key] == stated[key] for key in [*keys, "strategies"])


@pytest.mark.parametrize("name", sorted(TABLES))
def test_what_searches_by_hnsw_has_an_engine_with_graphs(name):
    """The collection's environment may choose the engine ``exact``, as pool does."""
    context = GridRun(PROJECT, name, "pool+scratch").context
    indexing, evaluation = (context.params[s] for s in ("indexing", "evaluation"))
    strategies = [indexing["strategy"], *evaluation["strategies"]]
    if any(strategy["search"] == "hnsw" for strategy in strategies):
        assert indexing["engine"]["engine"] == "edge"


def test_queries_of_table_4_15_are_timed_one_by_one():
    context = GridRun(PROJECT, "retrieval_strategies", "pool+scratch").context
    assert context.params["evaluation"]["queries_per_batch"] == 1
