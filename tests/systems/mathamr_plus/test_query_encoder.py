"""Texts to vectors, by a released encoder and by one that reads words, too."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.amr import ParseTexts
from mathamr_kedro.graph import ReleasedEncoder, StoredTrees
from mathamr_kedro.model import MathAMRPlus, ModelConfig
from mathamr_kedro.systems.mathamr_plus import QueryEncoder


@pytest.fixture(scope="module")
def released():
    return ReleasedEncoder("mathamr_plus")


def encode(released, text, words):
    """The vectors of a text by a small encoder, and what was read as words."""
    torch.manual_seed(0)
    config = ModelConfig(
        hidden_dim=16, projection_dim=8, num_layers=1, num_bases=4, text_dim=3
    )
    model = MathAMRPlus(config, released.vocabularies.schema).eval()
    read = []

    def encode_words(texts):
        read.extend(texts)
        return np.array([words(text) for text in texts], dtype=np.float32)

    encoder = QueryEncoder(
        ParseTexts().parse,
        StoredTrees(None),
        released.vocabularies,
        released.variant,
        model,
        encode_words,
    )
    return encoder.read_text(text).entry.vectors, read


def test_words_are_read_with_their_latex_and_change_the_vectors(released):
    text = "Is $x^2$ convex?"
    vectors, read = encode(released, text, lambda _: [1, 0, 0])
    others, _ = encode(released, text, lambda _: [0, 1, 0])
    assert read == [text]
    assert np.abs(vectors[-1] - others[-1]).max() > 1e-3


def test_a_released_encoder_gives_each_part_of_a_text_a_vector():
    encoder = QueryEncoder.of_released()
    texts = (
        r"Is $\sqrt p$ irrational for a prime $p$?",
        r"Suppose $\sqrt p = a/b$. Then $a^2 = p b^2$, and $p$ divides $a$.",
        "The Gaussian integral is computed in polar coordinates.",
    )
    question, answer, other = (encoder.read_text(text).entry.vectors for text in texts)
    assert question.shape == (4, 128)  # two formulas, a sentence, the whole
    assert np.linalg.norm(question, axis=1) == pytest.approx(1.0, abs=1e-5)

    def compare(theirs):
        return (question @ theirs.T).max(axis=1).mean()

    assert compare(answer) > compare(other)
