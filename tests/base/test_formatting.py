"""One rule for scores, wherever they are shown."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.formatting import format_duration, format_score
from mathamr_kedro.evaluation.tables import Column, Table

TIED = [0.1, 0.2, 0.3, 0.85]  # their mean is .3625, up to the last bit


def test_a_mean_is_rounded_one_way_whatever_the_order_of_its_sum():
    means = {sum(np.roll(TIED, n).tolist()) / 4 for n in range(4)}
    means |= {float(np.mean(TIED)), float(np.where(True, TIED, 0.0).sum() / 4)}
    means |= {0.3625, 0.36250000000000004, 0.36249999999999993}
    assert len({f"{mean:.3f}" for mean in means}) == 2  # as it was
    assert {format_score(mean, 3) for mean in means} == {"0.362"}


@pytest.mark.parametrize("value", [0.3625, 0.36250000000000004])
def test_tables_follow_the_rule(value):
    table = Table("t", ("a",), (Column("m", "m"),), {"x": {"m": value}})
    assert "0.362 " in table.to_markdown() and "0.362" in table.to_latex()


@pytest.mark.parametrize("value", [0.12345, 0.5, 1 / 3, 0.99995, 0.0])
def test_four_decimals_are_those_of_trec_eval(value):
    assert format_score(value) == "%.4f" % value  # noqa: UP031


def test_noise_ends_at_the_twelfth_decimal():
    assert format_score(0.3625 + 3e-13, 3) == "0.362"
    assert format_score(0.3625 + 3e-12, 3) == "0.363"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(4.9, "4.9 s"), (5, "5 s"), (59, "59 s"), (60, "1 min 0 s"), (3600, "1 h 0 min")],
)
def test_a_duration_is_said_in_the_largest_units_that_fit(seconds, said):
    assert format_duration(seconds) == said
