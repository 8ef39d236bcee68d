"""Sentence encoders: a tiny model against its own states, token by token."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.text import SentenceEncoder, find_text_model, sentence_encoder

sentence_transformers = pytest.importorskip("sentence_transformers")

PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] un ##aff ##able proof . $ x ##1 prove".split()
TEXTS = ["unaffable proof.", "", "$x1$ prove zebra", "proof " * 300]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of two layers and eight numbers, in the format of transformers."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("model")
    (path / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(PIECES), hidden_size=8, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=16, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(path)
    pieces = {piece: n for n, piece in enumerate(PIECES)}
    BertTokenizerFast(vocab=pieces, model_max_length=64).save_pretrained(path)
    return path


def encode_alone(folder, text):
    """Mean of the last states of one text, in float64, without padding."""
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder)(
        text, return_tensors="pt", truncation=True
    )
    model = AutoModel.from_pretrained(folder).double().eval()
    with torch.no_grad():
        states = model(**tokens).last_hidden_state[0]
    mean = states.mean(0)
    return (mean / mean.norm()).numpy()


@pytest.mark.parametrize(("halves", "atol"), [(False, 2e-6), (True, 1e-2)])
def test_vectors_are_means_of_states_in_any_company(folder, monkeypatch, halves, atol):
    """In single precision, and where a processor has matrix units for bfloat16."""
    has = {"amx_bf16": halves}
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: has, raising=False)
    vectors = SentenceEncoder(folder, "cpu").encode(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    expected = np.stack([encode_alone(folder, text) for text in TEXTS])
    np.testing.assert_allclose(vectors, expected, atol=atol)
    assert np.allclose(vectors, expected, atol=2e-6) != halves


def test_no_texts_are_no_rows(folder):
    assert SentenceEncoder(folder).encode([]).shape == (0, 8)


@pytest.mark.parametrize(("gpu", "device"), [(True, "cuda"), (False, "cpu")])
def test_a_gpu_encodes_if_there_is_one(folder, monkeypatch, gpu, device):
    asked = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpu)

    def load_model(folder, device):
        asked.append((folder, device))
        return torch.nn.Linear(1, 1)

    monkeypatch.setattr(sentence_encoder, "load_model", load_model)
    SentenceEncoder(folder)
    SentenceEncoder(folder, "cuda:1")
    assert asked == [(folder, device), (folder, "cuda:1")]


def test_nothing_is_drawn_on_the_terminal(folder, capfd):
    encoder = SentenceEncoder(folder)
    capfd.readouterr()
    encoder.encode(TEXTS)
    assert capfd.readouterr() == ("", "")


def test_folder_without_a_model_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MalformedInputError, match="Expected a text model in"):
        SentenceEncoder(tmp_path)


def test_minilm_knows_what_belongs_together():
    try:
        model = find_text_model("minilm")
    except MissingInputError as error:
        pytest.skip(str(error))
    texts = [
        "How do I prove that the square root of two is irrational?",
        "A proof that $\\sqrt{2}$ is not a rational number",
        "Find the volume of a sphere",
    ]
    vectors = SentenceEncoder(model).encode(texts)
    similar = vectors @ vectors.T
    np.testing.assert_allclose(similar.diagonal(), 1, rtol=1e-6)
    assert similar[0, 1] > similar[0, 2] + 0.2


def test_a_model_is_never_fetched(folder, monkeypatch):
    class Encoder(sentence_transformers.SentenceTransformer):
        def __init__(self, *args, local_files_only, **options):
            assert local_files_only
            super().__init__(*args, local_files_only=local_files_only, **options)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", Encoder)
    assert SentenceEncoder(folder).encode(["proof"]).shape == (1, 8)
