r"""Linear models over named binary features, learned by AdaGrad.

Learning minimises the negative log-likelihood of
:class:`~mathamr_kedro.amr.builtin.tables.Classifier` or
:class:`~mathamr_kedro.amr.builtin.tables.Ranker` with an L2 pull towards zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mathamr_kedro.amr.builtin.tables import SCALE, Classifier, Ranker


def _number_features(examples: Iterable[Iterable[str]], minimum: int) -> dict[str, int]:
    """Number the features that occur ``minimum`` times or more, from 1."""
    counts = Counter(name for names in examples for name in set(names))
    kept = sorted(name for name, count in counts.items() if count >= minimum)
    return {name: n for n, name in enumerate(kept, start=1)}


def fit_classifier(
    examples: Sequence[Sequence[str]],
    targets: Sequence[str],
    sample_weights: Sequence[float] | None = None,
    *,
    minimum: int = 2,
    epochs: int = 8,
    rate: float = 0.3,
    decay: float = 1e-6,
    seed: int = 0,
) -> Classifier:
    """Learn a classifier.

    Args:
        examples: names of the active features of each example.
        targets: label of each example.
        sample_weights: importance of each example.
        minimum: features that occur less often are dropped.
        epochs: passes over the data.
        rate: learning rate of AdaGrad.
        decay: strength of the pull towards zero.
        seed: of the order of the examples.
    """
    index = _number_features(examples, minimum)
    labels = tuple(sorted(set(targets)))
    number = {label: n for n, label in enumerate(labels)}
    x = _to_matrix(examples, index)
    y = np.array([number[t] for t in targets])
    importance = np.ones(len(y)) if sample_weights is None else np.array(sample_weights)
    weights = np.zeros((len(index) + 1, len(labels)), dtype=np.float32)
    history = np.full(weights.shape, 1e-6, dtype=np.float32)
    generator = np.random.default_rng(seed)
    size = 128
    for _ in range(epochs):
        order = generator.permutation(len(y))
        for start in range(0, len(y), size):
            rows = order[start : start + size]
            batch = x[rows]
            columns, local = np.unique(batch.indices, return_inverse=True)
            compact = sparse.csr_matrix(
                (batch.data, local.reshape(-1), batch.indptr), (len(rows), len(columns))
            )
            scores = compact @ weights[columns]
            scores -= scores.max(axis=1, keepdims=True)
            errors = np.exp(scores)
            errors /= errors.sum(axis=1, keepdims=True)
            errors[np.arange(len(rows)), y[rows]] -= 1
            errors *= importance[rows, None]
            gradient = compact.T @ errors + decay * len(y) / size * weights[columns]
            history[columns] += gradient**2
            weights[columns] -= rate * gradient / np.sqrt(history[columns])
    weights[0] = 0
    return Classifier(labels, index, weights)


def fit_ranker(
    groups: Sequence[Sequence[Sequence[str]]],
    targets: Sequence[int],
    sample_weights: Sequence[float] | None = None,
    *,
    minimum: int = 2,
    epochs: int = 8,
    rate: float = 0.3,
    decay: float = 1e-6,
    seed: int = 0,
) -> Ranker:
    """Learn a ranker from choices: candidates of each, and the position of the best."""
    index = _number_features((names for group in groups for names in group), minimum)
    x = _to_matrix([names for group in groups for names in group], index)
    sizes = np.array([len(group) for group in groups])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    importance = (
        np.ones(len(sizes)) if sample_weights is None else np.array(sample_weights)
    )
    weights = np.zeros(len(index) + 1)
    history = np.full(weights.shape, 1e-6)
    generator = np.random.default_rng(seed)
    best = starts[:-1] + np.array(targets)
    step = 128
    for _ in range(epochs):
        order = generator.permutation(len(sizes))
        for start in range(0, len(order), step):
            chosen = order[start : start + step]
            rows = np.concatenate([np.arange(starts[g], starts[g + 1]) for g in chosen])
            local_starts = np.concatenate([[0], np.cumsum(sizes[chosen])[:-1]])
            batch = x[rows]
            scores = batch @ weights
            owner = np.repeat(np.arange(len(chosen)), sizes[chosen])
            scores -= np.maximum.reduceat(scores, local_starts)[owner]
            errors = np.exp(scores)
            errors /= np.add.reduceat(errors, local_starts)[owner]
            errors[np.isin(rows, best[chosen])] -= 1
            errors *= importance[chosen][owner]
            columns = np.unique(batch.indices)
            gradient = (batch.T @ errors)[columns]
            gradient += decay * len(sizes) / step * weights[columns]
            history[columns] += gradient**2
            weights[columns] -= rate * gradient / np.sqrt(history[columns])
    return Ranker({name: float(weights[n]) for name, n in index.items()})


def _to_matrix(
    examples: Sequence[Sequence[str]], index: Mapping[str, int]
) -> sparse.csr_matrix:
    indices: list[int] = []
    pointers = [0]
    for names in examples:
        indices.extend({index[name] for name in names if name in index})
        pointers.append(len(indices))
    data = np.ones(len(indices), dtype=np.float32)
    shape = (len(examples), len(index) + 1)
    return sparse.csr_matrix((data, indices, pointers), shape)


def pack_classifier(classifier: Classifier, smallest: float) -> dict[str, Any]:
    """Return a table that :meth:`Classifier.unpack` reads, without small weights."""
    weights = classifier.weights[list(classifier.features.values())]
    rows, columns = np.nonzero(np.abs(weights) >= smallest)
    whole = np.rint(weights[rows, columns] * SCALE)
    kept, counts = np.unique(rows, return_counts=True)
    names = list(classifier.features)
    return {
        "labels": list(classifier.labels),
        "features": [names[row] for row in kept],
        "counts": _write_numbers(counts),
        "columns": _write_numbers(columns),
        "weights": _write_numbers(whole),
    }


def pack_ranker(ranker: Ranker, smallest: float) -> dict[str, Any]:
    """Return a table that :meth:`Ranker.unpack` reads, without small weights."""
    weights = {
        name: round(weight * SCALE)
        for name, weight in ranker.features.items()
        if abs(weight) >= smallest
    }
    return {"weights": weights}


def _write_numbers(numbers: NDArray[Any]) -> str:
    return " ".join(map(str, numbers.astype(int).tolist()))
