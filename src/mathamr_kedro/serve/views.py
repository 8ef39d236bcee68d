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
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from mathamr_kedro.amr import split_chunks
from mathamr_kedro.base.records import TEXT, FormulaMention, Post
from mathamr_kedro.formula import PatternMatch, mathml_from_latex
from mathamr_kedro.graph import DOCUMENT, read_placeholder
from mathamr_kedro.search import Answer, Explanation, Result
from mathamr_kedro.search.explanation import Match, Node
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
from mathamr_kedro.systems import ScorePart

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
    """A text with its formulas, cut into sentences."""

    def __init__(self, text: str, formula_map: Sequence[FormulaMention]) -> None:
        self._formulas = {m.placeholder: m for m in formula_map}
        self.sentences = tuple(
            Sentence(f"S{number}", new, self.cut(sentence))
            for number, (new, sentence) in enumerate(_split(text), 1)
        )

    @classmethod
    def of_post(cls, post: Post) -> TextView:
        """Return the view of a post."""
        return cls(post.text, post.formula_map)

    def cut(self, text: str) -> tuple[Part, ...]:
        """Split a text into words and formulas."""
        parts: list[Part] = []
        for piece in _PLACEHOLDER.split(text):
            mention = self._formulas.get(piece)
            if mention is not None:
                key, latex = f"F{read_placeholder(piece)}", mention.latex
                parts.append(
                    MentionPart(latex, _render(latex), key, mention.formula_id)
                )
            elif piece:
                parts.append(TextPart(piece))
        return tuple(parts)

    def choose(self, keys: Collection[str]) -> tuple[ShownSentence, ...]:
        """Return the sentences that are, or contain, one of the nodes; or the first."""
        chosen = [n for n, s in enumerate(self.sentences) if _holds(s, keys)]
        chosen = (chosen or list(range(len(self.sentences))))[:_SHOWN]
        shown, last = [], -1
        for number in chosen:
            s = self.sentences[number]
            gap = number != last + 1
            shown.append(ShownSentence(s.key, s.new_paragraph, s.parts, gap))
            last = number
        return tuple(shown)

    def begin(self, title: tuple[Part, ...]) -> tuple[ShownSentence, ...]:
        """Return the first sentences, without the title."""
        skipped = bool(title) and [s.parts for s in self.sentences[:1]] == [title]
        first = self.sentences[skipped : skipped + _SHOWN_OF_STATEMENT]
        return tuple(
            ShownSentence(s.key, s.new_paragraph, s.parts, False) for s in first
        )


def show_answer(
    answer: Answer, compared: Mapping[str, Explanation] = MappingProxyType({})
) -> SearchResponse:
    """Return an answer with the query as it was read.

    Args:
        answer: what was found.
        compared: explanations of results by text, by key.
    """
    clean = answer.query.written if answer.query is not None else None
    return SearchResponse(
        TextView(*clean).sentences if clean else (),
        answer.warnings,
        tuple(
            _show_result(result, answer.texts, key, compared)
            for result, key in zip(answer.results, answer.keys, strict=True)
        ),
        answer.did_you_mean,
        answer.is_far,
    )


def _show_result(
    result: Result,
    texts: Mapping[str, Post],
    key: str,
    compared: Mapping[str, Explanation],
) -> FoundPost:
    post = texts.get(key)
    # whichever system found it
    nearest = compared[key].match_parts() if key in compared else result.matches
    matches = tuple(map(_show_match, nearest))
    more: dict[str, Any] = {}
    if post is not None:
        view = TextView.of_post(post)
        more = _describe(post, texts.get(post.parent_id or ""))
        sentences, title = view.choose({m.post for m in matches}), view.cut(post.title)
        note = result.statement
        if note is not None:
            more["statement"] = StatementCard(**_show_note(note))
            if note.kind != TEXT or [s.parts for s in sentences] == [title]:
                sentences = view.begin(title)
        more["sentences"] = sentences
    return FoundPost(
        result.rank,
        result.post_id,
        round(result.score, 6),
        result.post_type,
        show_words(result.title),
        matches,
        tuple(map(_show_part, result.parts)),
        _show_pattern(result.pattern),
        result.same,
        closeness=result.closeness,
        close=result.close,
        **more,
    )


def show_statement(found: StatementDetails) -> StatementSheet:
    """Return a statement with its proof and its neighbours."""
    uses, users = (
        tuple(NamedStatement(k, show_words(note.title)) for k, note in notes.items())
        for notes in (found.uses, found.used_by)
    )
    paragraphs = filter(None, map(str.strip, found.proof.split("\n\n")))
    return StatementSheet(
        **_show_note(found.note),
        chapter=show_words(found.chapter),
        proof=tuple(map(show_words, paragraphs)),
        uses=uses,
        users=users,
    )


def _show_note(note: StatementNote) -> dict[str, Any]:
    return {
        "kind": note.kind,
        "title": show_words(note.title),
        "section": show_words(note.section),
        "used_by": note.used_by,
        "file": note.source,
        "place": note.place,
        "url": note.url,
    }


def show_post(
    post: Post, question: Post | None, statement: StatementDetails | None = None
) -> PostResponse:
    """Return a whole post."""
    source = post if post.title or question is None else question
    view = TextView(source.title, source.formula_map)
    return PostResponse(
        post_id=post.post_id,
        type=post.post_type,
        title=view.cut(source.title),
        **_describe(post, question),
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


def _describe(post: Post, question: Post | None) -> dict[str, Any]:
    """Return the metadata of a post."""
    tags = post.tags or (question.tags if question is not None else ())
    date = (post.creation_date or "")[:10] or None
    return {"tags": tuple(tags), "date": date, "votes": post.score}


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


def _show_pattern(found: PatternMatch | None) -> PatternBindings | None:
    if found is None:
        return None
    bound = {name: show_formula(latex) for name, latex in found.bindings.items()}
    return PatternBindings(found.is_whole, bound)


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


def _holds(sentence: Sentence, keys: Collection[str]) -> bool:
    names = (part.key for part in sentence.parts if not isinstance(part, TextPart))
    return sentence.key in keys or any(name in keys for name in names)
