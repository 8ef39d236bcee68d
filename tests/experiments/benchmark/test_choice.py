"""A setting chosen by several sets."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.experiments.benchmark import Choice

MEANS = {
    "a": {"one": 0.60, "two": 0.58, "three": 0.90},
    "b": {"one": 0.50, "two": 0.56, "three": 0.30},
    "c": {"one": 0.40, "two": 0.42, "three": 0.35},
}


def spread(means: dict[str, dict[str, float]]) -> dict[str, dict[str, np.ndarray]]:
    """Scores of topics with these means; sets of different sizes weigh the same."""
    return {
        name: {k: np.array([m - 0.1, m + 0.1] * (n + 1)) for k, m in by.items()}
        for n, (name, by) in enumerate(means.items())
    }


def test_winner_has_the_best_mean_of_the_sets():
    found = Choice.among(spread(MEANS))
    assert found.winner == "two"
    assert found.tuned == pytest.approx((0.58 + 0.56 + 0.42) / 3)


def test_choice_without_a_set_is_scored_on_it():
    """On a and b, 'three' wins; on c it scores .35: tuning looks better than it is."""
    found = Choice.among(spread(MEANS))
    assert found.left_out == {"a": "two", "b": "three", "c": "three"}
    assert found.cross_validated == pytest.approx((0.58 + 0.30 + 0.35) / 3)
    assert found.cross_validated < found.tuned


def test_settings_that_a_set_lacks_are_no_choice():
    scores = spread(MEANS)
    del scores["b"]["two"]
    found = Choice.among(scores)
    assert list(found.means) == ["one", "three"]
    del scores["c"]["three"]
    with pytest.raises(InputError, match=r"sets a, b, c; the settings one\)"):
        Choice.among(scores)


def test_one_set_cannot_be_left_out():
    with pytest.raises(InputError, match="two or more sets"):
        Choice.among({"a": spread(MEANS)["a"]})


def test_table_shows_both_figures():
    text = Choice.among(spread(MEANS)).to_table().to_markdown()
    assert "| two† " in text
    assert "0.5200; chosen without the set it is scored on, 0.4100" in text
    assert "a: two; b: three; c: three" in text
    assert "| *chosen on the other sets* | 0.580 | 0.300 | 0.350 | 0.410 |" in text
