"""Posts and queries as a page shows them: sentences of words and rendered formulas.

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
from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.formula import PatternMatch, mathml_from_latex
from mathamr_kedro.graph import read_placeholder
from mathamr_kedro.search import Answer, Explanation, Result
from mathamr_kedro.search.explanation import Match
from mathamr_kedro.systems import ScorePart

_PLACEHOLDER = re.compile(r"(FORMULA_\d+)")
_DOLLARS = re.compile(r"\$([^$]+)\$")
_SHOWN = 4
"""Sentences of a post in a list of results."""
_render = lru_cache(maxsize=20_000)(mathml_from_latex)


class TextView:
    """A text with its formulas, cut into sentences.

    Args:
        text: with placeholders.
        formula_map: what they stand for.
        max_tokens: limit of a chunk when it was parsed.
    """

    def __init__(
        self, text: str, formula_map: Sequence[FormulaMention], max_tokens: int
    ) -> None:
        self._formulas = {m.placeholder: m for m in formula_map}
        self.sentences = [
            {"key": f"S{number}", "new_paragraph": new, "parts": self.cut(sentence)}
            for number, (new, sentence) in enumerate(_split(text, max_tokens), 1)
        ]

    @classmethod
    def of_post(cls, post: Post, max_tokens: int) -> TextView:
        """Return the view of a post."""
        return cls(post.text, post.formula_map, max_tokens)

    def cut(self, text: str) -> list[dict[str, Any]]:
        """Return a text as words and formulas in turn."""
        parts: list[dict[str, Any]] = []
        for piece in _PLACEHOLDER.split(text):
            mention = self._formulas.get(piece)
            if mention is not None:
                number = read_placeholder(piece)
                parts.append(self.show_formula(mention.latex, f"F{number}"))
                parts[-1]["formula_id"] = mention.formula_id
            elif piece:
                parts.append({"text": piece})
        return parts

    @staticmethod
    def show_formula(latex: str, key: str | None = None) -> dict[str, Any]:
        """Return a formula with what a browser draws; ``mathml`` may be null."""
        return {"latex": latex, "mathml": _render(latex), "key": key}

    @staticmethod
    def show_words(text: str) -> list[dict[str, Any]]:
        """Return words with formulas between dollars as both in turn."""
        parts: list[dict[str, Any]] = []
        for number, piece in enumerate(_DOLLARS.split(text)):
            if number % 2:
                parts.append(TextView.show_formula(piece))
            elif piece:
                parts.append({"text": piece})
        return parts

    def choose(self, keys: Collection[str]) -> list[dict[str, Any]]:
        """Return the sentences that are, or hold, one of the nodes; or the first.

        A gap before a sentence is noted in ``gap``.
        """
        chosen = [n for n, s in enumerate(self.sentences) if _holds(s, keys)]
        chosen = (chosen or list(range(len(self.sentences))))[:_SHOWN]
        shown, last = [], -1
        for number in chosen:
            gap = number != last + 1
            shown.append({**self.sentences[number], "gap": gap})
            last = number
        return shown


class AnswerView:
    """What a search found, for a page.

    Args:
        max_tokens: limit of a chunk when posts were parsed.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens

    def show(
        self, answer: Answer, compared: Mapping[str, Explanation] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Return an answer with the query as it was read.

        Args:
            answer: what was found.
            compared: what was found by its text, with the query; by key.
        """
        clean = answer.query.written if answer.query is not None else None
        query = TextView(*clean, self._max_tokens).sentences if clean else []
        return {
            "query": query,
            "warnings": list(answer.warnings),
            "results": [
                self._show_result(result, answer.texts, key, compared)
                for result, key in zip(answer.results, answer.keys, strict=True)
            ],
        }

    def _show_result(
        self,
        result: Result,
        texts: Mapping[str, Post],
        key: str,
        compared: Mapping[str, Explanation],
    ) -> dict[str, Any]:
        post = texts.get(key)
        matches = [_show_match(match, post) for match in result.matches]
        if key in compared:  # whichever system found it
            matches = _list_nearest(compared[key])
        shown = {
            "rank": result.rank,
            "post_id": result.post_id,
            "score": round(result.score, 6),
            "type": result.post_type,
            "title": TextView.show_words(result.title),
            "matches": matches,
            "parts": [_show_part(part) for part in result.parts],
            "pattern": _show_pattern(result.pattern),
        }
        if post is None:
            return {**shown, "tags": [], "date": None, "votes": None, "sentences": []}
        view = TextView.of_post(post, self._max_tokens)
        sentences = view.choose({m["post"] for m in matches})
        about = self.describe(post, texts.get(post.parent_id or ""))
        return {**shown, **about, "sentences": sentences}

    def show_post(self, post: Post, question: Post | None) -> dict[str, Any]:
        """Return a whole post."""
        source = post if post.title or question is None else question
        view = TextView(source.title, source.formula_map, self._max_tokens)
        return {
            "post_id": post.post_id,
            "type": post.post_type,
            "title": view.cut(source.title),
            **self.describe(post, question),
            "question_id": post.parent_id,
            "sentences": TextView.of_post(post, self._max_tokens).sentences,
        }

    @staticmethod
    def describe(post: Post, question: Post | None) -> dict[str, Any]:
        """Return what is known about a post besides its text."""
        tags = post.tags or (question.tags if question is not None else ())
        date = (post.creation_date or "")[:10] or None
        return {"tags": list(tags), "date": date, "votes": post.score}

    @staticmethod
    def show_explanation(found: Explanation) -> dict[str, Any]:
        """Return the similarities with the names and words of rows and columns."""
        rows, columns = (
            [
                {
                    "key": _head(label),
                    "parts": TextView.show_words(_tail(label)),
                }
                for label in labels
            ]
            for labels in (found.query_labels, found.post_labels)
        )
        return {
            "score": round(found.score, 6),
            "rows": rows,
            "columns": columns,
            "similarity": found.similarity.round(4).tolist(),
            "best": found.best.tolist(),
        }


def _show_match(match: Match, post: Post | None) -> dict[str, Any]:
    """Return the names of both nodes; that of a formula in a comment is looked up."""
    name = _head(match.post)
    if match.post.startswith("$"):
        mentions = post.formula_map if post is not None else ()
        named = (m.placeholder for m in mentions if f"${m.latex}$" == match.post)
        name = f"F{read_placeholder(next(named, 'FORMULA_0'))}"
    return {
        "query": _head(match.query),
        "post": name,
        "similarity": round(match.similarity, 4),
    }


def _list_nearest(found: Explanation) -> list[dict[str, Any]]:
    """Return the nearest sentence or formula for each part of the query."""
    mine, theirs = (
        {i: name for i, label in enumerate(labels) if (name := _head(label)) != "D"}
        for labels in (found.query_labels, found.post_labels)
    )
    matches = []
    for i, name in mine.items() if theirs else ():
        best = max(theirs, key=lambda j: found.similarity[i, j])
        similarity = round(float(found.similarity[i, best]), 4)
        matches.append({"query": name, "post": theirs[best], "similarity": similarity})
    return matches


def _show_part(part: ScorePart) -> dict[str, Any]:
    score = None if math.isnan(part.score) else round(part.score, 6)
    return {"system": part.system, "share": round(part.share, 6), "score": score}


def _head(label: str) -> str:
    return label.partition(" ")[0]


def _tail(label: str) -> str:
    return label.partition(" ")[2]


def _split(text: str, max_tokens: int) -> Iterator[tuple[bool, str]]:
    """Yield each sentence, and whether a paragraph begins with it."""
    place = 0
    for chunk in split_chunks(text, max_tokens):
        for sentence in chunk.sentences:
            found = text.find(sentence, place)
            if found < 0:  # spaces were changed
                yield False, sentence
                continue
            yield "\n" in text[place:found], sentence
            place = found + len(sentence)


def _holds(sentence: Mapping[str, Any], keys: Collection[str]) -> bool:
    return sentence["key"] in keys or any(
        part.get("key") in keys for part in sentence["parts"]
    )


def _show_pattern(found: PatternMatch | None) -> dict[str, Any] | None:
    """Return what query variables stand for; ``None`` where there are none."""
    if found is None:
        return None
    shown = {
        name: TextView.show_formula(latex) for name, latex in found.bindings.items()
    }
    return {"whole": found.is_whole, "bindings": shown}
