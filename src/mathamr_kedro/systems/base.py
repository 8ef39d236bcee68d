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
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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
    NamedTuple,
    Protocol,
    TypeAlias,
)

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import (
    CleanText,
    FormulaInstance,
    FormulaMention,
    Judgment,
    Post,
    Statement,
    Topic,
    TrainingPair,
)
from mathamr_kedro.base.types import FormulaId, PostId, VisualId

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTrees, QueryPattern
    from mathamr_kedro.graph import GraphRecord, MathGraph
    from mathamr_kedro.vectors.post_vectors import PostEntry

Target: TypeAlias = Literal["posts", "formulas"]
"""What is searched for: Task 1 of ARQMath asks for posts, Task 2 for formulas."""

PostTerms: TypeAlias = Literal["bm25", "bm25_question", "bm25_fields", "bm25_graph"]
FormulaTerms: TypeAlias = Literal[
    "bm25", "bm25_tuples", "bm25_slt", "bm25_opt", "bm25_ngrams"
]
"""What BM25 compares; the names of its systems."""

TARGET_OF: Mapping[str, Target] = {
    "task1": "posts",
    "task2": "formulas",
    "ntcir12": "formulas",
}
"""What the topics of each task ask for."""

TreeLookup: TypeAlias = Callable[[FormulaInstance], "FormulaTrees | None"]
"""Finds the trees of a formula; ``None``: there are none."""

PostTypes: TypeAlias = tuple[str, ...] | None
"""Types of post that may be returned; ``None``: those of the system."""

TASK_1_TYPES = ("answer", "document")
"""Types of post that Task 1 may return."""

_FORMULAS = "formulas.json"

Epochs: TypeAlias = list[dict[str, Any]]
"""History of a training: one record per epoch, with ``epoch``, ``loss``, ``seconds``
and whatever else the system measures."""


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked: a topic of a collection, or a typed query."""

    key: str
    """Id of the topic; ``query`` if it was typed."""
    text: str = ""
    """Words, with placeholders for formulas."""
    formula_map: tuple[FormulaMention, ...] = ()
    formula: FormulaInstance | None = None
    """The formula that is asked for; ``None``: posts are."""
    trees: FormulaTrees | None = None
    """Of that formula."""
    pattern: QueryPattern | None = None
    """What formulas are to be instances of, if it has query variables."""
    read_graph: Callable[[], MathGraph | None] = lambda: None
    """Gives the math graph of its text."""
    entry: PostEntry | None = None
    """Vectors of MathAMR+; ``None``: its index knows them, or computes them."""
    warnings: tuple[str, ...] = ()
    """What was hard to read."""
    known: float = 1.0
    """Share of its nodes that MathAMR+ knows; a sentence encoder knows all words."""

    @classmethod
    def of_topic(
        cls,
        topic: Topic,
        trees_of: TreeLookup = lambda formula: None,
        read_graph: Callable[[], MathGraph | None] = lambda: None,
    ) -> Query:
        """Return a topic as a query."""
        formula = None
        if TARGET_OF.get(topic.task) == "formulas":
            formula = find_query_formula(topic)
        trees = trees_of(formula) if formula is not None else None
        return cls(
            topic.topic_id,
            topic.text,
            topic.formula_map,
            formula,
            trees,
            read_graph=read_graph,
        )

    @cached_property
    def graph(self) -> MathGraph | None:
        """Math graph of its text, read once."""
        return self.read_graph()

    @property
    def target(self) -> Target:
        """What it asks for."""
        return "posts" if self.formula is None else "formulas"

    @property
    def asked_formula(self) -> FormulaInstance:
        """The formula that is asked for."""
        if self.formula is None:
            raise ConfigurationError(
                f"Expected a query formula in {self.key!r} (got none); topics of Task "
                "1 ask for posts"
            )
        return self.formula

    @property
    def clean(self) -> CleanText:
        """Its words with their formulas."""
        return CleanText(self.text, self.formula_map)

    @property
    def written(self) -> CleanText:
        """Its words as they were written, with query variables."""
        if self.pattern is None:
            return self.clean
        latex = self.pattern.latex
        shown = tuple(mention._replace(latex=latex) for mention in self.formula_map)
        return CleanText(self.text, shown)


class Term(NamedTuple):
    """A node of a query and its best partner: ``weight * similarity`` of a score."""

    row: int
    """Of the query."""
    owner: PostId
    """The post, or the question that it answers."""
    partner: int
    """Row of the owner."""
    similarity: float
    weight: float
    note: str = ""
    """What it is, if that is not MaxSim."""


@dataclass(frozen=True)
class WordShare:
    """A word of a query, or a token of its formulas, and what it adds to a score."""

    word: str
    share: float


class ScorePart(NamedTuple):
    """The share of one system in a score."""

    system: str
    share: float
    """The shares of all systems add up to the score."""
    score: float
    """Its own, before scores were scaled and weighted; NaN: it did not find the
    post."""
    terms: tuple[Term, ...] = ()
    """Of a system that compares vectors: what its own score is the sum of."""
    words: tuple[WordShare, ...] = ()
    """The same of a system that compares words, the largest first."""
    parts: tuple[ScorePart, ...] = ()
    """The same of a fusion: what each of its systems gave."""

    def leaves(self) -> Iterator[ScorePart]:
        """Yield the systems that it is made of; itself if that is none."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    @classmethod
    def of_score(cls, system: str, score: float | None) -> ScorePart:
        """Return the part of a system that explains its score no further."""
        return cls(system, score or 0.0, math.nan if score is None else score)


class Index(Protocol):
    """What a system has built: it ranks, and explains scores."""

    def list_forms(self, target: Target) -> Sequence[str]:
        """Return the names of its rankings; empty: it does not find such things.

        The first one is the system's own; ``name/part`` are parts of it that its paper
        compares.
        """

    def prepare(self, queries: Sequence[Query], form: str | None = None) -> list[Query]:
        """Return the queries that can be asked, with what ranking needs of them.

        Most systems ask all of them as they are.
        """
        return list(queries)

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        form: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return the best posts, or formulas, for each query.

        Args:
            queries: all of one target, prepared.
            depth: how many.
            form: which ranking; the system's own if ``None``.
            types: types of post, for systems that can choose.
        """

    def explain(
        self, query: Query, key: str, form: str | None = None
    ) -> tuple[Term, ...]:
        """Return what the score of a post is the sum of; empty: it is not known."""
        return ()


Ranker: TypeAlias = Callable[[Sequence[Query], int], Sequence[Hits]]
"""Ranks for queries, to a depth: posts, or formulas (each visual id once)."""


class Rankings(Index):
    """An index made of functions that rank, by name, for each target."""

    def __init__(self, rankers: Mapping[Target, Mapping[str, Ranker]]) -> None:
        self._rankers = rankers

    def list_forms(self, target: Target) -> Sequence[str]:
        """Return the names of the functions."""
        return list(self._rankers.get(target, ()))

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        form: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Ask one of the functions, the first if none is named."""
        if not queries:
            return []
        rankers = self._rankers[queries[0].target]
        return rankers[form or next(iter(rankers))](queries, depth)


class TextIndex(Index):
    """An index of texts, with one ranking; posts may be changed after indexing."""

    def __init__(self, name: str, finds: frozenset[Target]) -> None:
        self._name, self._finds = name, finds
        self._added: Mapping[PostId, Post] = {}
        self._changed: frozenset[PostId] = frozenset()

    def list_forms(self, target: Target) -> Sequence[str]:
        """Return the one name."""
        return [self._name] if target in self._finds else []

    def update(self, added: Mapping[PostId, Post], deleted: Iterable[PostId]) -> None:
        """Find what was added or replaced after indexing, and not what was deleted.

        To be called before the first query.
        """
        self._added, self._changed = added, frozenset((*added, *deleted))


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
    graphs: Callable[[], Iterable[GraphRecord]] = tuple
    """Their math graphs, AMR with operator trees in place of formulas."""
    topics: Callable[[], Sequence[Topic]] = tuple
    """Of all tasks."""
    topic_graphs: Callable[[], Iterable[GraphRecord]] = tuple
    judgments: Callable[[], Iterable[Judgment]] = tuple
    pairs: Callable[[], Iterable[TrainingPair]] = tuple
    """Questions with their answers."""
    statements: Callable[[], Iterable[Statement]] = tuple
    """What is known of documents that are statements."""
    count: Callable[[tuple[str, ...]], int | None] = lambda types: None
    """Number of posts of some types, if it is known; for the lines of progress."""
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


class System(Protocol):
    """Something that ranks: made from its configuration, indexed, asked."""

    name: str
    finds: frozenset[Target]
    reads: tuple[str, ...]
    """Parts of a collection that its index depends on, e.g. ``("posts",)``."""

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Build the index; return its counts and ``bytes``.

        Args:
            data: the collection.
            model: folder of the weights, of systems that have some.
            folder: to write to; it is written atomically.
        """

    def open(self, data: Collection, model: Path, folder: Path) -> Index:
        """Return the index, to be asked."""


class LearningSystem(System, Protocol):
    """A system with weights: its training runs on a machine with torch and numpy.

    Its configuration has two parts, each a dataclass: ``model`` decides the weights,
    ``search`` what is done with them (index, scores, fusion).
    """

    Config: ClassVar[type]
    READS: ClassVar[tuple[str, ...]]
    """Parts of a collection that the training depends on, e.g. ``("formulas",)``."""
    config: Any
    # VERSION, if there is one, counts changes after which models are trained again.

    def prepare(self, data: Collection, folder: Path) -> Mapping[str, Any]:
        """Write what the training reads; return counts for the report."""

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train, or resume, with checkpoints and the best model in ``folder``."""


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


def find_query_formula(topic: Topic) -> FormulaInstance:
    """Return the formula that a topic of Task 2 asks for."""
    mentions: Mapping[FormulaId, FormulaMention] = {
        m.formula_id: m for m in topic.formula_map
    }
    if topic.formula_id is None:
        raise ConfigurationError(
            f"Expected a query formula in topic {topic.topic_id!r} (got none); topics "
            "of Task 1 ask for posts"
        )
    mention = mentions.get(topic.formula_id)
    visual = mention.visual_id if mention is not None else ""
    latex = topic.latex or (mention.latex if mention is not None else "")
    return FormulaInstance(topic.formula_id, visual, topic.topic_id, latex)


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
