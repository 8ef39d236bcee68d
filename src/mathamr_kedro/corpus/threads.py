"""Threads: which answers belong to which questions, and the training pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from mathamr_kedro.base.records import Failure, TrainingPair
from mathamr_kedro.corpus.raw import make_failure

Answers = Literal["accepted", "all", "links", "judged"]
"""What makes a training pair: a question with its accepted answer, with every answer;
``links``: a statement with each one that its proof cites; ``judged``: a query with what
judgments for training call relevant."""


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
