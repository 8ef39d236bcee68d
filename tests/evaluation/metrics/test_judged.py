"""Share of judged results."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics.measures import expected_judged_at, judged_at


@pytest.mark.parametrize(("k", "share"), [(1, 1.0), (2, 0.5), (4, 0.75), (10, 0.6)])
def test_divisor_is_what_came_back(k, share):
    assert judged_at(np.array([3, -1, 0, 2, -1]), k) == share


def test_nothing_returned_is_nothing_judged():
    assert judged_at(np.array([], dtype=int), 10) == 0.0
    assert expected_judged_at(np.array([], dtype=int)) == 0.0


def test_expected_share_does_not_depend_on_the_cut_off():
    assert expected_judged_at(np.array([-1, -1, -1, 3])) == 0.25
