"""Every experiment of the thesis, end to end on a tiny collection."""

from __future__ import annotations

import pytest

from mathamr_kedro.cli._grids import GridRun
from mathamr_kedro.environments import EnvironmentLoader
from mathamr_kedro.experiments.grid import describe_key
from mathamr_kedro.settings import CONFIG_LOADER_ARGS
from mathamr_kedro.stats import LAYOUTS
from tests.experiments.world import open_grid, run_grid
from tests.pipelines.graph_world import PROJECT

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
    "marf_context",
    "marf_scoring",
    "mathamr_contexts",
    "mathamr_reranking",
    "ssemb_augmentations",
]
ONE_SEED = {"experiment": {"seeds": [7]}}


def test_all_environments_are_known():
    assert GridRun.list_experiments(PROJECT) == sorted([*TABLES, *BEYOND])


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
    """Over any other environment, cells hold trained systems alone, searched alike."""
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


@pytest.mark.parametrize("name", ["retrieval_strategies", "auxiliary_loss"])
def test_maxsim_by_hnsw_walks_as_in_the_thesis(name):
    evaluation = GridRun(PROJECT, name, "pool+scratch").context.params["evaluation"]
    walks = {s["name"]: s.get("hnsw_walks", "one") for s in evaluation["strategies"]}
    assert walks["maxsim_hnsw"] == "per_vector"
    if name == "retrieval_strategies":
        assert walks["maxsim_hnsw_one_walk"] == "one"
        assert evaluation["queries_per_batch"] == 1


@pytest.mark.parametrize("name", sorted(TABLES))
def test_experiment_ends_with_the_tables_of_the_thesis(name, data, whole):
    if name == whole.name:
        grid = whole
    else:
        # HNSW is Qdrant's; the others need no index on disk.
        is_hnsw = name in ("retrieval_strategies", "auxiliary_loss")
        engine = {"engine": "edge" if is_hnsw else "exact"}
        grid = open_grid(name, data, **ONE_SEED, indexing={"engine": engine})
        assert set(run_grid(grid).values()) == {"finished"}
    grid.run_stages(["significance"])
    catalog = grid.context.catalog
    tables = catalog.load("significance_csv")
    assert {f"table_{number}" for number in TABLES[name]} <= set(tables)
    for number in TABLES[name]:
        _, *rows = tables[f"table_{number}"]().splitlines()
        assert len(rows) == len(LAYOUTS[number].rows)
        assert all(row.split(",")[-1] != "" for row in rows)
    result = catalog.load("experiment_result")
    assert result["missing"] == []
    if name == "retrieval_strategies":  # three conditions on four measures and QPS
        tested = [t["measure"] for t in result["tests"]["table_4.15"]]
        assert (len(tested), tested.count("seconds_per_query")) == (15, 3)
    assert f"Table {TABLES[name][0]}" in catalog.load("significance_report")
    assert r"\toprule" in catalog.load("significance_latex")[f"table_{number}"]()
    assert catalog.load("seed_figure").data
    assert grid.plan(grid.list_cells(), grid.ensure_collection()) == []


def test_graphs_with_and_without_edges_are_compared(data):
    engine = {"engine": "exact"}
    grid = open_grid("edges", data, **ONE_SEED, indexing={"engine": engine})
    keys = {cell.condition: cell.key for cell in grid.list_cells()}
    assert len(set(keys.values())) == 2
    assert set(run_grid(grid).values()) == {"finished"}
    grid.run_stages(["significance"])
    catalog = grid.context.catalog
    assert catalog.load("experiment_result")["missing"] == []
    report = catalog.load("significance_report")
    assert "\n| with " in report
    assert "\n| without " in report
