"""Judged triples, and that nobody learns from what it is scored on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import FormulaInstance, Judgment
from mathamr_kedro.systems import Collection
from mathamr_kedro.systems.folds import ALL, deal_topics
from mathamr_kedro.systems.mathamr.judged import list_triples, write_triples
from mathamr_kedro.systems.mathamr.training import (
    Triple,
    choose_triples,
    cut_batches,
    read_triples,
    split_triples,
)
from tests.systems.mathamr.world import find_trees, make_topic

TRIPLES = st.lists(
    st.builds(
        Triple,
        st.integers(1, 9).map("B.{}".format),
        st.just("q"),
        st.integers(0, 99).map(str),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=40,
)


def test_scores_are_those_of_the_paper():
    assert [Triple("B.1", "q", "c", g).score for g in (3, 2, 1, 0)] == [1, 1, 0.5, 0]


@given(TRIPLES, st.integers(2, 5))
def test_no_model_learns_from_topics_that_it_searches_for(triples, folds):
    fold_of = deal_topics((t.topic_id for t in triples), folds)
    sizes = Counter(fold_of.values())
    assert max(sizes.values()) - min(sizes.values()) <= 1 or len(sizes) < folds
    learned: Counter[Triple] = Counter()
    for model in set(fold_of.values()):
        chosen = choose_triples(triples, fold_of, model)
        assert all(fold_of[t.topic_id] != model for t in chosen)
        learned.update(chosen)
    times = len(set(fold_of.values())) - 1
    assert learned == Counter({t: n * times for t, n in Counter(triples).items()})
    assert choose_triples(triples, fold_of, ALL) == triples


@given(TRIPLES, st.sampled_from([0.0, 0.1, 0.5]), st.integers(0, 9))
def test_each_grade_is_split_alike(triples, part, seed):
    kept, held = split_triples(triples, part, seed)
    assert Counter(kept) + Counter(held) == Counter(triples)
    for grade, count in Counter(t.grade for t in triples).items():
        assert sum(t.grade == grade for t in held) == round(part * count)
    assert split_triples(triples, part, seed) == (kept, held)


@given(TRIPLES, st.integers(2, 7))
def test_batches_hold_every_triple_once(triples, size):
    batches = cut_batches(triples, size, np.random.default_rng(0))
    assert Counter(t for batch in batches for t in batch) == Counter(triples)
    assert all(1 < len(b) <= size + 1 for b in batches) or len(triples) == 1


def test_triples_come_back_from_their_file(tmp_path):
    triples = [Triple("B.1", "q \n 𝑥", "c\u2028", 3), Triple("B.2", "q", "c", 0)]
    path = tmp_path / "triples.jsonl"
    assert write_triples(path, triples) == {"grade_0": 1, "grade_3": 1}
    assert read_triples(path) == triples
    path.write_text('{"topic_id": 1}\n')
    with pytest.raises(MalformedInputError, match="line 1 of"):
        read_triples(path)


def test_judged_instances_stand_for_themselves_and_the_first_for_what_looks_alike():
    latex = {"3": "x", "12": "x", "4": "y", "5": "z"}
    formulas = [
        FormulaInstance(key, f"v{formula}", "p", formula)
        for key, formula in latex.items()
    ]
    judgments = [
        Judgment("B.1", "12", 2, "task2_formulas", "f"),  # not the first of vx
        Judgment("B.1", "vx", 3, "task2", "v"),  # known by its formula
        Judgment("B.1", "vy", 1, "task2", "v"),
        Judgment("B.1", "elsewhere", 3, "task2", "v"),
        Judgment("B.9", "vz", 3, "task2", "v"),  # no such topic
        Judgment("A.1", "p", 3, "task1", "v"),
    ]
    sources = Collection(
        formulas=lambda: formulas,
        trees_of=find_trees,
        topics=lambda: [make_topic("B.1", "Find FORMULA_0.", "a+b")],
        judgments=lambda: judgments,
    )
    found = list_triples("opt", sources)
    assert found == [
        Triple("B.1", "plus b a", "x", 2),
        Triple("B.1", "plus b a", "y", 1),
    ]
