"""Ids of points: numbers where an id is one and comes back as it was written."""

from __future__ import annotations

import pytest

from mathamr_kedro.vectors.points import as_payload, name_point


@pytest.mark.parametrize("key", ["0", "7", "1801", "9" * 12])
def test_numbers_are_numbers(key):
    assert as_payload(key) == name_point(key) == int(key)


@pytest.mark.parametrize("key", ["", "00", "042", "9" * 13, "-1", "²", "٣", "१२", "a"])
def test_other_ids_come_back_as_they_were_written(key):
    assert as_payload(key) == key
    assert isinstance(name_point(key), str)


def test_points_of_posts_and_formulas_have_names_of_their_own():
    keys = ["1", "2", "01", "٣", "q_1"]
    names = [name_point(key) for key in keys]
    assert len(set(names)) == len(keys)
    formulas = [name_point(key, place) for key in keys for place in (0, 1, 10**6)]
    assert len(set(formulas)) == 3 * len(keys)
