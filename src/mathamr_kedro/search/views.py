"""Answers for pages and programs: sentences of words and rendered formulas.

::

    text      Why is FORMULA_0 irrational? Squaring gives FORMULA_1.
    view      S1 [Why is , F0 <math>, irrational?]  S2 [Squaring gives , F1 <math>, .]

The names of sentences and formulas are those of the nodes in an explanation, so that
both sides of a match can be found in the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache

from mathamr_kedro.amr import split_chunks
from mathamr_kedro.base.records import TEXT, FormulaMention, Post
from mathamr_kedro.base.types import PostId
from mathamr_kedro.formula import PatternMatch, mathml_from_latex
from mathamr_kedro.graph import DOCUMENT, find_owner, read_placeholder
from mathamr_kedro.search.answers import FoundTexts
from mathamr_kedro.search.closeness import FAR
from mathamr_kedro.search.explanation import (
    Explanation,
    Match,
    Node,
    restore_formulas,
)
from mathamr_kedro.search.responses import (
    ExplainResponse,
    FormulaPart,
    FoundPost,
    LabelledNode,
    MentionPart,
    NamedStatement,
    NodeMatch,
    Part,
    PatternBindings,
    PostResponse,
    ScoreTerm,
    SearchResponse,
    Sentence,
    ShownSentence,
    StatementCard,
    StatementSheet,
    SystemShare,
    TextPart,
)
from mathamr_kedro.search.statements import StatementDetails, StatementNote
from mathamr_kedro.systems import Query, ScorePart

_PLACEHOLDER = re.compile(r"(FORMULA_\d+)")
_DOLLARS = re.compile(r"\$([^$]+)\$")
_SHOWN = 4
"""Sentences of a post in a list of results."""
_SHOWN_OF_STATEMENT = 8
_render = lru_cache(maxsize=20_000)(mathml_from_latex)


def show_formula(latex: str) -> FormulaPart:
    """Return a formula with its MathML for browsers."""
    return FormulaPart(latex, _render(latex))


def show_words(text: str) -> tuple[Part, ...]:
    """Split a text with formulas between dollars into words and formulas."""
    pieces = enumerate(_DOLLARS.split(text))
    return tuple(
        show_formula(piece) if number % 2 else TextPart(piece)
        for number, piece in pieces
        if piece
    )


class TextView:
    """A text with its formulas, cut into sentences; what is shown of it is drawn."""

    def __init__(self, text: str, formula_map: Sequence[FormulaMention]) -> None:
        self._text = text
        self._formulas = {m.placeholder: m for m in formula_map}

    @classmethod
    def of_post(cls, post: Post) -> TextView:
        """Return the view of a post."""
        return cls(post.text, post.formula_map)

    @cached_property
    def _cut(self) -> list[tuple[bool, str]]:
        return list(_split(self._text))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences."""
        return tuple(map(self._show, range(len(self._cut))))

    def cut(self, text: str) -> tuple[Part, ...]:
        """Return a text as words and formulas in turn."""
        parts: list[Part] = []
        for piece in _PLACEHOLDER.split(text):
            mention = self._formulas.get(piece)
            if mention is not None:
                key, latex = f"F{read_placeholder(piece)}", mention.latex
                formula = MentionPart(latex, _render(latex), key, mention.formula_id)
                parts.append(formula)
            elif piece:
                parts.append(TextPart(piece))
        return tuple(parts)

    def choose(self, keys: Set[str]) -> tuple[ShownSentence, ...]:
        """Return the sentences that are, or hold, one of the nodes; or the first."""
        places = range(len(self._cut))
        chosen = [place for place in places if keys & self._list_keys(place)]
        shown = (chosen or list(places))[:_SHOWN]
        return tuple(
            self._show_chosen(place, gap=place != last + 1)
            for last, place in zip([-1, *shown], shown, strict=False)
        )

    def begin(self, title: str) -> tuple[ShownSentence, ...]:
        """Return the first sentences, without the title."""
        skipped = [text for _, text in self._cut[:1]] == [title]
        places = range(len(self._cut))[skipped : skipped + _SHOWN_OF_STATEMENT]
        return tuple(self._show_chosen(place, gap=False) for place in places)

    def _show(self, place: int) -> Sentence:
        new_paragraph, text = self._cut[place]
        return Sentence(f"S{place + 1}", new_paragraph, self.cut(text))

    def _show_chosen(self, place: int, gap: bool) -> ShownSentence:
        return ShownSentence(**vars(self._show(place)), gap=gap)

    def _list_keys(self, place: int) -> set[str]:
        """Return the names of a sentence and of the formulas in it."""
        found = _PLACEHOLDER.findall(self._cut[place][1])
        formulas = (name for name in found if name in self._formulas)
        return {f"S{place + 1}", *(f"F{read_placeholder(name)}" for name in formulas)}


def show_answer(
    query: Query,
    results: Sequence[FoundPost],
    warnings: Sequence[str] = (),
    did_you_mean: str | None = None,
) -> SearchResponse:
    """Return what a search found, with the query as it was read."""
    known = [r.closeness for r in results if r.closeness is not None]
    return SearchResponse(
        TextView(*query.written).sentences,
        (*query.warnings, *warnings),
        tuple(results),
        did_you_mean,
        bool(known) and max(known) < FAR,
    )


def show_result(
    rank: int,
    score: float,
    key: PostId,
    texts: FoundTexts,
    matches: Iterable[Match],
    parts: Iterable[ScorePart],
    note: StatementNote | None = None,
) -> FoundPost:
    """Return one post that was found.

    Args:
        rank: from 1.
        score: of the search.
        key: of the text that was found: a post, or a comment on one.
        texts: has it, if it exists.
        matches: which node of the query found which node of the text.
        parts: what the score is the sum of.
        note: what is known of it if it is a statement.
    """
    nodes, shares = tuple(map(_show_match, matches)), tuple(map(_show_part, parts))
    place = (rank, find_owner(key), round(score, 6))
    post, question = texts.get(key), texts.question_of(key)
    if post is None:
        return FoundPost(*place, "", (), nodes, shares, None)
    view = TextView.of_post(post)
    sentences = view.choose({node.post for node in nodes})
    is_title = [s.parts for s in sentences] == [view.cut(post.title)]
    if note is not None and (note.kind != TEXT or is_title):
        sentences = view.begin(post.title)
    tags, date, votes = _describe(post, question)
    return FoundPost(
        *place,
        post.post_type,
        _show_title(post, question),
        nodes,
        shares,
        None,
        tags=tags,
        date=date,
        votes=votes,
        sentences=sentences,
        statement=None if note is None else _show_note(note),
    )


def show_pattern(found: PatternMatch | None) -> PatternBindings | None:
    """Return what query variables stand for, if a formula is an instance."""
    if found is None:
        return None
    bound = {name: show_formula(latex) for name, latex in found.bindings.items()}
    return PatternBindings(found.is_whole, bound)


def show_statement(found: StatementDetails) -> StatementSheet:
    """Return a statement with its proof and its neighbours."""
    uses, users = (
        tuple(NamedStatement(k, show_words(note.title)) for k, note in notes.items())
        for notes in (found.uses, found.used_by)
    )
    paragraphs = filter(None, map(str.strip, found.proof.split("\n\n")))
    return StatementSheet(
        **vars(_show_note(found.note)),
        chapter=show_words(found.chapter),
        proof=tuple(map(show_words, paragraphs)),
        uses=uses,
        users=users,
    )


def show_post(
    post: Post, question: Post | None, statement: StatementDetails | None = None
) -> PostResponse:
    """Return a whole post."""
    source = post if post.title or question is None else question
    tags, date, votes = _describe(post, question)
    return PostResponse(
        post_id=post.post_id,
        type=post.post_type,
        title=TextView.of_post(source).cut(source.title),
        tags=tags,
        date=date,
        votes=votes,
        question_id=post.parent_id,
        sentences=TextView.of_post(post).sentences,
        statement=None if statement is None else show_statement(statement),
    )


def show_explanation(
    found: Explanation, query: TextView, post: PostResponse
) -> ExplainResponse:
    """Return the similarities with names and words of rows and columns."""
    return ExplainResponse(
        round(found.total, 6),
        tuple(map(show_words, found.reasons)),
        tuple(map(_show_part, found.parts)),
        tuple(map(_show_term, found.terms)),
        round(found.score, 6),
        tuple(map(_show_node, found.query_nodes)),
        tuple(map(_show_node, found.post_nodes)),
        tuple(map(tuple, found.similarity.round(4).tolist())),
        tuple(found.best.tolist()),
        query.sentences,
        post,
    )


def _describe(
    post: Post, question: Post | None
) -> tuple[tuple[str, ...], str | None, int | None]:
    """Return tags, date and votes of a post."""
    tags = post.tags or (question.tags if question is not None else ())
    date = (post.creation_date or "")[:10] or None
    return tuple(tags), date, post.score


def _show_title(post: Post, question: Post | None) -> tuple[Part, ...]:
    """Return the title of a post or of its question; it may be empty."""
    source = post if post.title or question is None else question
    return show_words(restore_formulas(source.title, source.formula_map))


def _show_note(note: StatementNote) -> StatementCard:
    return StatementCard(
        kind=note.kind,
        title=show_words(note.title),
        section=show_words(note.section),
        used_by=note.used_by,
        file=note.source,
        place=note.place,
        url=note.url,
    )


def _show_node(node: Node) -> LabelledNode:
    return LabelledNode(node.key, show_words(node.caption))


def _show_match(match: Match) -> NodeMatch:
    return NodeMatch(match.query.key, match.post.key, round(match.similarity, 4))


def _show_term(match: Match) -> ScoreTerm:
    numbers = (round(n, 6) for n in (match.share, match.weight, match.similarity))
    return ScoreTerm(
        show_words(_name_side(match.query, match.note)),
        show_words(_name_side(match.post)),
        match.in_question,
        *numbers,
    )


def _name_side(node: Node, note: str = "") -> str:
    words = node.caption if node.kind != DOCUMENT else "the whole text"
    return f"{words} ({note})" if note else words


def _show_part(part: ScorePart) -> SystemShare:
    score = None if math.isnan(part.score) else round(part.score, 6)
    return SystemShare(part.system, round(part.share, 6), score, part.words)


def _split(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each sentence, and whether a paragraph begins with it."""
    place = 0
    for chunk in split_chunks(text):
        for sentence in chunk.sentences:
            found = text.find(sentence, place)
            if found < 0:  # spaces were changed
                yield False, sentence
                continue
            yield "\n" in text[place:found], sentence
            place = found + len(sentence)
