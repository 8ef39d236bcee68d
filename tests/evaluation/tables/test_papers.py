"""Tables of other papers: published rows beside ours."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables import PaperTable, SeedResult

STATED = {
    "title": "Paper, Table 1",
    "task": 2,
    "columns": ["nDCG'@10", "P'@10"],
    "baseline": "A",
    "decimals": 4,
    "rows": {
        "A": {"published": [0.7343, 0.68], "ours": "a"},
        "B": {"published": [0.6, None], "ours": "b"},
        "C": {"published": [0.5, 0.4]},
        "D": {"ours": "not_run"},
    },
}
TESTS = TestConfig(num_samples=20)


def read(**changes) -> PaperTable:
    return read_parameters(PaperTable, {**STATED, **changes}, "significance.papers.x")


def score(seed: int, *means: float) -> SeedResult:
    noise = np.linspace(-0.01, 0.01, 12) * (1 + seed % 3)
    names = ("nDCG'@10", "P'@10")
    return SeedResult(seed, {n: m + noise for n, m in zip(names, means, strict=False)})


def test_published_rows_stand_beside_ours_with_means_over_seeds():
    results = {"a": [score(1, 0.5, 0.4), score(2, 0.7, 0.4)], "b": [score(1, 0.2)]}
    table = read().fill(results, TESTS)
    assert [*table.rows] == [
        ("A", "published, whole collection"), ("A", "here"),
        ("B", "published, whole collection"), ("B", "here"),
        ("C", "published, whole collection"),
    ]  # fmt: skip
    page = table.to_markdown()
    assert " 0.7343 |" in page and "0.6000 ± 0.1414" in page
    assert "| B" in page and "0.2000*" in page  # far below its baseline on each topic
    assert "Not run here: D." in page
    assert {(t.condition, t.measure) for t in table.tests} == {("B", "nDCG'@10")}
    assert "Bonferroni correction over 1 tests" in page


def test_a_row_may_be_several_systems_under_headings():
    columns = ["Original: P'@10", "RRF: P'@10"]
    ours = {"Original": "a", "RRF": "b"}
    rows = {"A": {"published": [0.6882, 0.7158], "ours": ours}}
    results = {"a": [score(1, 0.5, 0.4)], "b": [score(1, 0.5, 0.6)]}
    table = read(columns=columns, rows=rows).fill(results, TESTS)
    assert "Original P'@10" in table.to_markdown()
    found = [figure.value for figure in table.rows["A", "here"].values()]
    assert found == pytest.approx([0.4, 0.6])


def test_headings_may_be_tested_against_one_of_them():
    columns = ["Original: P'@10", "RRF: P'@10"]
    rows = {
        "A": {"ours": {"Original": "a", "RRF": "b"}},
        "B": {"ours": {"Original": "a", "RRF": "a"}},
    }
    results = {"a": [score(1, 0.5, 0.4)], "b": [score(1, 0.5, 0.6)]}
    stated = read(columns=columns, rows=rows, baseline="Original")
    table = stated.fill(results, TESTS)
    marks = [[f.marked for f in row.values()] for row in table.rows.values()]
    assert marks == [[False, True], [False, False]]
    assert "Bonferroni correction over 2 tests" in table.to_markdown()
    assert {t.baseline for t in table.tests} == {"Original"}


def test_a_table_without_a_figure_of_ours_is_not_written():
    assert read().fill({"other": [score(1, 0.5)]}, TESTS) is None
    assert read().fill({"a": [SeedResult(1, {"Bpref": np.ones(3)})]}, TESTS) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"baseline": "Z"}, "as baseline"),
        ({"rows": {"A": {"published": [1.0]}}}, "Expected 2 published figures in row"),
    ],
)
def test_tables_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ConfigurationError, match=message):
        read(**changes)
