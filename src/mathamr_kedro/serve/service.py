"""One warm searcher in a process, with all of the server's operations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from mathamr_kedro.base.errors import FormulaError, MathAMRError, MissingInputError
from mathamr_kedro.base.records import Post
from mathamr_kedro.corpus.extraction import PostCleaner
from mathamr_kedro.corpus.raw import RawPost
from mathamr_kedro.formula import draw_svg, trees_from_latex
from mathamr_kedro.graph import POST_TYPES, MathGraph, draw_math_graph
from mathamr_kedro.graph.drawing import STYLE
from mathamr_kedro.project.search import open_search, open_updatable_index
from mathamr_kedro.search import Searcher
from mathamr_kedro.search.responses import (
    AddResponse,
    DeleteResponse,
    DrawnExplainResponse,
    ExplainResponse,
    GraphPictures,
    PostResponse,
    SearchResponse,
    SkippedPost,
    SystemName,
    SystemsResponse,
    TreesResponse,
)
from mathamr_kedro.search.views import (
    TextView,
    show_explanation,
    show_formula,
    show_post,
)
from mathamr_kedro.serve.settings import ServeConfig
from mathamr_kedro.systems import Target
from mathamr_kedro.systems.registry import BASELINES_OF
from mathamr_kedro.systems.updates import UpdatableIndex

_logger = logging.getLogger(__name__)
_WRITE_SECONDS = 5.0
"""Seconds that a change waits while another server writes."""
_MAX_DRAWN = 5_000
"""Maximum nodes of a graph that is drawn."""
_LABELS = {
    "mathamr_plus": "meaning (graphs)",
    "bm25": "same words",
    "minilm": "similar sentences",
}
"""Systems that the page offers beside the default one."""


@dataclass(frozen=True)
class SearchRequest:
    """Options of a search, without its question or formula."""

    top: int = 10
    """Number of posts."""
    type: Sequence[str] = ()
    """Types of post or kinds of statement; those of the system if none."""
    tag: str | None = None
    """Tags of the post or its question."""
    year: int | None = None
    """Years in which it was written."""
    system: str | None = None
    """The system that ranks; ``None``: the default."""

    def make_filter(
        self, by_type: bool, statements: Collection[str] | None = None
    ) -> Callable[[Post, Post | None], bool] | None:
        """Return which posts may be shown; ``None``: all.

        Args:
            by_type: whether types count, which a search by text asks its system for.
            statements: posts that are of the kinds among them.
        """
        types = self.type if by_type else ()
        chosen = statements or ()
        if not (types or self.tag or self.year):
            return None

        def keep(post: Post, question: Post | None) -> bool:
            tags = post.tags or (question.tags if question is not None else ())
            date = post.creation_date or ""
            return (
                (not types or post.post_type in types or post.post_id in chosen)
                and (not self.tag or self.tag in tags)
                and (not self.year or date.startswith(f"{self.year:04d}"))
            )

        return keep


class IndexUnavailableError(MathAMRError):
    """The index cannot be opened."""


class SearchService:
    """Operations for pages, programs and assistants.

    Its methods may be called by one thread at a time.

    Raises:
        MissingInputError: a stage has not been run.
        ConfigurationError: index and encoder do not match, or there is no such system.
    """

    def __init__(self, config: ServeConfig) -> None:
        self._config = config
        self.problem: str | None = None
        """Why the index cannot be opened; ``None`` if it can."""
        self._open()

    def _open(self) -> None:
        config = self._config
        self._index: UpdatableIndex | None = None
        self.searcher: Searcher = open_search(
            config.env, config.data_root, config.system
        )

    def catch_up(self) -> None:
        """Take what was changed, by this process or another.

        Raises:
            IndexUnavailableError: it cannot be opened.
        """
        try:
            if self.problem is not None or not self.searcher.catch_up():
                self.searcher.close()
                self._open()
        except MathAMRError as exc:
            self.problem = str(exc)
            raise IndexUnavailableError(self.problem) from exc
        self.problem = None

    def warm_up(self) -> None:
        """Load in advance what searches for formulas and by other systems need."""
        known = self.searcher.systems.list_systems("posts")
        try:
            self.searcher.warm_up()
            for system in _LABELS.keys() & known.keys():
                self.searcher.warm_up("posts", system)
        except MathAMRError as exc:
            _logger.warning("Searches for formulas will fail: %s", exc)

    def close(self) -> None:
        """Release the index."""
        self.searcher.close()

    def search(self, text: str, asked: SearchRequest) -> SearchResponse:
        """Find posts for words with formulas between dollars."""
        self.catch_up()
        keep = asked.make_filter(by_type=False)
        types = asked.type or None
        return self.searcher.search(text, asked.top, types, asked.system, keep).response

    def search_formula(self, latex: str, asked: SearchRequest) -> SearchResponse:
        """Find posts by the formula in them that is most similar to a given one."""
        self.catch_up()
        kinds = [kind for kind in asked.type if kind not in POST_TYPES]
        chosen = self.searcher.lookups.statements.find_posts(kinds)
        keep = asked.make_filter(by_type=True, statements=chosen)
        return self.searcher.search_formula(
            latex, asked.top, asked.system, keep
        ).response

    def explain(
        self,
        text: str,
        post_id: str,
        is_formula: bool = False,
        graphs: bool = False,
        asked: SearchRequest | None = None,
    ) -> ExplainResponse:
        """Explain why a search with these options found a post."""
        self.catch_up()
        asked = asked or SearchRequest()
        query = self.searcher.read(text, is_formula)
        shown = show_explanation(
            self.searcher.explain(query, post_id, asked.type or None, asked.system),
            TextView(*query.clean),
            self.read_post(post_id),
        )
        if not graphs:
            return shown
        found = self.searcher.lookups.graph(post_id)
        pictures = GraphPictures(_draw(query.graph), _draw(found))
        return DrawnExplainResponse(**vars(shown), graphs=pictures)

    def read_post(self, post_id: str) -> PostResponse:
        """Return a post."""
        self.catch_up()
        find = self.searcher.lookups.texts
        post = find([post_id]).get(post_id)
        if post is None:
            raise MissingInputError(f"No post has the id {post_id!r}")
        parent = post.parent_id
        statement = self.searcher.lookups.statements.read(post_id)
        question = find([parent]).get(parent) if parent else None
        return show_post(post, question, statement)

    def list_systems(self) -> SystemsResponse:
        """Return the available systems and the default ones."""
        self.catch_up()
        choose = self.searcher.systems.choose
        statements = self.searcher.lookups.statements
        return SystemsResponse(
            self.count_posts(),
            choose("posts"),
            self._name_systems("posts"),
            choose("formulas"),
            self._name_systems("formulas"),
            kinds=tuple(statements.list_kinds()),
            examples=statements.examples,
        )

    def _name_systems(self, target: Target) -> tuple[SystemName, ...]:
        """Return those with a plain name first, then the rest."""
        systems = self.searcher.systems
        kinds = systems.list_systems(target)
        default = {systems.choose(target): "recommended"}
        labels = default | _LABELS | default
        plain = [
            SystemName(name, kinds.get(name, "not prepared"), label)
            for name, label in labels.items()
            if name in kinds or name in BASELINES_OF[target]
        ]
        rest = (SystemName(n, kind) for n, kind in kinds.items() if n not in labels)
        return (*plain, *rest)

    def count_posts(self) -> int:
        """Return how many posts and other entries the index holds."""
        return len(self.searcher.store)

    def add(self, posts: Sequence[RawPost]) -> AddResponse:
        """Add posts, or replace those with the same id."""
        found = self._find_index().add(list(PostCleaner().clean_all(posts)))
        skipped, cut = (
            tuple(SkippedPost(f.record_id, f.detail) for f in found.failures
                  if f.kept == is_cut)
            for is_cut in (False, True)
        )  # fmt: skip
        return AddResponse(found.added, found.replaced, skipped, found.unchanged, cut)

    def delete(self, ids: Sequence[str]) -> DeleteResponse:
        """Delete posts."""
        self._find_index().delete(ids)
        return DeleteResponse(tuple(ids))

    def _find_index(self) -> UpdatableIndex:
        """Return what is changed; parser and encoder stay loaded for the next change.

        Raises:
            IndexUnavailableError: it cannot be opened.
        """
        self.catch_up()
        if self._index is None:
            config = self._config
            root, seconds = config.data_root, _WRITE_SECONDS
            self._index = open_updatable_index(config.env, root, seconds)
        return self._index


def draw_trees(latex: str) -> TreesResponse:
    """Return both trees of a formula as pictures, and problems of reading it."""
    trees = trees_from_latex(latex)
    drawn: dict[str, str | None] = {}
    for name, tree in (("slt", trees.slt), ("opt", trees.opt)):
        try:
            drawn[name] = None if tree is None else str(draw_svg(tree))
        except FormulaError:
            drawn[name] = None  # too large for a picture
    shown = show_formula(latex)
    problems = tuple(sorted(trees.problems))
    return TreesResponse(latex, shown.mathml, **drawn, problems=problems)


def _draw(graph: MathGraph | None) -> str | None:
    """Return a graph as a picture; ``None`` if there is none or it is too large."""
    if graph is None or graph.num_nodes > _MAX_DRAWN:
        return None
    drawn = str(draw_math_graph(graph))
    # the page has its own style, and refuses any other
    return drawn.replace(f"<style>{STYLE}</style>", "")
