"""The rows of the sample's files, before MathML and visual ids are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tools.sample.threads import AnswerTopic


class SampleFormula(NamedTuple):
    """One formula instance; ``issue`` as in the v3 index (``d``, ``v`` or both)."""

    formula_id: str
    post_id: int
    thread_id: int
    place: str
    comment_id: int | None
    latex: str
    issue: str = ""


class SampleTopic(NamedTuple):
    """A Task 1 topic with its rendered text, and its Task 2 formula if it has one."""

    number: int
    thread_id: int
    source: AnswerTopic
    title: str
    question: str
    formula_id: str | None
    latex: str | None
    formula_grades: tuple[tuple[str, int], ...]
    """LaTeX and grade; visual ids are known only after the MathML."""


Row = dict[str, str]
"""The attributes of a ``<row/>`` in their order."""


@dataclass
class Collection:
    """The rows of every file, before MathML and visual ids."""

    posts: list[Row] = field(default_factory=list)
    comments: list[Row] = field(default_factory=list)
    links: list[Row] = field(default_factory=list)
    tags: list[Row] = field(default_factory=list)
    votes: list[Row] = field(default_factory=list)
    formulas: list[SampleFormula] = field(default_factory=list)
    topics: list[SampleTopic] = field(default_factory=list)
    topic_formulas: list[SampleFormula] = field(default_factory=list)
    answer_ids: dict[str, int] = field(default_factory=dict)
    """Post id of each ``area/short-name#n``."""
    question_ids: dict[str, int] = field(default_factory=dict)

    def distinct_latex(self) -> list[str]:
        """Return every LaTeX string once, sorted."""
        rows = [*self.formulas, *self.topic_formulas]
        return sorted({row.latex for row in rows})
