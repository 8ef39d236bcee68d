r"""Learn how words and vectors are mixed, and test it on sets that were left out.

::

    python -m tools.mixing demo sample_queries theoremqa

For each query of the environments' evaluations, a logistic model gives the weight of
words against vectors,

.. math:: w = \sigma(\beta \cdot (1, \log n, m, k, a)),

from what the query shows: its length :math:`n`, the share :math:`m` of formulas among
its terms, the share :math:`k` of its words that the index knows, and the agreement
:math:`a` of both lists (common posts among the first ten). It is fitted to the weights,
in steps of .1, by which each query scores best (queries count by what the weight
changes, sets alike), and tested on the set that is left out. Prints a table
(docs/results/benchmark.md).
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.evaluation.metrics.measures import ndcg
from mathamr_kedro.evaluation.stats import interval_over_sets
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.systems.search_config import SearchConfig
from mathamr_kedro.text import measure_math_share, pair_terms
from tools.closeness import fit_logistic

_WEIGHTS = np.linspace(0, 1, 11)
_FIXED = 6
"""Place of 3 : 2 among them."""


class Asked(NamedTuple):
    """A query: what it shows, and its nDCG by each of the weights."""

    kind: str
    shows: NDArray[np.float64]
    scores: NDArray[np.float64]


def main(environments: Sequence[str]) -> int:
    """Print what fixed and learnt weights bring, with intervals."""
    sets: dict[str, list[Asked]] = defaultdict(list)
    for env in environments:
        for query in _read(env):
            sets[query.kind].append(query)
    print("| left out | queries | words | vectors | 3 : 2 | learnt | learnt − 3 : 2 |")
    print("|---|---|---|---|---|---|---|")
    gains = []
    for name, group in sets.items():
        weights = _fit([queries for other, queries in sets.items() if other != name])
        found = np.array([_use(query, weights) for query in group])
        table = np.array([query.scores for query in group])
        gains.append(found - table[:, _FIXED])
        columns = (table[:, -1], table[:, 0], table[:, _FIXED], found)
        means = " | ".join(f"{column.mean():.3f}" for column in columns)
        print(f"| {name} | {len(group)} | {means} | {_interval([gains[-1]])} |")
    print(f"| mean | | | | | | {_interval(gains)} |")
    learnt = _fit(list(sets.values())).round(3).tolist()
    print("\nlearnt on all sets, of 1, log n, m, k, a:", learnt)
    return 0


def _read(env: str) -> Iterator[Asked]:
    """Yield the queries of the evaluation of an environment."""
    catalog: Any = open_catalog(env)
    parameters = catalog.load("parameters")
    fusion = SearchConfig.read(parameters["indexing"]).fusion
    words, vectors = fusion.of
    runs = {
        run.name: run.lists
        for name in (words, "mathamr_plus")
        for run in catalog.load(f"{name}.runs")
        if run.task == 1
    }
    index = catalog.load(f"{words}.index").open()
    is_known_item = parameters["evaluation"]["protocol"] == "trec"
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for row in catalog.load("judgments").records():
        judged[row.topic_id][row.doc_id] = row.grade
    for topic in catalog.load("topics").records():
        grades = judged.get(topic.topic_id, {})
        if topic.task != "task1" or not any(grade > 0 for grade in grades.values()):
            continue
        lists = [
            runs[name].get(topic.topic_id, Hits([], np.zeros(0)))
            for name in (words, f"mathamr_plus/{vectors}")
        ]
        scores = []
        for weight in _WEIGHTS:
            mixed = replace(fusion, weights=(float(weight), float(1 - weight)))
            ids = mixed.fuse(lists).ids
            if not is_known_item:  # only what is judged counts
                ids = [key for key in ids if key in grades]
            found = np.array([grades.get(key, 0) for key in ids])
            everything = np.array([*grades.values()])
            scores.append(ndcg(found, everything, 10 if is_known_item else None))
        terms = [word for term, word in pair_terms(topic.text, topic.formula_map)]
        plain = [word for word in terms if word.isalpha()]
        known = [word for word in plain if index.count_word(word)]
        common = {*lists[0].ids[:10]} & {*lists[1].ids[:10]}
        shows = [
            1.0,
            math.log(1 + len(terms)),
            measure_math_share(topic.text, topic.formula_map),
            len(known) / len(plain) if plain else 0.0,
            len(common) / 10,
        ]
        kind = topic.topic_id.partition("-")[0]
        name = kind if kind in ("tag", "title") else env
        yield Asked(name, np.array(shows), np.array(scores))


def _fit(sets: Sequence[Sequence[Asked]]) -> NDArray[np.float64]:
    rows, best, counts = [], [], []
    for group in sets:
        matters = sum(float(np.ptp(query.scores)) for query in group) or 1.0
        for query in group:
            rows.append(query.shows)
            at_best = query.scores >= query.scores.max() - 1e-9
            best.append(_WEIGHTS[at_best].mean())
            counts.append(float(np.ptp(query.scores)) / matters * 100)
    return fit_logistic(np.array(rows), np.array(best), np.array(counts))


def _use(query: Asked, weights: NDArray[np.float64]) -> float:
    weight = 1 / (1 + math.exp(-float(query.shows @ weights)))
    return float(np.interp(weight, _WEIGHTS, query.scores))


def _interval(gains: Sequence[NDArray[np.float64]]) -> str:
    mean, found = interval_over_sets(gains)
    return f"{mean:+.3f} ({found.low:+.3f} … {found.high:+.3f})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
