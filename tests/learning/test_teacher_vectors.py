"""Document vectors of a sentence encoder: rows, batches, nothing to encode."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.learning import teacher_vectors as document_vectors
from mathamr_kedro.learning.teacher_vectors import write_document_vectors


def count_letters(texts):
    return np.array([[len(t), t.count("a"), 0.1] for t in texts], dtype=np.float32)


def test_rows_are_those_of_one_text_after_another(tmp_path, monkeypatch):
    texts = [(7, "a bad apple"), (0, "b"), (3, "aa"), (4, "banana"), (2, "c")]
    monkeypatch.setattr(document_vectors, "TEXTS_AT_ONCE", 2)
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
    assert not (tmp_path / "v.npy").exists()
