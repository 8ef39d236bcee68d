r"""Fit the scale of closeness, and set the bound below which nothing close was found.

::

    python -m tools.closeness benchmarks/unanswerable.txt demo sample_queries theoremqa

Every topic of these environments is typed into their search; their judgments say which
of the first ten posts answer it. The queries of the file have no answer in the first
environment: every second one is fitted with, all set the bound.
Prints the weights and a table (docs/results/closeness.md).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.project.search import open_search
from mathamr_kedro.search import Searcher
from mathamr_kedro.search.closeness import list_features
from mathamr_kedro.search.explanation import restore_formulas

_TOP, _MOST, _NOTICED = 10, 100, 0.85
"""Posts of a query, queries of an environment, and how many of those without an answer
are to be told that nothing close was found."""
_RIDGE = 1e-3


class Asked(NamedTuple):
    """A query, and what the first posts have in common with it."""

    kind: str
    is_fitted: bool
    features: NDArray[np.float64]
    """(posts, 3): 1, v, c."""
    answers: NDArray[np.bool_]


def main(arguments: Sequence[str]) -> int:
    """Fit, and print weights and rates."""
    file, *environments = arguments
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    asked = [*_ask_nothing(environments[0], lines)]
    for env in environments:
        asked += _ask_topics(env)
    fitted = [query for query in asked if query.is_fitted]
    counts: dict[str, int] = defaultdict(int)
    for query in fitted:
        counts[query.kind] += len(query.answers)
    x = np.concatenate([query.features for query in fitted])
    y = np.concatenate([query.answers for query in fitted]).astype(float)
    shares = [np.full(len(q.answers), 1 / counts[q.kind]) for q in fitted]
    weights = fit_logistic(x, y, np.concatenate(shares) * len(y) / len(counts))
    print("weights of 1, v, c:", weights.round(3).tolist())
    best = {id(q): _rate(q.features, weights).max(initial=0.0) for q in asked}
    unanswered = [best[id(q)] for q in asked if q.kind == "none"]
    bound = float(np.quantile(unanswered, _NOTICED))
    print(f"bound: {bound:.3f}\n")
    print("| queries | how many | nothing close | answers | others |")
    print("|---|---|---|---|---|")
    for kind in dict.fromkeys(q.kind for q in asked):
        for part in (True, False):
            group = [q for q in asked if q.kind == kind and q.is_fitted == part]
            if group:
                _print_row(
                    f"{kind}, {'fitted' if part else 'kept back'}",
                    group,
                    weights,
                    bound,
                )
    return 0


def fit_logistic(
    x: NDArray[np.float64], y: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit a logistic regression by Newton's method; rows count so many times."""
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = _rate(x, weights)
        slope = x.T @ (counts * (y - p)) - _RIDGE * weights
        curve = (x * (counts * p * (1 - p))[:, None]).T @ x + _RIDGE * np.eye(
            len(weights)
        )
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def _rate(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    rated: NDArray[np.float64] = 1 / (1 + np.exp(-(x @ weights)))
    return rated


def _print_row(
    name: str, group: Sequence[Asked], weights: NDArray[np.float64], bound: float
) -> None:
    rated = [_rate(q.features, weights) for q in group]
    far = np.mean([r.max(initial=0.0) < bound for r in rated])
    p, y = np.concatenate(rated), np.concatenate([q.answers for q in group])
    means = [
        f"{p[y == is_answer].mean():.2f}" if (y == is_answer).any() else "–"
        for is_answer in (True, False)
    ]
    print(f"| {name} | {len(group)} | {100 * far:.0f} % | {' | '.join(means)} |")


def _ask_nothing(env: str, lines: Sequence[str]) -> Iterator[Asked]:
    searcher = open_search(env)
    for number, line in enumerate(lines):
        yield _ask(searcher, line, "none", number % 2 == 0, {})
    searcher.close()


def _ask_topics(env: str) -> Iterator[Asked]:
    catalog: Any = open_catalog(env)
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for row in catalog.load("judgments").records():
        judged[row.topic_id][row.doc_id] = row.grade
    searcher = open_search(env)
    topics = [t for t in catalog.load("topics").records() if t.task == "task1"]
    step = -(-len(topics) // _MOST)
    for number, topic in enumerate(topics[::step]):
        if topic.topic_id in judged:
            kind = topic.topic_id.partition("-")[0] if "-" in topic.topic_id else ""
            name = kind if kind in ("tag", "title") else env
            text = restore_formulas(topic.text, topic.formula_map)
            yield _ask(searcher, text, name, number % 2 == 0, judged[topic.topic_id])
    searcher.close()


def _ask(
    searcher: Searcher, text: str, kind: str, is_fitted: bool, grades: Mapping[str, int]
) -> Asked:
    found = searcher.search(text, top=_TOP).found
    words, ids = searcher.lookups.words(), found.hits.ids
    assert words is not None
    bound, known = words.bound_score(found.query), found.query.known
    pairs = [
        list_features(found.explain(key), bound, known) or (0.0, 0.0) for key in ids
    ]
    v, c = np.array(pairs).reshape(-1, 2).T
    features = np.stack([np.ones_like(v), v, c], axis=1)
    answers = np.array([grades.get(key, 0) > 0 for key in ids], dtype=bool)
    return Asked(kind, is_fitted, features, answers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
