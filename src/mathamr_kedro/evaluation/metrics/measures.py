"""The measures: nDCG, MAP, MRR, P@k, recall@k, Bpref, judged@k; also of judged results.

Each reads one topic's results as an array of grades::

    rank        1    2    3    4    5
    document    17   4    90   2    33
    judged?     3    -    0    2    -        a grade, or no judgment
    grades      3   -1    0    2   -1        what the measures read
    prime       3         0    2             unjudged documents removed

and has two functions: the score of a topic, given the grades of the results, best rank
first, and of all judged documents, in any order; and the score that the same results
get on average in a random order, cut at a depth. Documents are relevant from a grade
of 2 in ARQMath.

In a name a prime (``'``) removes unjudged documents first. A name may end in the lowest
grade that counts as relevant, ``(rel=3)``; NTCIR-12 calls grade 3 ``full``, 1
``partial``. trec_eval's names are understood too: ``ndcg_cut_10`` is ``nDCG@10``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from inspect import Parameter, signature
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.types import Grade

GradeArray = npt.NDArray[np.int64]
"""Grades of documents, best rank first; :data:`UNJUDGED` if there is none."""

UNJUDGED = -1
"""Grade of a document without judgment; every measure counts it as not relevant."""


def look_up_grades(ids: Sequence[str], judged: Mapping[str, Grade]) -> GradeArray:
    """Return the grade of each document, or :data:`UNJUDGED`.

    >>> look_up_grades(["17", "4", "90"], {"17": 3, "90": 0})
    array([ 3, -1,  0])
    """
    found = map(judged.get, ids, repeat(UNJUDGED))
    return np.fromiter(found, dtype=np.int64, count=len(ids))


def remove_unjudged(grades: GradeArray) -> GradeArray:
    """Return the grades of judged documents in the same order (prime measures).

    >>> remove_unjudged(np.array([3, -1, 0, 2, -1]))
    array([3, 0, 2])
    """
    return grades[grades != UNJUDGED]


def sort_ideally(judged: GradeArray) -> GradeArray:
    """Return all judged grades of a topic in the best possible order."""
    return np.sort(judged)[::-1]


def ndcg(grades: GradeArray, judged: GradeArray, k: int | None = None) -> float:
    """Return the normalised discounted cumulative gain, ``ndcg`` of trec_eval.

    Järvelin and Kekäläinen 2002; with gain = grade and a logarithmic discount:

        DCG@k = Σ_{i=1..k} grade_i / log2(i + 1)    nDCG@k = DCG@k / DCG@k(ideal order)

    The ideal order holds *all* judged documents of the topic, returned or not.

    >>> ndcg(np.array([0, 3]), judged=np.array([3, 0]))  # 1 / log2(3)
    0.6309297535714575
    """
    ideal = _dcg(sort_ideally(judged), k)
    return _dcg(grades, k) / ideal if ideal > 0 else 0.0


def expected_ndcg(
    grades: GradeArray,
    judged: GradeArray,
    k: int | None = None,
    depth: int | None = None,
) -> float:
    """Each rank has the mean gain: E[DCG@k] = mean gain · Σ_{i≤k} 1 / log2(i + 1)."""
    ideal = _dcg(sort_ideally(judged), k)
    if ideal <= 0 or grades.size == 0:
        return 0.0
    ranks = _find_least(grades.size, k, depth)
    return float(_gains(grades).mean() * _discounts(ranks).sum() / ideal)


def _dcg(grades: GradeArray, k: int | None) -> float:
    gains = _gains(grades[:k])
    return float(gains @ _discounts(gains.size))


def _gains(grades: GradeArray) -> npt.NDArray[np.float64]:
    return np.maximum(grades, 0).astype(np.float64)


@lru_cache(maxsize=1024)
def _discounts(count: int) -> npt.NDArray[np.float64]:
    discounts = 1.0 / np.log2(np.arange(2, count + 2, dtype=np.float64))
    discounts.setflags(write=False)
    return discounts


def average_precision(
    grades: GradeArray, judged: GradeArray, relevant_from: int = 2
) -> float:
    """Return the average precision, whose mean over topics is ``map`` of trec_eval.

    With R documents of the topic relevant:

        AP = (1 / R) Σ_{i: result i is relevant} P@i

    >>> average_precision(np.array([3, 0, 2]), judged=np.array([3, 2, 2, 0]))
    0.5555555555555555
    """
    num_relevant = np.count_nonzero(judged >= relevant_from)
    if num_relevant == 0:
        return 0.0
    ranks = np.flatnonzero(grades >= relevant_from) + 1
    return float(np.sum(np.arange(1, ranks.size + 1) / ranks) / num_relevant)


def expected_average_precision(
    grades: GradeArray,
    judged: GradeArray,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Add up what each rank gives.

    With r relevant among n, rank i is relevant with probability r/n, and then each of
    the i - 1 results above it is relevant with probability (r - 1)/(n - 1):

        E[AP] = (1 / R) Σ_i (r/n) · (1 + (i - 1)(r - 1)/(n - 1)) / i
    """
    num_relevant = np.count_nonzero(judged >= relevant_from)
    r, n = np.count_nonzero(grades >= relevant_from), grades.size
    if num_relevant == 0 or r == 0:
        return 0.0
    i = np.arange(1, _find_least(n, depth) + 1)
    above = (i - 1) * (r - 1) / max(n - 1, 1)
    return float(np.sum((1 + above) / i) * r / n / num_relevant)


def reciprocal_rank(
    grades: GradeArray, k: int | None = None, relevant_from: int = 2
) -> float:
    """Return 1 / rank of the first relevant result, ``recip_rank`` of trec_eval.

    It is 0 if there is none; MRR@k looks at the first k results only (MS MARCO).

    >>> reciprocal_rank(np.array([0, -1, 3, 2]))
    0.3333333333333333
    """
    places = np.flatnonzero(grades[:k] >= relevant_from)
    return 1.0 / (int(places[0]) + 1) if places.size else 0.0


def expected_reciprocal_rank(
    grades: GradeArray,
    k: int | None = None,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Add up what each rank gives.

    With r relevant among n, the first one has rank i with the probability that the
    i - 1 before it are not relevant, and it is:

        P(i) = r / (n - i + 1) · Π_{j < i} (1 - r / (n - j + 1))
    """
    r, n = int(np.count_nonzero(grades >= relevant_from)), grades.size
    if r == 0:
        return 0.0
    ranks = np.arange(1, _find_least(n - r + 1, k, depth) + 1)
    hit = r / (n - ranks + 1)
    before = np.concatenate(([1.0], np.cumprod(1 - hit)[:-1]))
    return float(np.sum(before * hit / ranks))


def precision_at(grades: GradeArray, k: int, relevant_from: int = 2) -> float:
    """Return |relevant results in the top k| / k, ``P`` of trec_eval.

    The divisor is k even if fewer results came back. P'@k looks at k *judged* results.

    >>> precision_at(np.array([3, 0, 2]), k=10)
    0.2
    """
    return int(np.count_nonzero(grades[:k] >= relevant_from)) / k


def expected_precision_at(
    grades: GradeArray, k: int, relevant_from: int = 2, depth: int | None = None
) -> float:
    """Every place holds a relevant result with the same probability."""
    if grades.size == 0:
        return 0.0
    share = int(np.count_nonzero(grades >= relevant_from)) / grades.size
    return share * _find_least(grades.size, k, depth) / k


def recall_at(
    grades: GradeArray, judged: GradeArray, k: int, relevant_from: int = 2
) -> float:
    """Return |relevant results in the top k| / R, ``recall`` of trec_eval.

    >>> recall_at(np.array([3, 0, 2]), judged=np.array([3, 2, 2, 2, 0]), k=1)
    0.25
    """
    num_relevant = int(np.count_nonzero(judged >= relevant_from))
    found = int(np.count_nonzero(grades[:k] >= relevant_from))
    return found / num_relevant if num_relevant else 0.0


def expected_recall_at(
    grades: GradeArray,
    judged: GradeArray,
    k: int,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Every place holds a relevant result with the same probability."""
    num_relevant = int(np.count_nonzero(judged >= relevant_from))
    if num_relevant == 0 or grades.size == 0:
        return 0.0
    seen = _find_least(grades.size, k, depth)
    found = int(np.count_nonzero(grades >= relevant_from)) * seen / grades.size
    return found / num_relevant


def bpref(grades: GradeArray, judged: GradeArray, relevant_from: int = 2) -> float:
    """Return the binary preference, ``bpref`` of trec_eval (Buckley and Voorhees 2004).

    With R relevant and N judged non-relevant documents of the topic, and S_k the number
    of judged non-relevant results above the relevant result k:

        Bpref = (1 / R) Σ_k (1 - min(S_k, R) / min(R, N))

    Unjudged results are passed over. The thesis (Figure 2.3) writes R in place of
    min(R, N); trec_eval, whose figures ARQMath publishes, has the minimum.

    >>> bpref(np.array([3, 0, -1, 2]), judged=np.array([3, 2, 0, 0]))  # (1 + 1/2) / 2
    0.75
    """
    num_relevant, num_others = _count(judged, relevant_from)
    if num_relevant == 0:
        return 0.0
    relevant = grades >= relevant_from
    others_above = np.cumsum((grades != UNJUDGED) & ~relevant)[relevant]
    kept = _preferences(others_above, num_relevant, num_others)
    return float(kept.sum() / num_relevant)


def expected_bpref(
    grades: GradeArray,
    judged: GradeArray,
    relevant_from: int = 2,
    depth: int | None = None,
) -> float:
    """Add up what each number of others above a relevant result gives.

    With n non-relevant results in the list, a relevant one has 0, 1, ... or n of them
    above it, each with the same probability 1 / (n + 1).
    """
    num_relevant, num_others = _count(judged, relevant_from)
    r, n = _count(grades, relevant_from)
    if num_relevant == 0 or r == 0:
        return 0.0
    if depth is not None and depth < r + n:
        weights = _weights_of_cut_list(r, n, depth)
    else:
        weights = np.full(n + 1, r / (n + 1))
    above = np.arange(weights.size)
    kept = _preferences(above, num_relevant, num_others)
    return float(weights @ kept / num_relevant)


def _count(grades: GradeArray, relevant_from: int) -> tuple[int, int]:
    num_judged = np.count_nonzero(grades != UNJUDGED)
    num_relevant = np.count_nonzero(grades >= relevant_from)
    return int(num_relevant), int(num_judged - num_relevant)


def _preferences(
    others_above: npt.NDArray[np.int64], num_relevant: int, num_others: int
) -> npt.NDArray[np.float64]:
    # Without judged non-relevant documents nothing is above: every term is 1.
    max_others = max(min(num_relevant, num_others), 1)
    return 1.0 - np.minimum(others_above, num_relevant) / max_others


def _weights_of_cut_list(r: int, n: int, depth: int) -> npt.NDArray[np.float64]:
    """Return the expected number of relevant results with s others above, within depth.

    A relevant result with s others and t relevant ones above has rank s + t + 1, and
    the number of random orders that put it there is C(s + t, s) · C(rest, n - s).
    """
    # Logarithms, as the numbers of orders overflow.
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, r + n + 1)))))

    def log_choose(total: npt.NDArray[np.int64], part: npt.NDArray[np.int64]):
        return log_factorial[total] - log_factorial[part] - log_factorial[total - part]

    s = np.arange(min(n, depth - 1) + 1)[:, None]
    t = np.arange(min(r, depth))[None, :]
    rest = (r - 1 - t) + (n - s)
    log_orders = log_choose(s + t, s) + log_choose(rest, n - s)
    log_all = log_choose(np.array(r + n), np.array(n))
    return np.where(s + t < depth, np.exp(log_orders - log_all), 0.0).sum(axis=1)


def judged_at(grades: GradeArray, k: int) -> float:
    """Return the share of judged results among the top k; 0 if nothing came back.

    A prime measure of a run with a low judged@10 rests on few documents.

    >>> judged_at(np.array([3, -1, 0, 2, -1]), k=2)
    0.5
    """
    top = grades[:k]
    return int(np.count_nonzero(top != UNJUDGED)) / top.size if top.size else 0.0


def expected_judged_at(grades: GradeArray) -> float:
    """It is the same for any k."""
    return judged_at(grades, grades.size)


def _find_least(*limits: int | None) -> int:
    return min(limit for limit in limits if limit is not None)


class _Kind(NamedTuple):
    """The functions of a measure, which take what their parameters name.

    ``grades`` always; and any of ``judged``, ``k``, ``relevant_from``, ``depth``. A
    measure whose ``k`` has no default needs a cut-off in its name.
    """

    score: Callable[..., float]
    expect: Callable[..., float]
    """Mean over all orders of the same grades: the floor of a table."""
    takes_prime: bool = True


_KINDS = {
    "nDCG": _Kind(ndcg, expected_ndcg),
    "MAP": _Kind(average_precision, expected_average_precision),
    "MRR": _Kind(reciprocal_rank, expected_reciprocal_rank),
    "P": _Kind(precision_at, expected_precision_at),
    "Bpref": _Kind(bpref, expected_bpref, takes_prime=False),
    "judged": _Kind(judged_at, expected_judged_at, takes_prime=False),
    "recall": _Kind(recall_at, expected_recall_at),
}
_TREC_EVAL = {
    "ndcg_cut": "nDCG", "ndcg": "nDCG", "map": "MAP", "P": "P", "recall": "recall",
    "bpref": "Bpref", "recip_rank": "MRR",
}  # fmt: skip
"""Its names without ``_10``; the first two are one measure, with and without it."""
_LEVELS = {"partial": 1, "full": 3}
_NAME = re.compile(
    r"(?P<kind>[a-z]+(?:_[a-z]+)*)(?P<prime>['’′]?)(?:[@_](?P<cutoff>[1-9]\d*))?"
    r"(?:\s*\(rel=(?P<grade>[1-9])\)|\s+(?P<level>full|partial))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Measure:
    """One column of a result table."""

    name: str
    """As shown, e.g. ``"P'@10"``."""
    kind: str
    cutoff: int | None = None
    prime: bool = False
    relevant_from: int = 2
    """Lowest grade that counts as relevant; nDCG reads the grades themselves."""

    @property
    def uses_threshold(self) -> bool:
        """Whether documents are relevant or not; others read grades as they are."""
        return "relevant_from" in _parameters(_KINDS[self.kind].score)

    def score(self, grades: GradeArray, judged: GradeArray) -> float:
        """Score one topic."""
        return self._call(_KINDS[self.kind].score, grades, judged=judged)

    def expect(
        self, grades: GradeArray, judged: GradeArray, depth: int | None = None
    ) -> float:
        """Return the mean score of ``grades`` over all orders, cut at ``depth``."""
        return self._call(_KINDS[self.kind].expect, grades, judged=judged, depth=depth)

    def _call(
        self, function: Callable[..., float], grades: GradeArray, **values: Any
    ) -> float:
        """Call a function with those of the values that its parameters name."""
        if self.prime:
            grades = remove_unjudged(grades)
        known = values | {"k": self.cutoff, "relevant_from": self.relevant_from}
        names = [name for name in _parameters(function) if name in known]
        return function(grades, **{name: known[name] for name in names})


def parse_measure(name: str, relevant_from: int = 2) -> Measure:
    """Read a measure from its name.

    Args:
        name: e.g. ``"nDCG'"``, ``"P'@10"``, ``"Bpref full"``, ``"MAP'(rel=1)"``, or
            as trec_eval writes it, ``"ndcg_cut_10"``.
        relevant_from: lowest relevant grade if the name states none.

    >>> parse_measure("p'@10")
    Measure(name="P'@10", kind='P', cutoff=10, prime=True, relevant_from=2)
    >>> parse_measure("Bpref full").relevant_from
    3
    >>> parse_measure("ndcg_cut_10").name, parse_measure("recip_rank").name
    ('nDCG@10', 'MRR')

    Raises:
        ConfigurationError: there is no such measure.
    """
    match = _NAME.fullmatch(name.strip())
    kind = _kind(match["kind"], name) if match else None
    if match is None or kind is None:
        raise ConfigurationError(
            f'Unknown measure {name!r}; write a name like "nDCG\'", "P\'@10", '
            f"'Bpref full' or 'recall@100(rel=1)'; known: {_list_known()}"
        )
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    _check_parts(name, kind, cutoff, prime=bool(match["prime"]))
    grade = int(match["grade"] or _LEVELS.get((match["level"] or "").lower(), 0))
    shown = kind + ("'" if match["prime"] else "") + (f"@{cutoff}" if cutoff else "")
    shown += f" {match['level'].lower()}" if match["level"] else ""
    shown += f"(rel={grade})" if match["grade"] else ""
    return Measure(shown, kind, cutoff, bool(match["prime"]), grade or relevant_from)


def _kind(word: str, name: str) -> str:
    names = {kind.lower(): kind for kind in _KINDS}
    names |= {known.lower(): kind for known, kind in _TREC_EVAL.items()}
    if word.lower() in names:
        return names[word.lower()]
    hint = suggest(word, [*_KINDS, *_TREC_EVAL]) or ";"
    raise ConfigurationError(f"Unknown measure {name!r}{hint} known: {_list_known()}")


def _list_known() -> str:
    cut = {"ndcg_cut": "ndcg_cut_10", "P": "P_10", "recall": "recall_100"}
    theirs = (cut.get(name, name) for name in _TREC_EVAL)
    return f"{', '.join(_KINDS)}; as in trec_eval: {', '.join(theirs)}"


def _check_parts(name: str, kind: str, cutoff: int | None, prime: bool) -> None:
    k = _parameters(_KINDS[kind].score).get("k")
    if cutoff is None and k is not None and k.default is Parameter.empty:
        raise ConfigurationError(
            f"Expected a cut-off in measure {name!r}, e.g. '{kind}@10'"
        )
    if cutoff is not None and k is None:
        raise ConfigurationError(f"Expected no cut-off in measure {name!r}")
    if prime and not _KINDS[kind].takes_prime:
        raise ConfigurationError(
            f"Expected no prime in measure {name!r}; {kind} treats unjudged documents "
            "by its own definition"
        )


@cache
def _parameters(function: Callable[..., float]) -> dict[str, Parameter]:
    return dict(signature(function).parameters)
