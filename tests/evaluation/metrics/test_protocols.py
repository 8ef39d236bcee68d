"""What each task prescribes."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.metrics.protocols import OFFICIAL, protocol_of


@pytest.mark.parametrize("task", ["1", "2"])
def test_arqmath_reports_the_official_measures_first(task):
    protocol = protocol_of(task)
    assert tuple(m.name for m in protocol.measures[:4]) == OFFICIAL
    assert {m.relevant_from for m in protocol.measures} == {2}
    assert protocol.depth == 1000


def test_ntcir_has_two_levels_of_relevance():
    levels = {m.name: m.relevant_from for m in protocol_of("ntcir").measures[:2]}
    assert levels == {"Bpref full": 3, "Bpref partial": 1}


def test_measures_may_be_chosen():
    protocol = protocol_of("1").with_measures(["P'@5", "recall@100"])
    assert [m.name for m in protocol.measures] == ["P'@5", "recall@100"]


def test_unknown_task_is_refused():
    with pytest.raises(ConfigurationError, match=r"'ntcir'.*\(got 'ntcri'\); did you"):
        protocol_of("ntcri")


@pytest.mark.parametrize(("task", "level"), [("1", 2), ("ntcir", 3), ("trec", 1)])
def test_a_chosen_measure_has_the_relevance_of_the_first_official_one(task, level):
    protocol = protocol_of(task).with_measures(["P@5", "P@10(rel=2)", "P@5"])
    assert [m.relevant_from for m in protocol.measures] == [level, 2]


def test_what_is_not_judged_says_nothing_but_in_the_plain_protocol():
    pooled = {task: protocol_of(task).pooled for task in ("1", "2", "ntcir", "trec")}
    assert pooled == {"1": True, "2": True, "ntcir": True, "trec": False}
    assert not any(protocol_of(task).use_rank for task in pooled)
    assert protocol_of("1").candidates == "judged"
    assert protocol_of("trec").candidates == "all documents"
    assert (protocol_of("2").title, protocol_of("trec").title) == (
        "task 2", "TREC protocol",
    )  # fmt: skip
