"""The long post: long enough, and right wherever it can be checked."""

from __future__ import annotations

import random
import re
from math import gcd, prod

import pytest

from mathamr_kedro.sample.survey import LAST, factorise, portray_numbers

TEXT = portray_numbers(random.Random(5))


def test_it_is_longer_than_three_thousand_words():
    assert len(re.sub(r"\$[^$]+\$", "", TEXT).split()) >= 3000


def test_every_number_has_its_paragraph():
    assert re.findall(r"\*\*(\d+)\.\*\*", TEXT) == [str(n) for n in range(2, LAST + 1)]


@pytest.mark.parametrize("seed", range(5))
def test_its_values_agree_with_their_definitions(seed):
    text = portray_numbers(random.Random(seed))
    for n, value in re.findall(r"\\sigma\((\d+)\)=(\d+)", text):
        assert int(value) == sum(d for d in range(1, int(n) + 1) if int(n) % d == 0)
    for n, value in re.findall(r"\\varphi\((\d+)\)=(\d+)", text):
        coprime = [k for k in range(1, int(n) + 1) if gcd(k, int(n)) == 1]
        assert int(value) == len(coprime)
    for n, a, b in re.findall(r"\$(\d+)=(\d+)\^2\+(\d+)\^2\$", text):
        assert int(n) == int(a) ** 2 + int(b) ** 2


def test_factors_multiply_to_the_number():
    for n in range(2, 300):
        factors = factorise(n)
        assert prod(p**e for p, e in factors) == n
        assert all(
            len(factorise(p)) == 1 and factorise(p)[0] == (p, 1) for p, _ in factors
        )
