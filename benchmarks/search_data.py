"""Random posts with vectors, of the sizes that the thesis reports."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors

FORMULAS, SENTENCES = 8, 7
"""Of a post, beside its document vector: 16 vectors (thesis 3.5.1: 8.7 + 6.6 + 1)."""


def draw_vectors(
    rng: np.random.Generator, shape: tuple[int, ...], centres: np.ndarray | None = None
) -> np.ndarray:
    """Draw unit vectors: anywhere, or around centres."""
    vectors = rng.standard_normal(shape, dtype=np.float32)
    if centres is not None:
        chosen = rng.integers(0, len(centres), shape[:-1])
        vectors = centres[chosen] + 0.6 * vectors
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def draw_centres(width: int, count: int = 2000) -> np.ndarray:
    """Draw the centres that posts and queries share, as real vectors crowd."""
    return np.random.default_rng(99).standard_normal((count, width), dtype=np.float32)


def draw_posts(
    count: int, width: int = 32, seed: int = 0, centres: np.ndarray | None = None
) -> PostVectors:
    """Draw posts of 8 formulas, 7 sentences and a document; all are answers."""
    rng = np.random.default_rng(seed)
    each = FORMULAS + SENTENCES + 1
    formulas = count * FORMULAS
    kinds = [0] * FORMULAS + [1] * SENTENCES + [2]
    numbers = [*range(FORMULAS), *range(SENTENCES), 0]
    return PostVectors(
        keys=TextColumn.of(str(1000 + i) for i in range(count)),
        post_types=np.ones(count, dtype=np.uint8),
        nodes=RaggedVectors(
            draw_vectors(rng, (count * each, width), centres),
            np.arange(count + 1, dtype=np.int64) * each,
            {
                "kind": np.tile(np.array(kinds, dtype=np.uint8), count),
                "number": np.tile(np.array(numbers, dtype=np.uint32), count),
            },
        ),
        formula_ids=TextColumn.of(str(i) for i in range(formulas)),
        visual_ids=TextColumn.of(map(str, rng.integers(0, formulas, formulas))),
        returnable=np.ones(formulas, dtype=np.bool_),
    )


def draw_queries(
    count: int, width: int = 32, seed: int = 1, centres: np.ndarray | None = None
) -> list[PostEntry]:
    """Draw queries of 16 vectors."""
    return list(draw_posts(count, width, seed, centres).entries())
