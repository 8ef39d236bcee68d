"""Collections that are resampled from real ones."""

from __future__ import annotations

import random
import re

import pytest

from benchmarks.synthetic_collection import Trees, vary_formula, write_collection

FORMULA = Trees(
    r"\sin x^{12}+y_{3}",
    "<math><mi>sin</mi><mi>𝑥</mi><mn>12</mn><mo>+</mo><mi>y</mi><mn>3</mn></math>",
    "<math><sin/><ci>𝑥</ci><cn type='integer'>12</cn><ci>y</ci><cn>3</cn></math>",
)


def test_a_variation_is_the_same_in_all_three_forms():
    for seed in range(20):
        latex, slt, opt = vary_formula(FORMULA, random.Random(seed))
        tokens = re.fullmatch(r"\\sin (\w)\^\{(\d+)\}\+(\w)_\{(\d+)\}", latex)
        assert tokens is not None
        x, first, y, second = tokens.groups()
        assert x.islower()
        assert y.islower()
        assert re.findall(r"<m[in]>(.*?)</m[in]>", slt) == ["sin", x, first, y, second]
        assert re.findall(r"<c[in].*?>(.*?)</c[in]>", opt) == [x, first, y, second]


def test_the_same_seed_writes_the_same_collection(tmp_path):
    numbers = [write_collection(tmp_path / n, 60, seed) for n, seed in
               (("one", 1), ("again", 1), ("other", 2))]  # fmt: skip
    one, again, other = (
        (tmp_path / n / "Posts.V1.3.xml").read_bytes()
        for n in ("one", "again", "other")
    )
    assert numbers[0] == numbers[1] > 60
    assert one == again != other
    assert one.count(b"<row ") == 60


def test_a_folder_without_a_collection_is_named(tmp_path):
    with pytest.raises(SystemExit, match="Expected posts and three folders"):
        write_collection(tmp_path / "new", 10, source=tmp_path)
