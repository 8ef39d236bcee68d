"""From cells to tables: rows, asterisks, seeds and figures."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from mathamr_kedro.base.errors import InputError, MissingInputError
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables import Figure, PaperTable, select_best_seed
from mathamr_kedro.evaluation.tables.papers import PaperRow
from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.figures import draw_outcome
from mathamr_kedro.experiments.grid import Cell, Experiment, list_cells
from mathamr_kedro.experiments.outcomes import (
    summarise_evaluation,
    summarise_experiment,
)
from mathamr_kedro.experiments.results import GridResults, choose_topic_set
from tests.experiments.cells import (
    CPU,
    PARAMETERS,
    fill_store,
    make_scores,
    save_cell,
    save_scores,
    time_queries,
)

pytestmark = pytest.mark.slow

MODES = Experiment(
    name="formula_modes",
    conditions={
        mode: {"preprocessing": {"graph": {"formula_mode": mode}}}
        for mode in ("both", "opt", "slt", "none")
    },
    baseline="none",
    tables=("4.6", "4.7", "4.8"),
    seeds=(1, 2, 3),
)
MEANS = {"both": 0.50, "opt": 0.45, "slt": 0.4003, "none": 0.40}
QUICK = TestConfig(num_samples=200)


@pytest.fixture
def store(tmp_path):
    return CellStore(tmp_path)


@pytest.fixture
def outcome(store):
    fill_store(store, MODES, MEANS)
    return summarise_experiment(GridResults.find(MODES, PARAMETERS, store), QUICK, None)


def test_tables_are_the_thesis_ones(outcome):
    tables = outcome.tables
    assert list(tables) == ["table_4.6", "table_4.7", "table_4.8"]
    labels = [*tables["table_4.6"].rows]
    assert labels == ["Both (OPT+SLT)", "OPT-only", "SLT-only", "None"]
    titles = [column.title for column in tables["table_4.8"].columns]
    assert titles == ["Time/Epoch (s)", "GPU Mem (GB)", "Index Size (MB)"]


def test_best_seed_and_asterisks_are_those_of_scipy(outcome):
    best = {"both": 0.52, "none": 0.42}  # seed 2 has the highest means
    own = {
        name: make_scores({"mathamr_plus": mean}, seed=2) for name, mean in best.items()
    }
    chosen = {
        name: f.query('task == 1 and measure == "nDCG\'"').score.to_numpy()
        for name, f in own.items()
    }
    test = next(
        t for t in outcome.tests["table_4.6"]
        if (t.condition, t.measure) == ("both", "nDCG'")
    )  # fmt: skip
    assert test.mean == pytest.approx(chosen["both"].mean())
    assert test.p_t == pytest.approx(ttest_rel(chosen["both"], chosen["none"]).pvalue)
    assert test.p_bonferroni == pytest.approx(min(1, 12 * test.p_t))
    table = outcome.tables["table_4.6"]
    marks = [row["nDCG'"].marked for row in table.rows.values()]
    assert marks == [True, True, False, False]
    assert "Bonferroni correction over 12 tests" in " ".join(table.notes)


def test_means_are_over_seeds(outcome):
    figure = outcome.tables["table_4.7"].rows["Both (OPT+SLT)"]["nDCG'"]
    values = [r.value("nDCG'") for r in outcome.results["both"]]
    assert figure.value == pytest.approx(np.mean(values))
    assert figure.std == pytest.approx(np.std(values, ddof=1))


def test_efficiency_has_the_units_of_the_thesis(outcome):
    row = outcome.tables["table_4.8"].rows["Both (OPT+SLT)"]
    seconds, memory, index = row.values()
    assert (seconds.value, seconds.std) == (12.0, 1.0)
    assert memory.value == 2.0
    assert index.value == pytest.approx(145.6)


def test_missing_cells_are_told(store):
    cells = list_cells(MODES, PARAMETERS)
    for cell in cells[:-1]:
        save_cell(store, cell, {"mathamr_plus": 0.5})
    outcome = summarise_experiment(
        GridResults.find(MODES, PARAMETERS, store), QUICK, None
    )
    assert "11 of 12 cells" in outcome.notes[0]
    assert outcome.notes[1] == "Not finished: seed 3 of none."
    assert "None: 2 of 3 seeds." in outcome.tables["table_4.7"].notes


def test_cells_of_older_data_do_not_count(store):
    cells = list_cells(MODES, PARAMETERS)
    save_cell(store, cells[0], {"mathamr_plus": 0.5}, "old")
    save_cell(store, cells[1], {"mathamr_plus": 0.5}, "new")
    grid = GridResults.find(MODES, PARAMETERS, store)
    assert [cell.name for cell, _ in grid.finished] == [cells[1].name]
    assert len(grid.missing) == 11


def test_no_cell_says_what_to_run(store):
    with pytest.raises(
        MissingInputError, match="mathamr experiments run formula_modes"
    ):
        GridResults.find(MODES, PARAMETERS, store)


def test_different_topics_are_refused(store):
    cells = list_cells(MODES, PARAMETERS)
    save_cell(store, cells[0], {"mathamr_plus": 0.5})
    save_cell(store, cells[1], {"mathamr_plus": 0.5}, num_topics=19)
    with pytest.raises(InputError, match="its topics are not those of the other"):
        summarise_experiment(GridResults.find(MODES, PARAMETERS, store), QUICK, None)


STRATEGIES = {
    "maxsim_exact": 0.46, "maxsim_hnsw": 0.45, "two_stage_5000_exact": 0.44,
    "two_stage_5000_hnsw": 0.44, "two_stage_1000_exact": 0.35,
    "two_stage_1000_hnsw": 0.35, "single_vector_exact": 0.3, "single_vector_hnsw": 0.3,
}  # fmt: skip


def compare_strategies(store, *costs):
    """One cell per seed, with its costs."""
    experiment = Experiment(
        "retrieval_strategies", {"one": {}}, "maxsim_hnsw", ("4.15", "4.16"), (1, 2),
        rows="strategies", strategies=tuple(STRATEGIES),
    )  # fmt: skip
    systems = {f"mathamr_plus/{name}": mean for name, mean in STRATEGIES.items()}
    cells = list_cells(experiment, PARAMETERS)
    for cell, own in zip(cells, costs, strict=True):
        save_cell(store, cell, {**systems, "bm25": 0.9}, **own)
    grid = GridResults.find(experiment, PARAMETERS, store)
    return summarise_experiment(grid, QUICK, None)


def test_throughput_is_tested_as_in_table_4_15(store):
    outcome = compare_strategies(store, {"timed": True}, {"timed": True})
    table, tests = (x["table_4.15"] for x in (outcome.tables, outcome.tests))
    assert len(tests) == 15  # three conditions, four measures and QPS
    marks = {label: row["QPS"].marked for label, row in table.rows.items()}
    assert [name for name, marked in marks.items() if marked] == ["Single-Vector"]
    own, base = (
        np.array(list(time_queries(f"mathamr_plus/{name}", 1).values()))
        for name in ("single_vector_hnsw", "maxsim_hnsw")
    )
    (test,) = [
        t for t in tests
        if (t.condition, t.measure) == ("single_vector_hnsw", "seconds_per_query")
    ]  # fmt: skip
    assert test.p_t == pytest.approx(ttest_rel(own, base).pvalue)
    assert test.wins == 20
    shown = table.rows["Single-Vector"]["QPS"].value
    assert shown == pytest.approx(1 / own.mean())
    assert "QPS: measured on Xeon, 8 cores." in table.notes


def test_seeds_on_two_machines_have_no_mean_time(store):
    other = {**CPU, "cpu": "Arm", "cores": 2}
    outcome = compare_strategies(store, {}, {"searched_on": other})
    rows = outcome.tables["table_4.16"].rows
    assert len(rows) == 3 * 8
    first = rows["ColBERT MaxSim•"]
    assert first["nDCG'"].std is not None
    assert "QPS" not in first
    assert "ColBERT MaxSim• on Arm, 2 cores" in rows
    on_xeon = rows["ColBERT MaxSim• on Xeon, 8 cores"]
    assert on_xeon == {"QPS": Figure(41.0)}
    assert "no common mean" in " ".join(outcome.tables["table_4.16"].notes)
    machines = [r["machines"]["QPS"] for r in outcome.describe()["rows"]["maxsim_hnsw"]]
    assert machines == ["Xeon, 8 cores", "Arm, 2 cores"]


def test_rows_may_be_strategies(store):
    tables = compare_strategies(store, {}, {}).tables
    assert len(tables["table_4.15"].rows) == 4
    assert len(tables["table_4.16"].rows) == 8
    table = tables["table_4.15"]
    assert table.baseline == next(iter(table.rows))
    last = table.rows["Single-Vector"]
    assert last["nDCG'"].marked
    assert last["QPS"].value == 41.0  # queries per second of task 1


def test_columns_may_be_strategies(store):
    names = ("maxsim_hnsw", "two_stage_1000_hnsw", "single_vector_hnsw")
    betas = ("1", "0.7", "0.5", "0.3", "0")
    experiment = Experiment(
        "auxiliary_loss",
        {f"beta_{b}": {"training": {"loss": {"beta": float(b)}}} for b in betas},
        "beta_1", ("4.17",), (1, 2), strategies=names,
    )  # fmt: skip
    for cell in list_cells(experiment, PARAMETERS):
        lift = 0.2 if cell.condition == "beta_0" else 0.0
        means = (0.45, 0.35 + lift, 0.33 + lift)
        own = {f"mathamr_plus/{n}": m for n, m in zip(names, means, strict=True)}
        save_cell(store, cell, own)
    grid = GridResults.find(experiment, PARAMETERS, store)
    table = summarise_experiment(grid, QUICK, None).tables["table_4.17"]
    assert [*table.rows] == [f"β = {b}" for b in betas]
    marks = [figure.marked for figure in table.rows["β = 0"].values()]
    assert marks == [False, False, True, True, True, True]


def test_absent_strategy_is_named(store):
    experiment = Experiment("s", {"a": {}}, "a", seeds=(1,), strategies=("maxsim",))
    save_cell(store, list_cells(experiment, PARAMETERS)[0], {"mathamr_plus/other": 0.1})
    with pytest.raises(InputError, match="expected scores of the strategy 'maxsim'"):
        summarise_experiment(
            GridResults.find(experiment, PARAMETERS, store), QUICK, None
        )


def test_experiment_of_ones_own_has_plain_tables(store):
    experiment = Experiment("mine", {"a": {}, "b": {"evaluation": {"depth": 5}}}, "a")
    fill_store(store, experiment, {"a": 0.3, "b": 0.6})
    outcome = summarise_experiment(
        GridResults.find(experiment, PARAMETERS, store), QUICK, None
    )
    assert list(outcome.tables) == ["best_seed", "mean", "efficiency"]


def test_evaluation_alone_compares_systems_with_floor_and_ceiling(store):
    experiment = Experiment("mine", {"a": {}}, "a", seeds=(1,))
    cell = list_cells(experiment, PARAMETERS)[0]
    systems = {"bm25": 0.3, "mathamr_plus": 0.5}
    save_cell(store, cell, systems, topic_set="ARQMath-3")
    outcome = summarise_evaluation(store.list()[0], QUICK, published=True)
    tables = outcome.tables
    assert list(tables) == [
        "task1_ARQMath-3", "table_4.19", "task2_ARQMath-3", "table_4.21",
        "table_4.20", "table_4.22",
    ]  # fmt: skip
    rows = tables["task1_ARQMath-3"].rows
    assert [*rows] == [
        "mathamr_plus", "bm25", "(random order)", "(ideal order)",
    ]  # fmt: skip
    assert rows["bm25"]["nDCG'"].marked
    shown = {name: row["Value"] for name, row in tables["table_4.20"].rows.items()}
    assert shown["Query throughput"] == "41.00 queries/sec"
    assert shown["GPU peak memory"] == "2.00 GB"
    # Only answers, not all that the index holds.
    assert (shown["Number of vectors"], shown["Index size"]) == ("800", "0.15 GB")
    notes = " ".join(tables["table_4.20"].notes)
    assert "800 vectors (answer) of 32 numbers" in notes
    assert "takes 1.00 GB for all posts and formulas (disk)" in notes
    assert "Training: measured on A100 (Xeon, 8 cores)." in notes
    assert "Search: measured on Xeon, 8 cores." in notes
    assert tables["table_4.22"].rows["Number of indexed formulas"] == {"Value": "50"}
    assert [*tables["table_4.19"].rows][-1] == "Ours / mathamr_plus"
    assert outcome.baseline == "mathamr_plus"


def test_tables_of_papers_may_have_columns_of_a_part_of_the_topics(store):
    cell = list_cells(Experiment("mine", {"a": {}}, "a", seeds=(1,)), PARAMETERS)[0]
    parts = {"own": 20, "own/questions_above_50": 5}
    scores = [
        make_scores({"bm25": 0.3}, number, seed=number, topic_set=name)
        for name, number in parts.items()
    ]
    save_scores(store, cell, pd.concat(scores), ["bm25"])
    column = "questions_above_50: nDCG'"
    paper = PaperTable("T", 1, ("nDCG'", column), {"Words": PaperRow(ours="bm25")})
    outcome = summarise_evaluation(store.list()[0], QUICK, False, papers={"3": paper})
    assert "task1_own_questions_above_50" in outcome.tables
    (row,) = outcome.tables["paper_3"].rows.values()
    means = [s.query('task == 1 and measure == "nDCG\'"').score.mean() for s in scores]
    assert [figure.value for figure in row.values()] == pytest.approx(means)
    assert outcome.topics == tuple(f"A.{n:03d}" for n in range(20))


def test_collection_without_judgments_has_nothing_to_compare(store, caplog):
    cell = list_cells(Experiment("mine", {"a": {}}, "a", seeds=(1,)), PARAMETERS)[0]
    save_cell(store, cell, {})
    outcome = summarise_evaluation(store.list()[0], QUICK, published=False)
    assert (outcome.results, outcome.tables) == ({}, {})
    assert "nothing to compare" in caplog.text
    assert not any(figure.axes[0].has_data() for figure in draw_outcome(outcome))
    assert outcome.describe()


def read_bars(figure):
    """Names of topics, and the heights of each condition's bars."""
    (axes,) = figure.axes
    topics = [label.get_text() for label in axes.get_xticklabels()]
    heights = {
        bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers
    }
    return topics, heights


def test_figures_show_every_condition_and_seed(outcome):
    bars, seeds, tradeoff = draw_outcome(outcome)
    assert [*read_bars(bars)[1]] == ["both", "opt", "slt"]
    assert all(len(line.get_ydata()) == 3 for line in seeds.axes[0].lines)
    assert set(tradeoff.axes[0].lines[0].get_xdata()) == {41.0}


def test_topics_stand_in_one_order_for_all_conditions(outcome):
    figure, _, _ = draw_outcome(outcome)
    topics, heights = read_bars(figure)
    assert heights["both"] == sorted(heights["both"], reverse=True)  # the best one
    assert sorted(topics) == sorted(outcome.topics) and len(outcome.topics) > 2
    assert figure.axes[0].get_xlabel() == "topic, by the difference of both"
    base = select_best_seed(outcome.results["none"]).per_topic["nDCG'"]
    for name, found in heights.items():
        own = select_best_seed(outcome.results[name]).per_topic["nDCG'"]
        gains = dict(zip(outcome.topics, own - base, strict=True))
        assert found == pytest.approx([gains[topic] for topic in topics])


@pytest.mark.parametrize(
    ("names", "wanted", "chosen"),
    [
        (["ARQMath-1", "ARQMath-3", "own"], None, "ARQMath-3"),
        (["own"], None, "own"),
        (["ARQMath-1", "ARQMath-3"], "ARQMath-1", "ARQMath-1"),
        (["own", "own/questions_above_50"], None, "own"),
        (
            ["own", "own/questions_above_50"],
            "own/questions_above_50",
            "own/questions_above_50",
        ),
    ],
)
def test_topic_set(names, wanted, chosen):
    assert choose_topic_set(names, wanted) == chosen


def test_unknown_topic_set_is_refused():
    with pytest.raises(MissingInputError, match="found: own"):
        choose_topic_set(["own"], "ARQMath-3")


def test_every_table_names_the_parser(store):
    cells = fill_store(store, MODES, MEANS)
    for cell in cells:
        set_parser(store, cell, {"parser": "transition", "model": "seed42"})
    grid = GridResults.find(MODES, PARAMETERS, store)
    outcome = summarise_experiment(grid, QUICK, None)
    line = "AMR parser: transition, model seed42."
    for table in outcome.tables.values():
        assert table.to_markdown().count(line) == 1
        assert line.replace("_", "") in table.to_latex()
    assert line in outcome.notes
    assert outcome.describe()["amr_parser"]["parser"] == "transition"
    # Cells of two parsers would be seen in every table.
    set_parser(store, cells[0], {"parser": "amrlib"})
    grid = GridResults.find(MODES, PARAMETERS, store)
    mixed = summarise_experiment(grid, QUICK, None).tables["table_4.6"]
    assert "AMR parser: amrlib" in mixed.to_markdown()
    assert line in mixed.to_markdown()


def test_comparison_of_systems_names_the_parser(store):
    (cell, *_) = fill_store(store, MODES, MEANS)
    set_parser(store, cell, {"parser": "builtin", "digest": "1f"})
    outcome = summarise_evaluation(store.find(cell.key, "data"), QUICK, published=True)
    for table in outcome.tables.values():
        assert "AMR parser: builtin (the thesis: transition" in table.to_markdown()


def set_parser(store: CellStore, cell: Cell, parser: dict[str, str]) -> None:
    file = store.find(cell.key, "data").folder / "record.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"amr_parser": parser}))
