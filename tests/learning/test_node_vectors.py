"""Start vectors: labels with something in common start similar."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.graph import SPECIAL_TYPES
from mathamr_kedro.learning.node_vectors import (
    NodeVectorsConfig,
    _spell_concept,
    _split_symbol,
    build_node_vectors,
)

LABELS = ("function-01", "function", "limit", "V!x", "V!xy", "O!SUP", "7")
TYPES = (*SPECIAL_TYPES, *LABELS)
FIRST = len(SPECIAL_TYPES)
BOTH = NodeVectorsConfig("text", "hashed")


def encode(texts):
    rng = np.random.default_rng(0)
    known = {text: rng.standard_normal(24) for text in sorted(texts)}
    return np.array([known[text] for text in texts], dtype=np.float32)


def build(config, seed=0):
    return build_node_vectors(TYPES, 8, config, encode, seed)


def test_frames_and_lemmas_of_one_word_are_equal():
    vectors = build(NodeVectorsConfig(concepts="text"))
    assert np.array_equal(vectors[FIRST], vectors[FIRST + 1])
    assert not np.array_equal(vectors[FIRST], vectors[FIRST + 2])


def test_only_what_is_asked_for_gets_a_vector():
    given = {
        config: set(np.flatnonzero(build(config).any(1)) - FIRST)
        for config in (
            NodeVectorsConfig(concepts="text"),
            NodeVectorsConfig(symbols="hashed"),
            BOTH,
        )
    }
    concepts, symbols, both = given.values()
    assert concepts == {0, 1, 2}
    assert symbols == {3, 4, 5}
    assert both == concepts | symbols


def test_symbols_that_share_parts_are_nearer():
    types = (*SPECIAL_TYPES, "V!abc", "V!abd", "O!SUP")
    vectors = build_node_vectors(
        types, 64, NodeVectorsConfig(symbols="hashed"), None, seed=1
    )[FIRST:]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near, far = unit[0] @ unit[1], unit[0] @ unit[2]
    shared = set(_split_symbol("V!abc")) & set(_split_symbol("V!abd"))
    expected = len(shared) / len(_split_symbol("V!abc"))
    assert abs(near - expected) < 0.35
    assert near > far + 0.2


def test_concepts_and_symbols_have_one_spread():
    vectors = build(BOTH)[FIRST:]
    assert 0.5 < vectors[:3].std() / vectors[3:6].std() < 2


def test_the_seed_draws_symbols_alone():
    one, two = build(BOTH, 0), build(BOTH, 1)
    assert np.array_equal(one[FIRST : FIRST + 3], two[FIRST : FIRST + 3])
    assert not np.array_equal(one[FIRST + 3], two[FIRST + 3])


def test_reduced_words_keep_their_geometry():
    words = [f"w{c}" for c in "abcde"]
    types = (*SPECIAL_TYPES, *words)
    vectors = build_node_vectors(
        types, 8, NodeVectorsConfig(concepts="text"), encode, 0
    )[FIRST:]
    full = encode(words)
    full = full - full.mean(0)
    scale = (vectors @ vectors.T)[0, 0] / (full @ full.T)[0, 0]
    assert np.allclose(vectors @ vectors.T, scale * (full @ full.T), atol=1e-4)


def test_other_labels_are_no_concepts():
    for label in (*SPECIAL_TYPES, "N!2", "3.5"):
        assert _spell_concept(label) is None
        assert label.startswith("N!") or not _split_symbol(label)
