"""The encoder against sentence-transformers and a mean that is taken slowly."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.systems.mathamr.encoder import TextEncoder, copy_model
from mathamr_kedro.text import SentenceEncoder
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
    encoder = TextEncoder(folder, max_length=128)
    encoder.save(tmp_path / "half")
    again = TextEncoder(tmp_path / "half", max_length=128)
    sizes = [
        (f / "model.safetensors").stat().st_size for f in (folder, tmp_path / "half")
    ]
    assert sizes[1] < 0.6 * sizes[0]
    assert again.encode(TEXTS) == pytest.approx(encoder.encode(TEXTS), abs=5e-3)
    theirs = SentenceEncoder(tmp_path / "half").encode(TEXTS[:3])
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
