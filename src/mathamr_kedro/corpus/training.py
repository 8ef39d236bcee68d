"""Training data: pairs from threads, and formulas beyond those that are searched.

```
returnable formulas ──┬──► systems that learn from formulas by themselves
posts and examples ───┤    (each different formula once)
topics of some years ─┤
further files ────────┘
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mathamr_kedro.base.records import (
    Failure,
    FormulaInstance,
    Post,
    Topic,
    TrainingPair,
)
from mathamr_kedro.corpus.extraction import PostCleaner, clean_in_batches
from mathamr_kedro.corpus.own_files import read_examples
from mathamr_kedro.corpus.raw import ExampleFiles, make_failure

Answers = Literal["accepted", "all", "links", "judged"]
"""Kinds of training pairs: a question with its accepted answer, or with every answer;
``links``: a statement with each one that its proof cites; ``judged``: a query with what
    training judgments call relevant."""


class Threads:
    """Questions and answers of a whole collection, by id.

    Args:
        posts: of each post the values of :attr:`COLUMNS`.
    """

    COLUMNS = ("post_id", "post_type", "parent_id", "accepted_answer_id")

    def __init__(
        self, posts: Iterable[tuple[str, str, str | None, str | None]]
    ) -> None:
        self._accepted: dict[str, str | None] = {}
        self._parents: dict[str, str | None] = {}
        for post_id, post_type, parent_id, accepted in posts:
            is_example = post_type == "example"
            is_reply = is_example and parent_id is not None
            if post_type == "question" or (is_example and not is_reply):
                self._accepted[post_id] = accepted
            elif post_type == "answer" or is_reply:
                self._parents[post_id] = parent_id

    def pairs(self, answers: Answers = "accepted") -> Iterator[TrainingPair]:
        """Yield question and accepted answer (thesis 3.4), or every answer of it."""
        if answers == "all":
            for answer, question in self._parents.items():
                if question in self._accepted:
                    yield TrainingPair(question, answer)
            return
        for question, accepted in self._accepted.items():
            if accepted is not None and self._parents.get(accepted) == question:
                yield TrainingPair(question, accepted)

    def problems(self) -> Iterator[Failure]:
        """Yield answers whose question is missing and accepted answers that are."""
        for answer, question in self._parents.items():
            if question is not None and question not in self._accepted:
                detail = f"its question {question} is not among the posts"
                yield _failure(answer, "question_missing", detail)
        for question, accepted in self._accepted.items():
            if accepted is None:
                continue
            if accepted not in self._parents:
                detail = f"its accepted answer {accepted} is not among the posts"
                yield _failure(question, "accepted_answer_missing", detail)
            elif self._parents[accepted] != question:
                detail = f"its accepted answer {accepted} answers another question"
                yield _failure(question, "accepted_answer_elsewhere", detail)


def _failure(post_id: str, reason: str, detail: str) -> Failure:
    return make_failure("posts", "", reason, detail, post_id, kept=True)


@dataclass(frozen=True)
class TrainingFormulas:
    """Formulas to learn from, in addition to those that may be returned."""

    posts: bool = False
    """Formulas of all posts, also of examples, which no search returns."""
    topics: tuple[int, ...] = ()
    """Years whose topics are not used for tests."""
    files: tuple[ExampleFiles, ...] = ()
    """Further texts, for collections without posts."""


def list_different(texts: Iterable[Post | Topic]) -> list[FormulaInstance]:
    """Return the first instance of each formula of some texts."""
    found: dict[str, FormulaInstance] = {}
    for text in texts:
        for m in text.formula_map:
            formula = FormulaInstance(m.formula_id, m.visual_id, text[0], m.latex)
            found.setdefault(m.visual_id, formula)
    return list(found.values())


def read_formulas(
    path: Path, kind: ExampleFiles, texts_at_once: int
) -> Iterator[list[FormulaInstance]]:
    """Yield the different formulas of a file of texts, some texts at a time."""
    raw = read_examples(path, path.name, kind.markup, kind.titles)
    for batch in clean_in_batches(raw, PostCleaner(), texts_at_once):
        yield list_different(batch.records)
