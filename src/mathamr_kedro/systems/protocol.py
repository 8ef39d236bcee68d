"""What a system of another paper reads, and the four steps that each one takes.

::

    prepare   the collection in, files out that a machine with torch alone can read
    train     those files in, a model out; goes on where it was stopped
    index     the collection and the model in, an index out
    open      model and index in, rankers out, as baselines have them

``prepare`` and ``index`` may use everything; ``train`` needs torch and numpy (and
transformers, for systems with a text encoder), so that it runs on a bare machine::

    python -m mathamr_kedro.systems FOLDER
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import (
    FormulaInstance,
    Judgment,
    Post,
    Topic,
    TrainingPair,
)

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTrees
    from mathamr_kedro.graph import GraphRecord

TreeLookup: TypeAlias = Callable[[FormulaInstance], "FormulaTrees | None"]
"""Finds the trees of a formula; ``None``: there are none."""

Ranker: TypeAlias = Callable[[Sequence[Topic], int], Sequence[Hits]]
"""Ranks for topics, to a depth: posts for Task 1, formulas (each visual id once, as
``FormulaHits``) for Task 2."""

TermSystem: TypeAlias = Literal[
    "bm25", "bm25_tuples", "bm25_slt", "bm25_opt", "bm25_ngrams"
]
"""BM25 of formulas over tokens of LaTeX, or over what their trees are made of."""

Epochs: TypeAlias = list[dict[str, Any]]
"""History of a training: one record per epoch, with ``epoch``, ``loss``, ``seconds``
and whatever else the system measures."""


@dataclass(frozen=True)
class SystemSources:
    """What a collection offers; each is asked for again where it is needed twice."""

    formulas: Callable[[], Iterable[FormulaInstance]] = tuple
    """Those that may be returned, all instances."""
    trees_of: TreeLookup = lambda formula: None
    """Finds the trees of formulas of posts and of topics."""
    posts: Callable[[], Iterable[Post]] = tuple
    """Questions, answers and documents."""
    graphs: Callable[[], Iterable[GraphRecord]] = tuple
    """Their math graphs, AMR with operator trees in place of formulas."""
    topics: Callable[[], Sequence[Topic]] = tuple
    """Of all tasks."""
    topic_graphs: Callable[[], Iterable[GraphRecord]] = tuple
    judgments: Callable[[], Iterable[Judgment]] = tuple
    pairs: Callable[[], Iterable[TrainingPair]] = tuple
    """Questions with their answers."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    """What stands for the rows of each of them, e.g. ``{"formulas": "3f0c"}``: a model
    that was trained on others is not found."""

    def checksum(self, names: Iterable[str]) -> str:
        """Return what stands for some of them together."""
        return checksum({name: self.checksums.get(name, "") for name in names})


class PaperSystem(Protocol):
    """A system of another paper: made from its configuration, trained, asked.

    Its configuration has two parts, each a dataclass: ``model`` decides the weights,
    ``search`` what is done with them (index, scores, fusion).
    """

    Config: ClassVar[type]
    READS: ClassVar[tuple[str, ...]]
    """Sources that the training depends on, e.g. ``("formulas", "trees_of")``."""
    config: Any

    def __init__(self, config: Any) -> None:
        """Take the configuration, as :func:`read_system` made it."""

    def prepare(self, sources: SystemSources, folder: Path) -> Mapping[str, Any]:
        """Write what the training reads; return counts for the report."""

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train, or go on, with checkpoints and the best model in ``folder``."""

    def index(
        self, sources: SystemSources, model: Path, folder: Path
    ) -> Mapping[str, Any]:
        """Build the index; return its counts and ``bytes``."""

    def open(
        self, sources: SystemSources, model: Path, folder: Path
    ) -> Mapping[int, Mapping[str, Ranker]]:
        """Return rankers by task, then by name.

        The name of the system itself stands for its best form; parts of it that the
        paper compares follow as ``name/part``.
        """
