"""Document vectors of a sentence encoder: rows, batches, nothing to encode."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph.shards import texts as module
from mathamr_kedro.learning.teacher_vectors import write_document_vectors


def count_letters(texts):
    return np.array([[len(t), t.count("a"), 0.1] for t in texts], dtype=np.float32)


def test_rows_are_those_of_one_text_after_another(tmp_path, monkeypatch):
    texts = [(7, "a bad apple"), (0, "b"), (3, "aa"), (4, "banana"), (2, "c")]
    monkeypatch.setattr(module, "_AT_ONCE", 2)  # of five texts
    write_document_vectors(tmp_path / "v.npy", 9, iter(texts), count_letters)
    expected = np.zeros((9, 3), dtype=np.float16)
    for row, text in texts:
        expected[row] = count_letters([text])[0]
    found = np.load(tmp_path / "v.npy")
    assert found.dtype == np.float16
    assert np.array_equal(found, expected)


def test_no_text_at_all_is_refused(tmp_path):
    with pytest.raises(MissingInputError, match="texts of the posts"):
        write_document_vectors(tmp_path / "v.npy", 9, [], count_letters)
    assert not list(tmp_path.iterdir())


def test_a_stopped_encoding_goes_on(tmp_path, monkeypatch):
    texts = [(1, "a"), (0, "bb"), (2, "abc")]
    monkeypatch.setattr(module, "_AT_ONCE", 1)  # of three texts
    asked = []

    def encode(batch):
        asked.extend(batch)
        if asked == ["a", "bb", "abc"]:
            raise KeyboardInterrupt
        return count_letters(batch)

    path = tmp_path / "v.npy"
    with pytest.raises(KeyboardInterrupt):
        write_document_vectors(path, 3, texts, encode)
    assert not path.exists()
    write_document_vectors(path, 3, texts, encode)
    assert asked == ["a", "bb", "abc", "abc"]
    write_document_vectors(tmp_path / "whole.npy", 3, texts, count_letters)
    assert np.array_equal(np.load(path), np.load(tmp_path / "whole.npy"))
