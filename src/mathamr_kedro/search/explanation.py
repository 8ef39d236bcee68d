r"""Why a post was found: which node of the query matched which node of the post.

::

                     F0 x^2 = 2   S1 Let us square it   D
    F0 \sqrt{2}         0.91 *          0.20            0.33      each query node counts
    S1 Why is it ..     0.15            0.48 *          0.40      with its best partner,
    D                   0.31            0.37            0.62 *    score = mean of the *

Formulas are numbered from 0, as their placeholders are, and sentences from 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.amr import split_chunks
from mathamr_kedro.base.records import CleanText, FormulaMention
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import DOCUMENT, FORMULA, KIND_NAMES, SENTENCE
from mathamr_kedro.systems.query import ScorePart
from mathamr_kedro.vectors import PostEntry

_MAX_SIDE = 90
"""Letters of a sentence or formula when a match is shown."""
_PLACEHOLDER = re.compile(r"FORMULA_\d+")


class Node(NamedTuple):
    """A part of a text that has a vector: a formula, a sentence, or the whole."""

    kind: int
    """``FORMULA``, ``SENTENCE`` or ``DOCUMENT``."""
    number: int = 0
    """Of a formula or sentence in its text, from 0."""
    caption: str = ""
    """The formula between dollars, or the words of the sentence; empty: not known."""

    @property
    def key(self) -> str:
        """Its short name: ``F0``, ``S1``, ``D``."""
        letter = KIND_NAMES[self.kind][0].upper()
        if self.kind == DOCUMENT:
            return letter
        return f"{letter}{self.number + (self.kind == SENTENCE)}"

    def __str__(self) -> str:
        return f"{self.key} {self.caption}".rstrip()


class Match(NamedTuple):
    """A node of the query and its partner in a post, or in the question above it."""

    query: Node
    post: Node
    similarity: float
    weight: float
    """Of the similarity in the score, which is the sum of all ``share``."""
    in_question: bool = False
    """Whether the partner is in the question that the post answers."""
    note: str = ""
    """What was compared, if that is not MaxSim."""

    @property
    def share(self) -> float:
        """Its share of the score."""
        return self.weight * self.similarity

    def __str__(self) -> str:
        query = f"{self.query} ({self.note})" if self.note else f"{self.query}"
        post = f"question {self.post}" if self.in_question else f"{self.post}"
        sides = (
            s if len(s) <= _MAX_SIDE else f"{s[: _MAX_SIDE - 1]}…"
            for s in (query, post)
        )
        product = f" = {self.weight:.3f} × {self.similarity:6.3f}"
        shown = "" if self.weight == 1 else product
        return f"{self.share:8.4f}{shown}  {'  ~  '.join(sides)}"


def describe_source(part: ScorePart) -> str:
    """Describe the share of a system."""
    if math.isnan(part.score):
        return f"by {part.system}, which did not find it"
    return f"by {part.system}, whose own score is {part.score:.4f}"


def describe_parts(
    parts: Sequence[ScorePart], matches: Sequence[Match], limit: int
) -> list[str]:
    """Return lines that say what a score is the sum of.

    Args:
        parts: what each system gave; said if there are several.
        matches: of the first of them, or of their parts, that has terms.
        limit: matches that are shown, the largest; one line sums up the others.
    """
    matched = next((part for part in parts if part.terms), None)
    several = len(parts) > 1
    lines = [f"{p.share:8.4f}  {describe_source(p)}" for p in parts if several]
    for part in parts:
        if part.parts:
            lines.append(f"{part.system} {part.score:.4f} is the sum of:")
            lines += describe_parts(part.parts, matches, limit)
        if part.words and not math.isnan(part.score):
            lines.append(f"{part.system} {part.score:.4f} is the sum of:")
            lines += [f"{w.share:8.4f}  {w.word}" for w in part.words[:limit]]
    if several and matched is not None:
        lines.append(f"{matched.system} {matched.score:.4f} is the sum of:")
    if parts and matched is None:
        return lines
    lines += [str(match) for match in matches[:limit]]
    if others := matches[limit:]:
        rest = sum(match.share for match in others)
        lines.append(f"{rest:8.4f}  of {len(others):,} other matches")
    return lines


@dataclass(frozen=True, eq=False)
class Explanation:
    """The similarities between the nodes of a query and of a post."""

    query_key: PostId
    post_key: PostId
    query_nodes: tuple[Node, ...]
    post_nodes: tuple[Node, ...]
    similarity: NDArray[np.float64]
    """(query nodes, post nodes) cosines."""
    document: float | None = None
    """Cosine of the document vectors; ``None`` if one is missing."""
    parts: tuple[ScorePart, ...] = ()
    """What the score of a search is the sum of, if one was asked."""
    terms: tuple[Match, ...] = ()
    """The terms of the first part that has some, the largest first."""
    reasons: tuple[str, ...] = ()
    """What both have in common, in sentences."""

    @property
    def best(self) -> NDArray[np.int64]:
        """(query nodes,) the best partner of each."""
        return self.similarity.argmax(1)

    @property
    def score(self) -> float:
        """MaxSim divided by the number of query nodes (Eq. 3.7)."""
        return float(self.similarity.max(1).mean())

    @property
    def total(self) -> float:
        """The score of the search: the sum of all parts."""
        return sum(part.share for part in self.parts)

    def matches(self) -> list[Match]:
        """Return the best partner of each query node, best matches first."""
        rows, columns = (range(size) for size in self.similarity.shape)
        return sorted(self._match(rows, columns), key=lambda match: -match.similarity)

    def match_parts(self) -> list[Match]:
        """Return the best formula or sentence for each formula and sentence."""
        rows, columns = (
            [i for i, node in enumerate(nodes) if node.kind != DOCUMENT]
            for nodes in (self.query_nodes, self.post_nodes)
        )
        return self._match(rows, columns) if columns else []

    def _match(self, rows: Sequence[int], columns: Sequence[int]) -> list[Match]:
        best = self.similarity[np.ix_(rows, columns)].argmax(1).tolist()
        pairs = [(i, columns[j]) for i, j in zip(rows, best, strict=True)]
        weight = 1 / len(self.query_nodes)
        mine, theirs = self.query_nodes, self.post_nodes
        return [
            Match(mine[i], theirs[j], float(self.similarity[i, j]), weight)
            for i, j in pairs
        ]


def explain(
    query: PostEntry,
    post: PostEntry,
    query_text: CleanText | None = None,
    post_text: CleanText | None = None,
) -> Explanation:
    """Compare all nodes of a query with all nodes of a post."""
    mine, theirs = (p.vectors.astype(np.float64) for p in (query, post))
    whole, other = (p.document() for p in (query, post))
    document = None
    if whole is not None and other is not None:
        document = float(whole.astype(np.float64) @ other.astype(np.float64))
    return Explanation(
        query.key,
        post.key,
        list_nodes(query, query_text),
        list_nodes(post, post_text),
        mine @ theirs.T,
        document,
    )


def list_nodes(entry: PostEntry, text: CleanText | None = None) -> tuple[Node, ...]:
    r"""Return what the vectors of a text stand for, in their order.

    ::

        text    Why is FORMULA_0 irrational? Squaring gives FORMULA_1.
        F0      $\sqrt2$                    S1   Why is $\sqrt2$ irrational?
        F1      $a^2 = 2b^2$                S2   Squaring gives $a^2 = 2b^2$.

    Args:
        entry: the vectors.
        text: of what was encoded; without it, nodes have no captions. Sentences have
            none either if there is another number of them, as after a parser that
            splits texts its own way.
    """
    captions: dict[tuple[int, int], str] = {}
    if text is not None:
        for mention in text.formula_map:
            number = int(mention.placeholder.removeprefix("FORMULA_"))
            captions[FORMULA, number] = f"${mention.latex}$"
        chunks = split_chunks(text.text)
        sentences = [sentence for chunk in chunks for sentence in chunk.sentences]
        if len(sentences) == list(entry.kinds).count(SENTENCE):
            for number, sentence in enumerate(sentences):
                words = restore_formulas(sentence, text.formula_map)
                captions[SENTENCE, number] = words
    return tuple(
        Node(int(kind), int(number), " ".join(captions.get((kind, number), "").split()))
        for kind, number in zip(entry.kinds, entry.numbers, strict=True)
    )


def restore_formulas(text: str, formula_map: Sequence[FormulaMention]) -> str:
    r"""Replace placeholders by the LaTeX of their formulas.

    >>> mention = FormulaMention("FORMULA_0", "7", "3", r"\pi", 3, 12)
    >>> restore_formulas("Is FORMULA_0 rational?", [mention])
    'Is $\\pi$ rational?'
    """
    latex = {m.placeholder: f"${m.latex}$" for m in formula_map}
    return _PLACEHOLDER.sub(lambda m: latex.get(m[0], m[0]), text)
