"""The text encoder, and its losses by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.systems.mathamr.encoder import (
    TextEncoder,
    contrastive_loss,
    copy_model,
    multiple_negatives_loss,
)
from tests.systems.mathamr.world import make_text_model

TEXTS = ["find-01 SUP x 2", "a", "plus b a imperative", "times " * 60]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_text_model(tmp_path_factory.mktemp("text_model"))


def encode_slowly(encoder: TextEncoder, text: str) -> list[float]:
    """The mean of the states of all tokens, of length 1, one text at a time."""
    tokens = encoder.tokenizer(
        text, truncation=True, max_length=16, return_tensors="pt"
    )
    with torch.no_grad():
        states = encoder.model(**tokens).last_hidden_state[0].tolist()
    mean = [sum(column) / len(states) for column in zip(*states, strict=True)]
    length = sum(x * x for x in mean) ** 0.5
    return [x / length for x in mean]


def test_vectors_are_means_of_states(folder):
    encoder = TextEncoder(folder, max_length=16).eval()
    found = encoder.encode(TEXTS, batch_size=3)
    for text, vector in zip(TEXTS, found, strict=True):
        assert vector == pytest.approx(encode_slowly(encoder, text), abs=1e-5)
    assert encoder.encode([]).shape == (0, encoder.width)


def test_other_tools_make_the_same_of_a_saved_model(folder, tmp_path):
    tools = pytest.importorskip("sentence_transformers")
    encoder = TextEncoder(folder, max_length=128)
    encoder.save(tmp_path / "half")
    again = TextEncoder(tmp_path / "half", max_length=128)
    sizes = [
        (f / "model.safetensors").stat().st_size for f in (folder, tmp_path / "half")
    ]
    assert sizes[1] < 0.6 * sizes[0]
    assert again.encode(TEXTS) == pytest.approx(encoder.encode(TEXTS), abs=5e-3)
    tool = tools.SentenceTransformer(str(tmp_path / "half"), device="cpu")
    theirs = tool.float().encode(TEXTS[:3], normalize_embeddings=True)
    assert again.encode(TEXTS[:3]) == pytest.approx(theirs, abs=1e-4)


def test_dropout_is_off_while_texts_are_encoded(folder):
    encoder = TextEncoder(folder, max_length=16).train()
    assert np.array_equal(encoder.encode(TEXTS), encoder.encode(TEXTS))
    assert encoder.training


def test_a_copy_is_all_that_another_machine_needs(folder, tmp_path):
    (folder / "pytorch_model.bin").write_bytes(b"the same once more")
    copy_model(folder, tmp_path / "copy")
    assert not (tmp_path / "copy" / "pytorch_model.bin").exists()
    found = TextEncoder(tmp_path / "copy", 16).encode(TEXTS)
    assert np.array_equal(found, TextEncoder(folder, 16).encode(TEXTS))


def test_models_that_cannot_be_used_are_refused(folder, tmp_path):
    with pytest.raises(MalformedInputError, match="Expected a text model in"):
        TextEncoder(tmp_path, 16)
    (tmp_path / "1_Pooling").mkdir()
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    with pytest.raises(ConfigurationError, match=r"mean pooling .*cls_token"):
        TextEncoder(tmp_path, 16)


def draw(count: int, seed: int) -> tuple[list[list[float]], list[list[float]]]:
    torch.manual_seed(seed)
    first, second = torch.nn.functional.normalize(
        torch.randn(2, count, 5, dtype=torch.double), dim=2
    )
    return first.tolist(), second.tolist()


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def contrastive_slowly(queries, candidates, scores, margin):
    total = 0.0
    for q, c, y in zip(queries, candidates, scores, strict=True):
        d = 1 - cosine(q, c)
        total += 0.5 * (y * d**2 + (1 - y) * max(0.0, margin - d) ** 2)
    return total / len(queries)


def negatives_slowly(queries, candidates, query_ids, candidate_ids, scale):
    total = 0.0
    for i, q in enumerate(queries):
        bottom = 0.0
        for j, c in enumerate(candidates):
            is_other = (
                query_ids[i] != query_ids[j] and candidate_ids[i] != candidate_ids[j]
            )
            if i == j or is_other:
                bottom += math.exp(scale * cosine(q, c))
        total -= math.log(math.exp(scale * cosine(q, candidates[i])) / bottom)
    return total / len(queries)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1), st.integers(0, 99))
def test_contrastive_loss_is_its_equation(scores, seed):
    queries, candidates = draw(len(scores), seed)
    tensors = (torch.tensor(v, dtype=torch.double) for v in (queries, candidates))
    found = contrastive_loss(*tensors, torch.tensor(scores))
    expected = contrastive_slowly(queries, candidates, scores, 0.5)
    assert found.item() == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9),
    st.integers(0, 99),
)
def test_multiple_negatives_loss_is_its_equation(ids, seed):
    queries, candidates = draw(len(ids), seed)
    query_ids, candidate_ids = (list(column) for column in zip(*ids, strict=True))
    found = multiple_negatives_loss(
        torch.tensor(queries, dtype=torch.double),
        torch.tensor(candidates, dtype=torch.double),
        torch.tensor(query_ids),
        torch.tensor(candidate_ids),
    )
    expected = negatives_slowly(queries, candidates, query_ids, candidate_ids, 20.0)
    assert found.item() == pytest.approx(expected, abs=1e-9)


def test_losses_pull_as_scores_say():
    query = torch.tensor([[1.0, 0.0]])
    near, far = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    one, none = torch.ones(1), torch.zeros(1)
    assert contrastive_loss(query, near, one) == 0
    assert contrastive_loss(query, far, none) == 0  # beyond the margin
    assert contrastive_loss(query, far, one) > 0
    assert contrastive_loss(query, near, none) > 0
    assert contrastive_loss(query, near, one / 2) > 0
