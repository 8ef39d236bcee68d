"""Exported vectors in an index of PyLate, which needs versions of its own.

``pip install pylate`` in another environment, then this file.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from mathamr_kedro.integrations import ExportFolder
from mathamr_kedro.vectors import (
    GraphRange,
    PostEntry,
    PostVectors,
    StoreWriter,
    VectorStore,
)

pytestmark = pytest.mark.filterwarnings("ignore")


def test_pylate_ranks_exported_vectors_as_maxsim_does(tmp_path):
    pylate = pytest.importorskip("pylate")
    from pylate import indexes, retrieve
    from safetensors import safe_open

    draws = np.random.default_rng(0)

    def draw(rows: int) -> np.ndarray:
        found = draws.normal(size=(rows, 32)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    posts = {str(n): draw(2 + n % 4) for n in range(40)}
    with StoreWriter(tmp_path / "store", "encoder", 32) as writer:
        entries = [
            PostEntry(key, "answer", v, [1] * (len(v) - 1) + [2], list(range(len(v))))
            for key, v in posts.items()
        ]
        writer.write(PostVectors.of(entries), GraphRange("posts", 0, 40))
    ExportFolder(tmp_path / "out").write_vectors(VectorStore(tmp_path / "store"))
    with safe_open(tmp_path / "out/vectors-00000.safetensors", "numpy") as file:
        offsets, ids = file.get_tensor("offsets"), json.loads(file.metadata()["ids"])
        parts = np.split(file.get_tensor("vectors"), offsets[1:-1])
    assert pylate and ids == list(posts)
    index = indexes.Voyager(str(tmp_path / "index"), "mine", embedding_size=32)
    index.add_documents(documents_ids=ids, documents_embeddings=parts)
    query = draw(3)
    (found,) = retrieve.ColBERT(index).retrieve(
        queries_embeddings=[query], k=10, k_token=200
    )
    scores = {key: float((query @ v.T).max(axis=1).sum()) for key, v in posts.items()}
    best = sorted(scores, key=lambda key: -scores[key])[:10]
    assert [row["id"] for row in found] == best
    assert [row["score"] for row in found] == pytest.approx(
        [scores[key] for key in best], abs=1e-4
    )
