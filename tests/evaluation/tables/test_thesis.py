"""The thesis' tables: same rows, same columns, same order."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.tables import thesis
from mathamr_kedro.evaluation.tables.scores import (
    SeedResult,
    best_seed_table,
    mean_table,
)
from mathamr_kedro.evaluation.tables.table import split_labels
from mathamr_kedro.evaluation.tables.thesis import (
    LAYOUTS,
    benchmark_table,
    efficiency_table,
)

BEST_SEED = {"4.6", "4.9", "4.10", "4.15", "4.17"}


GPU = Machine("GPU", "Intel Core i7-9700KF", 8, "NVIDIA GeForce GTX 1080 Ti")


def _list_tested(layout):
    return [column.tested for column in layout.columns if column.tested]


def results_of(number: str, machine: Machine = GPU):
    layout, rng = LAYOUTS[number], np.random.default_rng(1)
    keys = [column.key for column in layout.columns]
    tested = [k for k in keys if "nDCG" in k or "MAP" in k or "P'" in k or k == "Bpref"]
    return {
        name: [
            SeedResult(
                seed,
                {key: rng.random(10) for key in (*tested, *_list_tested(layout))},
                {key: float(rng.random()) for key in keys if key not in tested},
                {"memory_gigabytes": machine},
            )
            for seed in (1, 2)
        ]
        for name in layout.rows
    }


@pytest.mark.parametrize("number", LAYOUTS)
def test_every_table_is_built_and_rendered(number):
    layout, results = LAYOUTS[number], results_of(number)
    if number in BEST_SEED:
        table = best_seed_table(layout, results)
        assert len(table.tests) == len(layout.columns) * (len(layout.rows) - 1)
    else:
        table = mean_table(layout, results)
    keys = {column.key for column in table.columns}
    assert all(row.keys() == keys for row in table.rows.values())
    assert None not in chain(*(row.values() for row in table.rows.values()))
    for text in (table.to_markdown(), table.to_csv()):
        assert all(label in text for label in chain(*map(split_labels, table.rows)))
    body = table.to_latex().partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    assert body.count(r"\\") == len(table.rows)
    assert body.isascii()
    assert f"Table {number}:" in table.to_markdown()


@pytest.mark.parametrize(
    ("number", "header", "first", "last"),
    [
        ("4.6", "Formula Mode|nDCG'|MAP'|P'@10|Bpref", "Both (OPT+SLT)", "None†"),
        ("4.8", "Formula Mode|Time/Epoch (s)|GPU Mem (GB)|Index Size (MB)",
         "Both (OPT+SLT)", "None"),
        ("4.9", "VN Structure|Retrieval|nDCG'|MAP'|P'@10|Bpref", "Full hierarchy†",
         "Global VN"),
        ("4.11", "Aux. Edges|nDCG'|MAP'|P'@10|Bpref", "None", "Fully Connected"),
        ("4.12", "Structure|Time/Epoch (min)|GPU Mem (GB)", "None", "Fully Connected"),
        ("4.13", "Init Value|Learned|nDCG'|MAP'|P'@10|Bpref", "Zero†", "Mean-pooled"),
        ("4.14", "Init Value|Learned|Time/Epoch (s)|Params", "Zero", "Mean-pooled"),
        ("4.15", "Retrieval Strategy|nDCG'|MAP'|P'@10|Bpref|QPS",
         "ColBERT MaxSim (ef = 128)†", "Single-Vector"),
        ("4.16", "Retrieval Strategy|nDCG'|MAP'|P'@10|Bpref|QPS", "ColBERT MaxSim•",
         "Single-Vector◦"),
    ],
)  # fmt: skip
def test_headers_and_rows_are_those_of_the_thesis(number, header, first, last):
    build = best_seed_table if number in BEST_SEED else mean_table
    table = build(LAYOUTS[number], results_of(number))
    lines = table.to_markdown().splitlines()[2:]
    cells = [[c.strip() for c in line.strip("| ").split("|")] for line in lines]
    assert "|".join(cells[0]) == header
    body = cells[2 : 2 + len(table.rows)]
    assert (body[0][0], body[-1][0]) == (first, last)


def test_strategies_are_compared_on_one_model():
    """Table 4.15: the best seed of the baseline, also where another has a better."""
    layout = LAYOUTS["4.15"]
    scores = {"maxsim_hnsw": (0.3, 0.4), "single_vector_hnsw": (0.2, 0.1)}
    results = {
        name: [
            SeedResult(seed, {}, {column.key: value for column in layout.columns})
            for seed, value in enumerate(values)
        ]
        for name, values in scores.items()
    }
    table = best_seed_table(layout, results)
    figures = [row["nDCG'"] for row in table.rows.values()]
    shown = [figure.value for figure in figures if figure]
    assert shown == [0.4, 0.1]


def test_auxiliary_loss_compares_three_strategies_within_one_family():
    layout = LAYOUTS["4.17"]
    groups = list(dict.fromkeys(column.group for column in layout.columns))
    assert groups == ["ColBERT MaxSim", "Doc-VN + MaxSim", "Single-Vector"]
    assert [column.title for column in layout.columns] == ["nDCG'", "P'@10"] * 3
    tests = best_seed_table(layout, results_of("4.17")).tests
    assert len(tests) == 4 * 3 * 2


def test_benchmark_sets_ours_below_the_published_systems():
    ours = SeedResult(0, {}, {"nDCG'": 0.35, "MAP'": 0.11})
    table = benchmark_table("4.19", {"MathAMR+": ours})
    text = table.to_markdown()
    assert text.startswith("**Table 4.19:")
    assert [c.key for c in table.columns] == ["nDCG'", "MAP'", "P'@10", "Bpref"]
    assert len(table.rows) == 8
    assert "| Kassaie et al. / RRF+LLM" in text
    last = text.strip().splitlines()[-1]
    assert [c.strip() for c in last.strip("|").split("|")] == [
        "Ours / MathAMR+", "0.350", "0.110", "–", "–",
    ]  # fmt: skip
    assert len(benchmark_table("4.21", {}).rows) == 9


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("4.6", ["0.457"] * 4),
        ("4.8", ["90.5 ± 0.7", "9.8 ± 0.1", "145.7"]),
        ("4.12", ["1.508 ± 0.012", "9.753 ± 0.141"]),
        ("4.14", ["90.500 ± 0.707", "5.654M"]),
        ("4.16", ["0.457 ± 0.000"] * 4 + ["83.3 ± 0.7"]),
    ],
)
def test_figures_have_units_and_decimals_of_the_thesis(number, shown):
    layout = LAYOUTS[number]
    measured = {
        "seconds_per_epoch": (90.0, 91.0), "memory_gigabytes": (9.653, 9.853),
        "index_megabytes": (145.66, 145.66), "parameters": (5_653_808, 5_653_808),
        "QPS": (82.8, 83.8),
    }  # fmt: skip
    seeds = [
        SeedResult(
            n,
            {},
            {c.key: measured.get(c.key, (0.4567,) * 2)[n] for c in layout.columns},
        )
        for n in (0, 1)
    ]
    name = next(iter(layout.rows))
    if number in BEST_SEED:
        table = best_seed_table(layout, {name: seeds})
    else:
        table = mean_table(layout, {name: seeds})
    line = table.to_markdown().splitlines()[4]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[len(layout.label_titles) :] == shown


@pytest.mark.parametrize("number", ["4.8", "4.12"])
def test_memory_is_that_of_the_device(number):
    titles = [
        [c.title for c in mean_table(LAYOUTS[number], results_of(number, m)).columns]
        for m in (GPU, Machine("CPU", "Intel Core i7-9700KF", 8), Machine())
    ]
    shown = [next(t for t in found if "Mem" in t) for found in titles]
    assert shown == ["GPU Mem (GB)", "CPU Mem (GB)", "Mem (GB)"]
    table = efficiency_table("4.20", {}, "CPU", ("Note.",))
    assert "CPU peak memory" in table.rows
    assert table.notes == ("Note.",)


def test_efficiency_of_the_benchmark_reads_as_in_the_thesis():
    values = {
        "minutes_per_epoch": 69.2, "memory_gigabytes": 9.75, "parameters": 5_653_808,
        "index_gigabytes": 2.79, "vectors": 21_947_328, "QPS": 2.66,
    }  # fmt: skip
    rows = efficiency_table("4.20", values).rows
    assert [row["Value"] for row in rows.values()] == [
        "69.2 min/epoch", "9.75 GB", "5,653,808", "2.79 GB", "21,947,328",
        "2.66 queries/sec",
    ]  # fmt: skip
    empty = efficiency_table("4.22", {}).rows["Query throughput"]
    assert empty == {"Value": None}


# Published numbers are typed by hand, and no table shows all of them at once.
@pytest.mark.parametrize("rows", [thesis._TASK1, thesis._TASK2])
def test_published_scores_are_shares_and_map_is_the_lowest(rows):
    for name, ndcg, average, precision, bpref in rows:
        scores = [ndcg, average, precision, *([] if bpref is None else [bpref])]
        assert all(0 < score < 1 for score in scores), name
        assert average < min(ndcg, precision), name
