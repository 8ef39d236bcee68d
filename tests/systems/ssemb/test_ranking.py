"""The index and its two-stage ranking against a loop over all instances."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.systems.ssemb.config import RankingConfig
from mathamr_kedro.systems.ssemb.contexts import Contexts
from mathamr_kedro.systems.ssemb.index import (
    CONTEXTS,
    STRUCTURE,
    FormulaIndex,
    InstanceList,
    VectorFile,
)
from mathamr_kedro.systems.ssemb.ranking import TwoStageRanking
from tests.systems.ssemb.slow import rank_one_by_one
from tests.systems.ssemb.test_contexts import make_post

SCORES = st.integers(-8, 8).map(lambda n: n / 8)


def build(folder, instances, contexts):
    """An index of (formula id, visual id) with the text of each."""
    listed = InstanceList()
    for formula, visual in instances:
        listed.add(FormulaInstance(formula, visual, f"p{formula}", "x"))
    listed._contexts = type(listed._contexts)("q", contexts)
    listed.save(folder)
    return FormulaIndex(folder, 2, 2), list(listed._numbers)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 4)), min_size=1, max_size=14),
    st.lists(SCORES, min_size=7, max_size=7),
    st.lists(SCORES, min_size=5, max_size=5),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_ranking_is_that_of_the_equation(
    tmp_path_factory, rows, structure, texts, weight, candidates, depth
):
    folder = tmp_path_factory.mktemp("index")
    ids = [(f"{10 * n}", f"v{visual}") for n, (visual, _) in enumerate(rows)]
    contexts = [text for _, text in rows]
    index, order = build(folder, ids, contexts)
    scores = {f"v{n}": s for n, s in enumerate(structure)}
    scores = {v: scores[v] for v in order}
    ranking = TwoStageRanking(index, candidates)
    found = ranking.rank(
        np.array([scores[v] for v in order], dtype=np.float32),
        np.array(texts, dtype=np.float32),
        weight,
        depth,
    )
    slow = [(f, v, t) for (f, v), t in zip(ids, contexts, strict=True)]
    slow.sort(key=lambda row: (len(row[0]), row[0]))
    assert found.ids == rank_one_by_one(slow, scores, texts, weight, candidates, depth)
    assert len(set(found.visual_ids)) == len(found)
    assert found.post_ids == [f"p{i}" for i in found.ids]
    assert found.visual_ids == [dict(ids)[i] for i in found.ids]


def test_without_texts_structure_decides_alone(tmp_path):
    index, _ = build(tmp_path, [("1", "a"), ("2", "b")], [-1, -1])
    scores = np.array([0.2, 0.9], dtype=np.float32)
    hits = TwoStageRanking(index, 5).rank(scores, None, 0.5, 5)
    assert hits.ids == ["2", "1"]
    np.testing.assert_allclose(hits.scores, [0.9, 0.2], atol=1e-6)


def test_an_empty_index_finds_nothing(tmp_path):
    index, _ = build(tmp_path, [], [])
    hits = TwoStageRanking(index, 5).rank(np.zeros(0, dtype=np.float32), None, 1, 5)
    assert hits.ids == []


def test_vectors_are_compared_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr("mathamr_kedro.systems.ssemb.index._BLOCK", 3)
    chance = np.random.default_rng(0)
    vectors = chance.normal(size=(10, 4)).astype(np.float32)
    width = VectorFile.write(tmp_path / STRUCTURE, iter([vectors[:7], vectors[7:]]))
    assert width == 4
    queries = chance.normal(size=(2, 4)).astype(np.float32)
    found = VectorFile(tmp_path / STRUCTURE, width).compare(queries)
    half = vectors.astype(np.float16).astype(np.float32)
    np.testing.assert_allclose(found, queries @ half.T, rtol=1e-5)
    assert VectorFile.write(tmp_path / CONTEXTS, iter([])) == 0
    assert VectorFile(tmp_path / CONTEXTS, 4).compare(queries).shape == (2, 0)


def test_each_text_of_a_post_is_encoded_once():
    listed = InstanceList()
    for formula, post in (("f0", "1"), ("f1", "1"), ("c9", "1"), ("z", "2")):
        listed.add(FormulaInstance(formula, formula, post, "x"))
    post = make_post(["a" * 60 + " ", " b " * 60, "c"], ["x", "y"])
    config = RankingConfig(context_length=50, context_step=25)
    texts = list(listed.read_contexts([post], Contexts(config)))
    assert len(texts) == len(set(texts)) == 3  # around both, and the beginning
    numbers = listed._contexts.tolist()
    assert numbers == [0, 1, 2, -1]
    assert "$x$" in texts[0] and "$y$" in texts[1] and texts[2] == "a" * 50
