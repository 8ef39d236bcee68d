"""The long post: long enough, and right wherever it can be checked."""

from __future__ import annotations

import re
from math import gcd, prod

import pytest

from tools.sample.contents import gather_contents

LAST = 42


@pytest.fixture(scope="module")
def text() -> str:
    threads = {thread.key: thread for thread in gather_contents().threads}
    return " ".join(threads["defects/number-portraits"].answers[0].text.split())


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def _phi(n: int) -> int:
    return sum(gcd(k, n) == 1 for k in range(1, n + 1))


def test_it_is_longer_than_three_thousand_words(text):
    assert len(re.sub(r"\$[^$]+\$", "", text).split()) >= 3000


def test_every_number_has_its_paragraph(text):
    assert re.findall(r"\*\*(\d+)\.\*\*", text) == [str(n) for n in range(2, LAST + 1)]


def test_its_values_agree_with_their_definitions(text):
    sums = re.findall(r"\\sigma\((\d+)\)=(\d+)", text)
    units = re.findall(r"\\varphi\((\d+)\)=(\d+)", text)
    squares = re.findall(r"\$(\d+)=(\d+)\^2\+(\d+)\^2\$", text)
    assert min(len(sums), len(units), len(squares)) >= 5
    assert all(int(value) == sum(_divisors(int(n))) for n, value in sums)
    assert all(int(value) == _phi(int(n)) for n, value in units)
    assert all(int(n) == int(a) ** 2 + int(b) ** 2 for n, a, b in squares)


def test_factors_are_primes_and_multiply_to_the_number(text):
    power = r"\d+(?:\^\d+)?"
    products = re.findall(
        rf"(?<!square it is )\$(\d+)=({power}(?:\\cdot {power})*)\$", text
    )
    assert len(products) >= 20
    for n, product in products:
        powers = [factor.partition("^") for factor in product.split(r"\cdot ")]
        assert prod(int(p) ** int(e or 1) for p, _, e in powers) == int(n)
        assert all(len(_divisors(int(p))) == 2 for p, _, _ in powers)


def test_periods_of_decimal_fractions_are_as_long_as_it_says(text):
    periods = re.findall(r"\$\\frac\{1\}\{(\d+)\}\$ has a period of \$(\d+)\$", text)
    assert len(periods) >= 3
    for n, length in periods:
        assert next(k for k in range(1, 99) if pow(10, k, int(n)) == 1) == int(length)
