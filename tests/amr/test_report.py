"""The report of parsing, beside the thesis' Table 4.2."""

import pytest

from mathamr_kedro.amr.report import check_account, describe_outcomes, report_parsing
from mathamr_kedro.base.errors import MalformedInputError


def test_report_stands_beside_the_thesis():
    part = describe_outcomes(
        {"question": 1, "answer": 1},
        {"timeout": 1, "all_chunks_failed": 1},
        {"x": 3},
        placeholders=2,
        missing=1,
    )
    statistics = {"parser": {"parser": "builtin"}, "posts": part, "topics": part}
    report = report_parsing(statistics)
    assert "| Posts processed | 4 | 2,482,294 |" in report
    assert "| Successful graphs | 2 (50.00 %) | 2,432,933 (98.0 %) |" in report
    assert "| Failed posts | 2 (50.00 %) | 49,361 (2.0 %) |" in report
    assert "| … all chunks failed | 1 | 41,404 |" in report
    assert "| … disconnected graph | 0 | 7,946 |" in report
    assert "| … time-out | 1 |  |" in report
    assert "| Question graphs | 1 | 1,009,372 |" in report
    assert "| … with a node in the graph | 1 (50.00 %) |" in report
    assert "| Chunks lost in posts with a graph | 3 |" in report


def test_nothing_parsed_is_described_too():
    found = describe_outcomes({}, {}, {}, 0, 0)
    assert (found["graphs"], found["graphs_percent"]) == (0, 100.0)


@pytest.mark.parametrize(
    ("graphs", "failed", "named"),
    [
        (["1"], [], "2"),
        (["1", "2"], ["2"], "2"),
        (["1", "2", "1"], [], "1"),
        (["1", "2", "3"], [], "3"),
    ],
)
def test_an_account_that_does_not_balance_is_refused(graphs, failed, named):
    with pytest.raises(MalformedInputError, match=f"1 ids .* e.g. '{named}'"):
        check_account("posts-00000-000", ["1", "2"], graphs, failed)


def test_an_account_that_balances_passes():
    check_account("posts-00000-000", ["1", "2"], ["2"], ["1"])
