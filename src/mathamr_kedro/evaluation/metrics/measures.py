"""Measures by name: ``nDCG'``, ``MAP'``, ``P'@10``, ``Bpref``, ``judged@10``, ...

A prime (``'``) removes unjudged documents first. A name may end in the lowest grade
that counts as relevant, ``(rel=3)``; NTCIR-12 calls grade 3 ``full``, 1 ``partial``.
trec_eval's names stand for the same measures: ``ndcg_cut_10`` is ``nDCG@10``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.evaluation.metrics.average_precision import AVERAGE_PRECISION
from mathamr_kedro.evaluation.metrics.bpref import BPREF
from mathamr_kedro.evaluation.metrics.grades import GradeArray, remove_unjudged
from mathamr_kedro.evaluation.metrics.judged import JUDGED_SHARE
from mathamr_kedro.evaluation.metrics.ndcg import NDCG
from mathamr_kedro.evaluation.metrics.precision import PRECISION
from mathamr_kedro.evaluation.metrics.recall import RECALL
from mathamr_kedro.evaluation.metrics.reciprocal_rank import RECIPROCAL_RANK

Kind = Literal["nDCG", "MAP", "MRR", "P", "Bpref", "judged", "recall"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_TAKES_CUTOFF = {"nDCG", "MRR", "P", "judged", "recall"}
_NEEDS_CUTOFF = {"P", "judged", "recall"}
_TAKES_PRIME = {"nDCG", "MAP", "MRR", "P", "recall"}
_BINARY = {"MAP": AVERAGE_PRECISION, "Bpref": BPREF}
_TREC_EVAL: dict[str, Kind] = {
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
    kind: Kind
    cutoff: int | None = None
    prime: bool = False
    relevant_from: int = 2
    """Lowest grade that counts as relevant; nDCG reads the grades themselves."""

    @property
    def uses_threshold(self) -> bool:
        """Whether documents are relevant or not; others read grades as they are."""
        return self.kind not in ("nDCG", "judged")

    def score(self, grades: GradeArray, judged: GradeArray) -> float:
        """Score one topic.

        Args:
            grades: grades of the results, best rank first, unjudged included.
            judged: grades of all judged documents of the topic.
        """
        if self.prime:
            grades = remove_unjudged(grades)
        k, level = self.cutoff, self.relevant_from
        match self.kind:
            case "nDCG":
                return NDCG.score(grades, judged, k)
            case "MAP" | "Bpref":
                return _BINARY[self.kind].score(grades, judged, level)
            case "MRR":
                return RECIPROCAL_RANK.score(grades, k, level)
            case "P":
                return PRECISION.score(grades, _given(k), level)
            case "recall":
                return RECALL.score(grades, judged, _given(k), level)
            case "judged":
                return JUDGED_SHARE.score(grades, _given(k))

    def expect(
        self, grades: GradeArray, judged: GradeArray, depth: int | None = None
    ) -> float:
        """Return the mean score of ``grades`` over all orders, cut at ``depth``."""
        if self.prime:
            grades = remove_unjudged(grades)
        k, level = self.cutoff, self.relevant_from
        match self.kind:
            case "nDCG":
                return NDCG.expect(grades, judged, k, depth)
            case "MAP" | "Bpref":
                return _BINARY[self.kind].expect(grades, judged, level, depth)
            case "MRR":
                return RECIPROCAL_RANK.expect(grades, k, level, depth)
            case "P":
                return PRECISION.expect(grades, _given(k), level, depth)
            case "recall":
                return RECALL.expect(grades, judged, _given(k), level, depth)
            case "judged":
                return JUDGED_SHARE.expect(grades)


def parse_measure(name: str, relevant_from: int = 2) -> Measure:
    """Read a measure from its name.

    Args:
        name: e.g. ``"nDCG'"``, ``"P'@10"``, ``"Bpref full"``, ``"MAP'(rel=1)"``, or
            as trec_eval writes it, ``"ndcg_cut_10"``.
        relevant_from: lowest relevant grade where the name states none.

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


def _kind(word: str, name: str) -> Kind:
    names = {kind.lower(): kind for kind in KINDS}
    names |= {known.lower(): kind for known, kind in _TREC_EVAL.items()}
    if word.lower() in names:
        return names[word.lower()]
    hint = suggest(word, [*KINDS, *_TREC_EVAL]) or ";"
    raise ConfigurationError(f"Unknown measure {name!r}{hint} known: {_list_known()}")


def _list_known() -> str:
    cut = {"ndcg_cut": "ndcg_cut_10", "P": "P_10", "recall": "recall_100"}
    theirs = (cut.get(name, name) for name in _TREC_EVAL)
    return f"{', '.join(KINDS)}; as in trec_eval: {', '.join(theirs)}"


def _check_parts(name: str, kind: Kind, cutoff: int | None, prime: bool) -> None:
    if cutoff is None and kind in _NEEDS_CUTOFF:
        raise ConfigurationError(
            f"Expected a cut-off in measure {name!r}, e.g. '{kind}@10'"
        )
    if cutoff is not None and kind not in _TAKES_CUTOFF:
        raise ConfigurationError(f"Expected no cut-off in measure {name!r}")
    if prime and kind not in _TAKES_PRIME:
        raise ConfigurationError(
            f"Expected no prime in measure {name!r}; {kind} treats unjudged documents "
            "by its own definition"
        )


def _given(cutoff: int | None) -> int:
    if cutoff is None:
        raise ConfigurationError("Expected a cut-off for P, recall and judged")
    return cutoff
