"""Everything that ranks is a :class:`System`: fitted, indexed, asked.

::

    collection ──fit──▶ model ──index──▶ index ──rank──▶ hits
                     (weights)        (vectors, terms)

A :class:`Query` is a topic of a collection or a typed query, prepared once; an
:class:`Index` ranks posts or formulas for it and says what a score is made of. BM25
and sentence encoders have nothing to fit; a fusion
(:class:`~mathamr_kedro.systems.fusion.Fusion`) is made of other systems.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from heapq import nsmallest
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
)

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import (
    FormulaInstance,
    Judgment,
    Post,
    Statement,
    Topic,
    TrainingPair,
)
from mathamr_kedro.base.types import FormulaId, PostId, VisualId
from mathamr_kedro.systems.changes import Changes
from mathamr_kedro.systems.found import Found
from mathamr_kedro.systems.query import (
    Query,
    Target,
    Term,
    TreeLookup,
    WordShare,
)

if TYPE_CHECKING:
    from mathamr_kedro.graph import FusedRecord, GraphFolder
    from mathamr_kedro.systems.rankings import Ranking

PostTerms: TypeAlias = Literal["bm25", "bm25_question", "bm25_fields", "bm25_graph"]
FormulaTerms: TypeAlias = Literal[
    "bm25", "bm25_tuples", "bm25_slt", "bm25_opt", "bm25_ngrams"
]
"""What BM25 compares; the names of its systems."""

PostTypes: TypeAlias = tuple[str, ...] | None
"""Types of post that may be returned; ``None``: those of the system."""

TASK_1_TYPES = ("answer", "document")
"""Types of post that Task 1 may return."""

_FORMULAS = "formulas.json"

Epochs: TypeAlias = list[dict[str, Any]]
"""History of a training: one record per epoch, with ``epoch``, ``loss``, ``seconds``
and whatever else the system measures."""


class Index:
    """What a system has built: it ranks, and explains scores.

    An index of your own inherits from it, or from :class:`Rankings`: what has a body
    here is what most indexes do.
    """

    device: str = "cpu"
    """Device of torch that searches."""

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the names of its rankings; empty: it does not find such things.

        The first one is the system's own; ``name/part`` are parts of it that its paper
        compares.
        """
        raise NotImplementedError

    def prepare(
        self, queries: Sequence[Query], ranking: str | None = None
    ) -> list[Query]:
        """Return the queries that can be asked, with what ranking needs of them."""
        return list(queries)

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        ranking: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return the best posts, or formulas, for each query.

        Args:
            queries: all of one target, prepared.
            depth: how many.
            ranking: which one; the system's own if ``None``.
            types: types of post, for systems that can choose.
        """
        raise NotImplementedError

    def find(
        self,
        query: Query,
        depth: int,
        ranking: str,
        types: PostTypes = None,
    ) -> Found:
        """Return the best for one query, with what explains their scores."""
        prepared = self.prepare([query], ranking)
        hits = self.rank(prepared, depth, ranking, types)
        return Found(ranking, query, hits[0], self, ranking)

    def find_depth(self, ranking: str) -> int:
        """Return how many results the scores of a ranking are mixed from.

        0: a score does not depend on how many are asked for.
        """
        return 0

    def explain(
        self, query: Query, key: str, ranking: str | None = None
    ) -> tuple[Term, ...]:
        """Return what the score of a post is the sum of; empty: it is not known."""
        return ()

    def explain_words(self, query: Query, key: str) -> tuple[WordShare, ...]:
        """Return what the words of a query add to the score of a post."""
        return ()

    def warm_up(self) -> None:
        """Load what the first query needs; most are ready when they are open."""

    def update(self, changes: Changes) -> None:
        """Find what was added or replaced after indexing, and not what was deleted.

        Each call replaces the one before. An index that does nothing finds the
        collection as it was indexed.
        """

    def verify(self) -> None:
        """Read files whole that are outside of the index's own folder.

        Raises:
            DamagedFileError: one is not what was written.
        """

    def close(self) -> None:
        """Release files and connections."""


Ranker: TypeAlias = Callable[[Sequence[Query], int], Sequence[Hits]]
"""Ranks for queries, to a depth: posts, or formulas (each visual id once)."""


class Rankings(Index):
    """An index made of functions that rank, by name, for each target."""

    def __init__(self, rankers: Mapping[Target, Mapping[str, Ranker]]) -> None:
        self._rankers = rankers

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the names of the functions."""
        return list(self._rankers.get(target, ()))

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        ranking: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Ask one of the functions, the first if none is named."""
        if not queries:
            return []
        rankers = self._rankers[queries[0].target]
        return rankers[ranking or next(iter(rankers))](queries, depth)


class TextIndex(Index):
    """An index of texts, with one ranking; posts may be changed after indexing."""

    def __init__(self, name: str, finds: frozenset[Target]) -> None:
        self._name, self._finds = name, finds
        self._changes = Changes()

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the one name."""
        return [self._name] if target in self._finds else []

    def update(self, changes: Changes) -> None:
        """Find what was added or replaced after indexing, and not what was deleted."""
        self._changes = changes.by_hand()  # a sync writes indexes of texts again


@dataclass(frozen=True)
class Collection:
    """What systems read; each part is asked for again if it is needed twice."""

    formulas: Callable[[], Iterable[FormulaInstance]] = tuple
    """Those that may be returned, all instances."""
    training_formulas: Callable[[], Iterable[FormulaInstance]] = tuple
    """Further ones, that may only be learnt from."""
    trees_of: TreeLookup = lambda formula: None
    """Finds the trees of formulas of posts and of topics."""
    posts: Callable[[], Iterable[Post]] = tuple
    """Questions, answers and documents."""
    formula_ids: Callable[[], Iterable[FormulaId]] = tuple
    """Of ``formulas``, read without the rest."""
    parents: Callable[[], Iterable[tuple[PostId, PostId]]] = tuple
    """Posts with the questions that they answer."""
    graphs: Callable[[], Iterable[FusedRecord]] = tuple
    """Their math graphs, AMR with operator trees in place of formulas."""
    arrays: Mapping[str, GraphFolder] = field(default_factory=dict)
    """Their math graphs as arrays, of ``posts``, ``topics`` and ``formulas``."""
    topics: Callable[[], Sequence[Topic]] = tuple
    """Of all tasks."""
    topic_graphs: Callable[[], Iterable[FusedRecord]] = tuple
    judgments: Callable[[], Iterable[Judgment]] = tuple
    pairs: Callable[[], Iterable[TrainingPair]] = tuple
    """Questions with their answers."""
    statements: Callable[[], Iterable[Statement]] = tuple
    """What is known of documents that are statements."""
    count: Callable[[tuple[str, ...]], int | None] = lambda types: None
    """Number of posts of some types, if it is known; for the lines of progress."""
    rankings: Callable[[str], Ranking] | None = None
    """Those of other systems by name, which fusions are made of."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    """Of the rows of each of them, e.g. ``{"formulas": "3f0c"}``: a model that was
    trained on others is not found."""

    def list_learnable(
        self, max_formulas: int = 0, with_comments: bool = True
    ) -> Iterator[FormulaInstance]:
        """Yield the first instance of each visual id that may be learnt from.

        Args:
            max_formulas: a random sample of so many, the same for the same formulas;
                0: all.
            with_comments: whether formulas of comments are learnt from.
        """
        chosen = None
        if max_formulas:
            marks = (_hash(f) for f in self.list_learnable(0, with_comments))
            chosen = set(nsmallest(max_formulas, marks))
        seen: set[bytes] = set()
        for formula in chain(self.formulas(), self.training_formulas()):
            if formula.comment_id and not with_comments:
                continue
            mark = _hash(formula)
            if mark not in seen and (chosen is None or mark in chosen):
                seen.add(mark)
                yield formula

    def checksum(self, names: Iterable[str]) -> str:
        """Return the checksum of some of them together."""
        return checksum({name: self.checksums.get(name, "") for name in names})


class System(ABC):
    """Something that ranks: made from its configuration, indexed, asked.

    A system of your own inherits from it.
    """

    name: str
    finds: frozenset[Target]
    index_reads: tuple[str, ...]
    """Parts of a collection that its index depends on, e.g. ``("posts",)``."""
    VERSION: int | str = 1
    """Counts changes of the code after which its models and indexes are made again."""

    @abstractmethod
    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Build the index; return its counts and ``bytes``.

        Args:
            data: the collection.
            model: folder of the weights, of systems that have some.
            folder: to write to; it is written atomically.
        """

    @abstractmethod
    def open(self, data: Collection, model: Path, folder: Path) -> Index:
        """Return the index, to be asked."""

    def describe_index(self) -> Any:
        """Return the parameters that an index depends on, as plain values."""
        return {}


class LearningSystem(System):
    """A system with weights: its training runs on a machine with torch and numpy.

    Its configuration has two parts, each a dataclass: ``model`` decides the weights,
    ``search`` what is done with them (index, scores, fusion).
    """

    Config: ClassVar[type]
    training_reads: ClassVar[tuple[str, ...]]
    """Parts of a collection that the training depends on, e.g. ``("formulas",)``."""
    config: Any

    @abstractmethod
    def prepare(self, data: Collection, folder: Path) -> Mapping[str, Any]:
        """Write what the training reads to an empty folder; return counts."""

    @abstractmethod
    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train, or resume, with checkpoints and the best model in ``folder``."""

    def describe_preparation(self) -> Any:
        """Return the parameters that ``prepare`` depends on, as plain values."""
        return self.describe_training()

    def describe_training(self) -> Any:
        """Return the parameters that the weights depend on, as plain values."""
        return asdict(self.config)["model"]

    def describe_index(self) -> Any:
        """Return the parameters that an index depends on, as plain values."""
        return asdict(self.config).get("search")


class PaperSystem(LearningSystem):
    """A system of a paper: a package whose module ``search`` makes its index.

    ``search`` is loaded when it is needed: a machine that only trains has no parser of
    formulas. It has ``build_index`` and ``open_index``, which take the configuration
    and the arguments of :meth:`index` and :meth:`open`.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Build the index."""
        counts: Mapping[str, Any] = self._search.build_index(
            self.config, data, model, folder
        )
        return counts

    def open(self, data: Collection, model: Path, folder: Path) -> Index:
        """Return the index, to be asked."""
        opened: Index = self._search.open_index(self.config, data, model, folder)
        return opened

    @property
    def _search(self) -> Any:
        return import_module(f"{__package__}.{self.name}.search")


def choose_instances(
    formulas: Iterable[FormulaInstance],
) -> dict[FormulaId, FormulaInstance]:
    """Keep the instance of each visual id that has the first formula id."""
    first: dict[VisualId, FormulaInstance] = {}
    for formula in formulas:
        known = first.setdefault(formula.visual_id, formula)
        if _order(formula) < _order(known):
            first[formula.visual_id] = formula
    return {f.formula_id: f for f in first.values()}


def save_formulas(folder: Path, formulas: Iterable[FormulaInstance]) -> None:
    """Write the formulas of an index beside it."""
    text = json.dumps(list(formulas), ensure_ascii=False)
    (folder / _FORMULAS).write_text(text, encoding="utf-8", errors="surrogatepass")


def load_formulas(folder: Path) -> dict[FormulaId, FormulaInstance]:
    """Read what :func:`save_formulas` wrote, by id."""
    text = (folder / _FORMULAS).read_text("utf-8", errors="surrogatepass")
    return {row[0]: FormulaInstance(*row) for row in json.loads(text)}


def name_formulas(
    hits: Hits, formulas: Mapping[FormulaId, FormulaInstance]
) -> FormulaHits:
    """Return hits by formula id with the visual ids and posts of the formulas."""
    found = [formulas[key] for key in hits.ids]
    return FormulaHits(
        hits.ids,
        hits.scores,
        [f.visual_id for f in found],
        [f.post_id for f in found],
    )


def _hash(formula: FormulaInstance) -> bytes:
    return blake2b(formula.visual_id.encode(), digest_size=8).digest()


def _order(formula: FormulaInstance) -> tuple[int, str]:
    return len(formula.formula_id), formula.formula_id
