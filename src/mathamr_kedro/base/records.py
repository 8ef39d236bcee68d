"""The records that stages exchange, one class per row of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mathamr_kedro.base.types import (
    FormulaId,
    Grade,
    PostId,
    PostType,
    TopicId,
    VisualId,
)


class FormulaMention(NamedTuple):
    """One formula at its position in a clean text: an entry of ``formula_map``.

    ``text[start:end]`` is the placeholder, e.g. ``FORMULA_0``.
    """

    placeholder: str
    formula_id: FormulaId
    visual_id: VisualId
    latex: str
    start: int
    end: int


class CleanText(NamedTuple):
    """Text as a reader reads it, formulas replaced by ``FORMULA_0, FORMULA_1, ...``."""

    text: str
    formula_map: tuple[FormulaMention, ...]


def restore_latex(text: str, formula_map: Iterable[FormulaMention]) -> str:
    """Return a clean text with ``$LaTeX$`` instead of the placeholders.

    >>> mention = FormulaMention("FORMULA_0", "17", "4", "y^2", start=2, end=11)
    >>> restore_latex("x FORMULA_0.", [mention])
    'x $y^2$.'
    """
    parts: list[str] = []
    end = 0
    for mention in sorted(formula_map, key=lambda m: m.start):
        parts += [text[end : mention.start], f"${mention.latex}$"]
        end = mention.end
    return "".join([*parts, text[end:]])


class Post(NamedTuple):
    """A question, an answer, or a document of an own corpus.

    ``text`` holds the title first (questions), then the body.
    """

    post_id: PostId
    post_type: PostType
    thread_id: PostId
    parent_id: PostId | None = None
    accepted_answer_id: PostId | None = None
    creation_date: str | None = None
    score: int | None = None
    tags: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    formula_map: tuple[FormulaMention, ...] = ()


class Comment(NamedTuple):
    """A remark under a post."""

    comment_id: str
    post_id: PostId
    text: str
    formula_map: tuple[FormulaMention, ...]


class Formula(NamedTuple):
    """One row of the formula index, its three representations side by side."""

    formula_id: FormulaId
    post_id: PostId
    visual_id: VisualId
    place: str = "body"
    """``title``, ``question``, ``answer``, ``comment`` or ``body``."""
    comment_id: str | None = None
    issue: str = ""
    """``d``: not in the XML; ``v``: visual id was corrected; ``dv``: both."""
    latex: str = ""
    presentation: str = ""
    """Presentation MathML or the bracket string of the SLT; empty: none was made."""
    content: str = ""
    """Content MathML or the bracket string of the OPT; empty: none was made."""

    @classmethod
    def of_mention(cls, mention: FormulaMention, owner: PostId) -> Formula:
        """Return a formula that was found in a text as a row of the formula index."""
        return cls(mention.formula_id, owner, mention.visual_id, latex=mention.latex)


class FormulaInstance(NamedTuple):
    """A formula that a search for formulas (Task 2) may return."""

    formula_id: FormulaId
    visual_id: VisualId
    post_id: PostId
    """Of a formula in a comment: the post that the comment belongs to."""
    latex: str
    comment_id: str | None = None


class Topic(NamedTuple):
    """A question to answer (Task 1) or a formula in its question (Task 2)."""

    topic_id: TopicId
    task: str
    """``task1``, ``task2`` or ``ntcir12``."""
    year: int
    title: str = ""
    tags: tuple[str, ...] = ()
    text: str = ""
    formula_map: tuple[FormulaMention, ...] = ()
    formula_id: FormulaId | None = None
    """Task 2: the query formula, one of ``formula_map``."""
    latex: str | None = None
    """Task 2 and NTCIR-12: its LaTeX."""
    category: str | None = None
    difficulty: str | None = None
    dependency: str | None = None


class Judgment(NamedTuple):
    """One line of qrels: how well a document answers a topic.

    ARQMath grades: 3 high (answers the question by itself), 2 medium (a useful step),
    1 low (may help to understand), 0 not relevant; 2 and 3 count as relevant.
    """

    topic_id: TopicId
    doc_id: str
    """Post id (Task 1), visual id (Task 2), formula name (NTCIR-12)."""
    grade: Grade
    task: str
    """``task1``, ``task2``, ``task2_formulas`` (formula ids) or ``ntcir12``."""
    source: str
    """File that it comes from; two years may judge the same topic."""


TEXT = "text"
"""Kind of the text outside statements."""


class Statement(NamedTuple):
    """A post of an own corpus that is a statement: a theorem, lemma, definition, ...

    With ``unit: statement`` every document has a row here; text outside statements has
    the kind ``text``.
    """

    post_id: PostId
    kind: str
    """As the book prints it, in small letters: ``lemma``, ``theorem``, ``text``."""
    number: str | None = None
    """As printed: ``10.15.2``; ``None``: it has none."""
    name: str | None = None
    """As in "Lemma 10.15.2 (Prime avoidance)"."""
    label: str | None = None
    section: str = ""
    chapter: str = ""
    """Title of the chapter, or of the document."""
    source: str = ""
    """File name, relative to the raw folder."""
    place: str = ""
    proved: bool = False
    proof: str = ""
    """Its proofs as text with LaTeX; they are no part of the text of the post."""
    contexts: str = ""
    """Words of the sentences that cite it, e.g. "by Chow's lemma (Lemma)"."""
    url: str = ""
    """Its address on the web, if the collection knows it."""


class StatementLink(NamedTuple):
    """A statement whose proof cites another one."""

    post_id: PostId
    premise_id: PostId


class TrainingPair(NamedTuple):
    """A question and an answer that belong together."""

    question_id: PostId
    answer_id: PostId


class ChosenPost(NamedTuple):
    """Why a post belongs to a subset of its collection; a post may have two reasons."""

    post_id: PostId
    reason: str
    """``judged``, ``question`` (of a judged answer) or ``training``."""
    answer_id: PostId | None
    """``training``: the answer that was drawn with this question."""


TRANSIENT = frozenset({"timeout", "worker_died", "out_of_memory", "unreadable_file"})
"""Reasons of failures that the machine caused, not the record."""


class Failure(NamedTuple):
    """Something wrong with an input record. Nothing is lost silently.

    ``kept`` tells whether the record was kept anyway (``True``: a defect worth knowing)
    or dropped (``False``): records read = written + dropped.
    """

    stage: str
    source: str
    """File name, relative to the raw folder."""
    place: str
    """Line, row or offset in the source."""
    record_id: str
    reason: str
    """Short code to count by, e.g. ``duplicate_post_id``."""
    detail: str
    """What was found and what was expected, for a person."""
    kept: bool = False
    kind: str = "permanent"
    """``transient``: the machine caused it, and the next run tries again;
    ``permanent``: it would fail again, until its text, the parameters or the code
    change."""

    def classify(self) -> Failure:
        """Return the failure with the kind of its reason."""
        kind = "transient" if self.reason in TRANSIENT else "permanent"
        return self._replace(kind=kind)
