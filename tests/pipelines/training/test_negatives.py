"""Negatives that share words, behind the pairs that they belong to."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.pipelines.training.negatives import TextNegatives

KEYS = ["q", "a", "b", "c", "d"]


@pytest.fixture
def negatives() -> TextNegatives:
    found = object.__new__(TextNegatives)
    posts = SimpleNamespace(keys=KEYS, position=KEYS.index)
    found._graphs, found.made_from = SimpleNamespace(posts=posts), "these"
    return found


def make_table(made_from="these", **answers):
    rows = [
        SimpleNamespace(question_id="q", answer_id=answer, negatives=tuple(others))
        for answer, others in answers.items()
    ]
    return SimpleNamespace(made_from=made_from, records=lambda: rows)


def test_pairs_with_fewer_negatives_are_filled_up(negatives):
    rows = np.array([[0, 1], [0, 2], [0, 3]])
    found = negatives.add_to(rows, make_table(a="bc", b="d"))
    assert found.tolist() == [[0, 1, 2, 3], [0, 2, 4, -1], [0, 3, -1, -1]]


def test_no_pairs_get_no_columns(negatives):
    rows = np.zeros((0, 2), dtype=np.int64)
    assert negatives.add_to(rows, make_table()).shape == (0, 2)


@pytest.mark.parametrize("table", [None, make_table("others", a="b")])
def test_negatives_of_other_graphs_are_refused(negatives, table):
    with pytest.raises(MissingInputError, match=r"training\.mine_text_negatives"):
        negatives.add_to(np.array([[0, 1]]), table)
