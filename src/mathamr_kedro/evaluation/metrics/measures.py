"""Measures by name: ``nDCG'``, ``MAP'``, ``P'@10``, ``Bpref``, ``judged@10``, ...

A prime (``'``) removes unjudged documents first. A name may end in the lowest grade
that counts as relevant, ``(rel=3)``; NTCIR-12 calls grade 3 ``full``, 1 ``partial``.
trec_eval's names are understood too: ``ndcg_cut_10`` is ``nDCG@10``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.evaluation.metrics.average_precision import (
    average_precision,
    expected_average_precision,
)
from mathamr_kedro.evaluation.metrics.bpref import bpref, expected_bpref
from mathamr_kedro.evaluation.metrics.grades import GradeArray, remove_unjudged
from mathamr_kedro.evaluation.metrics.judged import expected_judged_at, judged_at
from mathamr_kedro.evaluation.metrics.ndcg import expected_ndcg, ndcg
from mathamr_kedro.evaluation.metrics.precision import (
    expected_precision_at,
    precision_at,
)
from mathamr_kedro.evaluation.metrics.recall import expected_recall_at, recall_at
from mathamr_kedro.evaluation.metrics.reciprocal_rank import (
    expected_reciprocal_rank,
    reciprocal_rank,
)


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
        """Score one topic.

        Args:
            grades: grades of the results, best rank first, unjudged included.
            judged: grades of all judged documents of the topic.
        """
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
