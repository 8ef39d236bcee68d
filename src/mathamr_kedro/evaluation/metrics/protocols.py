"""Protocols of the tasks: measures, relevant grades, depth.

| task  | documents      | grades | relevant                | measures               |
|-------|----------------|--------|-------------------------|------------------------|
| 1     | answers        | 0 to 3 | 2, 3                    | nDCG' MAP' P'@10 Bpref |
| 2     | visual ids     | 0 to 3 | 2, 3                    | nDCG' MAP' P'@10 Bpref |
| ntcir | formulas (WFB) | 0 to 4 | full 3, 4; partial 1..4 | Bpref full, partial    |
| trec  | any            | 0, 1.. | 1 and above             | nDCG@10 MAP MRR ...    |

The last one is that of trec_eval and BEIR, for other collections: unjudged documents
are not removed, but count as not relevant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.evaluation.metrics.measures import Measure, parse_measure
from mathamr_kedro.trec import ARQMATH, NTCIR12, TREC, GradeScale

Task = Literal["1", "2", "ntcir", "trec"]
"""ARQMath Task 1 (answers), Task 2 (formulas), NTCIR-12 formula browsing, or plain."""

Averaging = Literal["judged", "relevant"]
"""``judged``: all topics of the qrels; ``relevant``: those with a relevant document."""

OFFICIAL = ("nDCG'", "MAP'", "P'@10", "Bpref")
"""The four measures of the ARQMath overviews and of the thesis, in their order."""


@dataclass(frozen=True)
class Protocol:
    """How a run of one task is scored."""

    task: Task
    grades: GradeScale
    """Grades of its qrels."""
    topic_prefix: str
    """Start of this task's topic ids."""
    measures: tuple[Measure, ...]
    depth: int | None = 1000
    """Results per topic that count; formula instances, not visual ids, in Task 2."""
    use_rank: bool = False
    """Order by the rank column instead of the scores."""
    average: Averaging = "judged"
    pooled: bool = True
    """Judgments are those of a pool, and unjudged documents are unknown. ``False``:
    judgments list the relevant documents, and all others are not relevant."""

    @property
    def candidates(self) -> str:
        """Description of the documents that a random order consists of."""
        return "judged" if self.pooled else "all documents"

    @property
    def title(self) -> str:
        """Name for tables."""
        return "TREC protocol" if self.task == "trec" else f"task {self.task}"

    def with_measures(self, names: Iterable[str]) -> Protocol:
        """Return the same protocol with other measures."""
        level = self.measures[0].relevant_from
        found = dict.fromkeys(parse_measure(name, level) for name in names)
        return replace(self, measures=tuple(found))


_ARQMATH = (*OFFICIAL, "nDCG'@10", "P'@5", "judged@10", "judged@1000", "recall@1000")
_PLAIN = ("nDCG@10", "MAP", "recall@100", "MRR", "P@10", "nDCG", "judged@10")
_NTCIR = tuple(
    f"{name} {level}"
    for name in ("Bpref", "P@5", "P@10", "P@15", "P@20")
    for level in ("full", "partial")
)

_PROTOCOLS = {
    "1": Protocol("1", ARQMATH, "A.", tuple(map(parse_measure, _ARQMATH))),
    "2": Protocol("2", ARQMATH, "B.", tuple(map(parse_measure, _ARQMATH))),
    "ntcir": Protocol(
        "ntcir", NTCIR12, "NTCIR", tuple(map(parse_measure, (*_NTCIR, "judged@10")))
    ),
    "trec": Protocol(
        "trec", TREC, "", tuple(parse_measure(n, 1) for n in _PLAIN), pooled=False
    ),
}


def protocol_of(task: str) -> Protocol:
    """Return the official protocol of a task.

    >>> [m.name for m in protocol_of("1").measures[:4]]
    ["nDCG'", "MAP'", "P'@10", 'Bpref']
    """
    if task not in _PROTOCOLS:
        raise ConfigurationError(
            f"Expected one of {list(get_args(Task))} for task (got {task!r})"
            f"{suggest(task, _PROTOCOLS)}"
        )
    return _PROTOCOLS[task]
