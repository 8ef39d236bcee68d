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
