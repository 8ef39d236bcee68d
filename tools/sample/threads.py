"""What the sample is made of: threads, and topics with their judgments.

Texts are light Markdown: paragraphs between blank lines, ``$..$`` and ``$$..$$``,
``**bold**``, ``*emphasis*``, ```code```, ``[text](url)``, lines that start with ``- ``
(list), ``1. `` (numbered list) or ``> `` (quote). A text that starts with ``<`` is
HTML already (:mod:`tools.sample.markdown_html`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answer:
    """An answer of a thread."""

    text: str
    accepted: bool = False
    score: int = 1
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thread:
    """A question with its answers."""

    key: str
    """Unique, ``area/short-name``; never changes, judgments refer to it."""
    title: str
    question: str
    tags: tuple[str, ...]
    answers: tuple[Answer, ...]
    score: int = 1
    comments: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    """Keys of related threads."""
    duplicate_of: str | None = None
    lost_formulas: Mapping[str, str] = field(default_factory=dict)
    """Rows of the formula index that no post holds: LaTeX to issue (``d``, ``dv``)."""
    corrected_visual_ids: tuple[str, ...] = ()
    """LaTeX whose visual id was corrected in the formula index (issue ``v``)."""


@dataclass(frozen=True)
class AnswerTopic:
    """A Task 1 topic: a later question, asked differently from every thread.

    ``grades`` maps answers, written ``"area/short-name#1"`` for the first answer of a
    thread, to ARQMath grades: 3 answers the question alone, 2 a useful step,
    1 may help to understand, 0 judged and not relevant (the hard negatives).
    """

    key: str
    title: str
    question: str
    tags: tuple[str, ...]
    grades: Mapping[str, int]
    category: str
    """``Proof``, ``Concept`` or ``Computation``."""
    difficulty: str
    """``Low``, ``Medium`` or ``High``."""
    dependency: str
    """``Text``, ``Formula`` or ``Both``: what carries the need."""


@dataclass(frozen=True)
class FormulaTopic:
    """A Task 2 topic: one formula of an :class:`AnswerTopic`'s question.

    ``grades`` maps LaTeX of formulas, exactly as in the threads between the
    dollars, to grades: 3 as good as the query itself, 2 useful with some reading,
    1 somewhat similar, 0 judged and not useful (looks alike, means something else).
    """

    topic: str
    """Key of the answer topic whose question holds the formula."""
    latex: str
    grades: Mapping[str, int] = field(default_factory=dict)
