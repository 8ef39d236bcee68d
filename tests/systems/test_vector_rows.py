"""Rows of vectors against loops over them."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems import vector_rows
from mathamr_kedro.systems.vector_rows import VectorRows, VectorWriter

LENGTHS = (3, 0, 1, 5, 0, 2, 4)


@pytest.fixture
def rows():
    chance = np.random.default_rng(0)
    found = [chance.normal(size=(n, 8)) for n in LENGTHS]
    return [v / np.linalg.norm(v, axis=1, keepdims=True) for v in found]


def write(folder, rows):
    writer = VectorWriter(folder / "slg")
    for some in (rows[:4], rows[4:]):
        writer.add(RaggedVectors.of([v.astype(np.float32) for v in some]))
    size = writer.close()
    assert size == sum(f.stat().st_size for f in folder.iterdir())
    return VectorRows(folder / "slg")


def score_slowly(query, row):
    """MaxSim over the query's vectors, a pair at a time."""
    half = row.astype(np.float16).astype(np.float64)
    return np.mean([max(float(q @ d) for d in half) for q in query])


@pytest.mark.parametrize("at_once", [1, 4, 1 << 15])
def test_scores_are_those_of_the_equation(tmp_path, rows, monkeypatch, at_once):
    monkeypatch.setattr(vector_rows, "_AT_ONCE", at_once)  # rows of a part
    stored = write(tmp_path, rows)
    query = rows[5].astype(np.float32)
    chosen = np.array([6, 1, 0, 3, 3])
    expected = [score_slowly(query, rows[n]) if LENGTHS[n] else 0.0 for n in chosen]
    assert stored.score(query, chosen) == pytest.approx(expected, abs=1e-6)
    assert stored.score(query, chosen[:0]).tolist() == []


def test_the_best_rows_are_found_and_empty_ones_never(tmp_path, rows):
    stored = write(tmp_path, rows)
    queries = [rows[0].astype(np.float32), rows[6].astype(np.float32)]
    ids = np.array([str(n) for n in range(len(rows))], dtype=object)
    for query, (found, scores) in zip(
        queries, stored.find(queries, 3, ids), strict=True
    ):
        every = {n: score_slowly(query, rows[n]) for n in range(7) if LENGTHS[n]}
        best = sorted(every, key=lambda n: -every[n])[:3]
        assert found.tolist() == best
        assert scores == pytest.approx([every[n] for n in best], abs=1e-6)


def test_nothing_is_found_among_nothing(tmp_path):
    VectorWriter(tmp_path / "none").close()
    empty = VectorRows(tmp_path / "none")
    assert len(empty.rows) == 0
    ((found, _),) = empty.find([np.ones((1, 1), np.float32)], 3, np.zeros(0, object))
    assert found.tolist() == []
