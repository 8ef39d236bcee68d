"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from mathamr_kedro.evaluation.tables.table import (
    Column,
    Figure,
    Table,
    format_figure,
)

NDCG, MAP = Column("nDCG'", "nDCG'"), Column("MAP'", "MAP'")
BEST = Table(
    "Best seed",
    ("Formula Mode",),
    (NDCG, MAP),
    {
        "Both (OPT+SLT)": {"nDCG'": Figure(0.4971, marked=True), "MAP'": 0.15},
        "None": {"nDCG'": 0.404},
    },
    ("† Baseline, * p < 0.05",),
    baseline="None",
)
MEANS = Table(
    "Means",
    ("Init", "Learned"),
    (NDCG, Column("s", "Time (min)", decimals=1, scale=1 / 60)),
    {
        ("Zero", "50 % & more_less"): {
            "nDCG'": Figure(0.494, 0.0021),
            "s": Figure(600, 6),
        }
    },
)


def test_markdown_is_aligned_and_marked():
    assert BEST.to_markdown().splitlines() == [
        "**Best seed**",
        "",
        "| Formula Mode   |  nDCG' |  MAP' |",
        "| -------------- | -----: | ----: |",
        "| Both (OPT+SLT) | 0.497* | 0.150 |",
        "| None†          |  0.404 |     – |",
        "",
        "† Baseline, * p < 0.05",
    ]


def test_bars_in_cells_do_not_break_markdown():
    table = Table("t", ("Run",), (NDCG,), {"a|b": {"nDCG'": 0.5}})
    assert r"a\|b" in table.to_markdown()


def test_csv_has_full_precision_and_extra_columns():
    rows = list(csv.DictReader(io.StringIO(BEST.to_csv())))
    assert rows == [
        {"Formula Mode": "Both (OPT+SLT)", "baseline": "0", "nDCG'": "0.4971",
         "nDCG' significant": "1", "MAP'": "0.15"},
        {"Formula Mode": "None", "baseline": "1", "nDCG'": "0.404",
         "nDCG' significant": "0", "MAP'": ""},
    ]  # fmt: skip
    [row] = csv.DictReader(io.StringIO(MEANS.to_csv()))
    assert (row["nDCG'"], row["nDCG' std"]) == ("0.494", "0.0021")
    assert (float(row["Time (min)"]), float(row["Time (min) std"])) == (10, 0.1)


def test_latex_escapes_what_latex_reads():
    text = MEANS.to_latex()
    assert r"Zero & 50 \% \& more\_less & 0.494 $\pm$ 0.002 & 10.0 $\pm$ 0.1 \\" in text
    assert r"\begin{tabular}{llrr}" in text
    assert r"Both (OPT+SLT) & 0.497$^{*}$ & 0.150 \\" in BEST.to_latex()
    assert r"None$^{\dagger}$ & 0.404 & -- \\" in BEST.to_latex()


def test_groups_of_columns_have_a_heading():
    columns = (
        Column("a", "nDCG'", group="MaxSim"),
        Column("b", "P'@10", group="MaxSim"),
        Column("c", "nDCG'", group="Single"),
    )
    row = {"a": 0.454, "b": 0.209, "c": 0.33}
    table = Table("Loss", ("Weight",), columns, {"β = 1": row})
    assert "| MaxSim nDCG' | MaxSim P'@10 | Single nDCG' |" in table.to_markdown()
    assert "Weight,MaxSim / nDCG',MaxSim / P'@10" in table.to_csv()
    latex = table.to_latex()
    assert r" & \multicolumn{2}{c}{MaxSim} & \multicolumn{1}{c}{Single} \\" in latex
    assert r"\cmidrule(lr){2-3}\cmidrule(lr){4-4}" in latex
    assert r"$\beta$ = 1 & 0.454" in latex


@pytest.mark.parametrize(
    ("figure", "column", "text"),
    [
        (None, NDCG, "–"),
        ("2.79 GB", NDCG, "2.79 GB"),
        (Figure(7_917_123), Column("p", "Params", scale=1e-6, unit="M"), "7.917M"),
        (Figure(21_947_328), Column("v", "Vectors", decimals=0), "21,947,328"),
        (Figure(145.6, 0.0), Column("i", "MB", 1, show_std=False), "145.6"),
        (Figure(83.3, marked=True), Column("q", "QPS", 1), "83.3*"),
    ],
)
def test_figures_are_written_as_in_the_thesis(figure, column, text):
    assert format_figure(figure, column) == text


def test_unit_of_a_cell_does_not_scale_the_csv():
    column = Column("p", "Params", scale=1e-6, unit="M")
    table = Table("t", ("Init",), (column,), {"Zero": {"p": 7_917_123}})
    assert table.to_csv().splitlines()[1] == "Zero,7917123.0"


def test_notes_stand_below_the_table_in_latex():
    table = replace(BEST, notes=("50 % of all.", "One seed."))
    end = table.to_latex().partition(r"\end{tabular}")[2]
    assert end == (
        "\n\\par\\smallskip{\\footnotesize 50 \\% of all. One seed.}\n\\end{table}\n"
    )
    assert "footnotesize" not in replace(BEST, notes=()).to_latex()


def test_texts_stand_in_the_csv_as_they_are():
    rows = {
        "Index": {"value": "2.79 GB"},
        "Memory": {},
        "nDCG'": {"value": Figure(0.5, 0.1)},
    }
    table = Table("t", ("Metric",), (Column("value", "Value"),), rows)
    assert table.to_csv().splitlines() == [
        "Metric,Value,Value std", "Index,2.79 GB,", "Memory,,", "nDCG',0.5,0.1",
    ]  # fmt: skip
