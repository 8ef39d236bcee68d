"""Runs of systems and their fusions."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.runs.system_runs import (
    NamedFusion,
    RankedList,
    SystemRun,
    add_fusions,
)


def ranked(ids, formulas=(), posts=()):
    scores = np.arange(len(ids), 0, -1, dtype=np.float64)
    return RankedList(list(ids), scores, list(formulas), list(posts))


POSTS_A = SystemRun(1, "a", {"A.1": ranked("987"), "A.2": ranked("1")}, 2.0)
POSTS_B = SystemRun(1, "b", {"A.1": ranked("86")}, 3.0)
FORMULAS_A = SystemRun(2, "a", {"B.1": ranked("xy", ["1", "2"], ["p", "q"])})
FORMULAS_B = SystemRun(2, "b", {"B.1": ranked("zy", ["3", "4"], ["r", "s"])})


def test_fusions_follow_the_systems_of_each_task():
    runs = add_fusions(
        [POSTS_A, POSTS_B, FORMULAS_A, FORMULAS_B],
        [NamedFusion("rrf", name="ab", of=("a", "b"))],
    )
    assert [(r.task, r.system) for r in runs] == [
        (1, "a"), (1, "b"), (1, "ab"), (2, "a"), (2, "b"), (2, "ab"),
    ]  # fmt: skip
    assert runs[2].lists["A.1"].ids == ["8", "9", "6", "7"]
    assert runs[2].lists["A.2"].ids == ["1"]
    assert runs[2].seconds == 5.0


def test_a_visual_id_is_named_by_the_first_system_that_has_it():
    fusion = NamedFusion("rrf", name="ab", of=("b", "a"))
    *_, fused = add_fusions([FORMULAS_A, FORMULAS_B], [fusion])
    found = fused.lists["B.1"]
    named = zip(found.ids, found.formula_ids, found.post_ids, strict=True)
    assert set(named) == {("x", "1", "p"), ("y", "4", "s"), ("z", "3", "r")}


def test_fusions_may_be_fused_and_skip_tasks_that_lack_a_part():
    runs = add_fusions(
        [POSTS_A, POSTS_B, FORMULAS_A],
        [
            NamedFusion("max", name="ab", of=("a", "b")),
            NamedFusion("mean", name="again", of=("ab", "a")),
        ],
    )
    assert [r.system for r in runs if r.task == 1] == ["a", "b", "ab", "again"]
    assert [r.system for r in runs if r.task == 2] == ["a"]


@pytest.mark.parametrize(
    ("fusion", "message"),
    [
        (NamedFusion(name="x", of=("aa",)), "no system is named 'aa'; did you mean"),
        (NamedFusion(name="b", of=("a",)), "Two systems are named 'b'"),
        (NamedFusion(name="x", of=("a", "c")), "no task has all of"),
    ],
)
def test_wrong_fusions_say_what_is_wrong(fusion, message):
    only_c = SystemRun(2, "c", {})
    with pytest.raises(ConfigurationError, match=message):
        add_fusions([POSTS_A, POSTS_B, only_c], [fusion])


def test_fusion_without_name_or_parts_is_refused():
    with pytest.raises(ConfigurationError, match="name and the systems"):
        NamedFusion(of=("a",))
    with pytest.raises(ConfigurationError, match="name and the systems"):
        NamedFusion(name="x")
