"""Threads and topics to the rows of a collection: posts, formulas, topics, judgments.

The id of a formula is 1,000 times the id of its post plus its running number in the
post (title, body, comments), so ids grow with the posts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from tools.sample.contents import Contents
from tools.sample.markdown_html import math_span, render_body, render_line
from tools.sample.rows import Collection, Row, SampleFormula
from tools.sample.threads import Thread
from tools.sample.timeline import (
    FIRST_COMMENT_ID,
    ThreadTimes,
    count_ids,
    draw_times,
    write_time,
)
from tools.sample.topics import add_topics

_FORMULAS_PER_POST = 1_000
_USERS = 240
_RELATED, _DUPLICATE = 1, 3
_VOTE_ACCEPTED, _VOTE_UP = 1, 2


class _Spans:
    """Writes formula spans of one post and remembers the formulas."""

    def __init__(self, post_id: int, thread_id: int) -> None:
        self.post_id, self.thread_id = post_id, thread_id
        self.formulas: list[SampleFormula] = []
        self.place = "title"
        self.comment_id: int | None = None

    def __call__(self, latex: str, _: bool = False) -> str:
        return math_span(latex, self.add(latex).formula_id)

    def add(self, latex: str, issue: str = "") -> SampleFormula:
        number = self.post_id * _FORMULAS_PER_POST + len(self.formulas) + 1
        row = SampleFormula(
            str(number), self.post_id, self.thread_id, self.place, self.comment_id,
            latex, issue,
        )  # fmt: skip
        self.formulas.append(row)
        return row


def build_collection(contents: Contents) -> Collection:
    """Number, date and render everything written."""
    collection = Collection()
    times = draw_times(contents.threads)
    _number_posts(contents.threads, times, collection)
    for thread in contents.threads:
        _add_thread(thread, times[thread.key], collection)
    _number_comments(collection)
    collection.posts.sort(key=lambda row: int(row["Id"]))
    collection.formulas.sort(key=lambda row: int(row.formula_id))
    collection.links = list(_links(contents.threads, collection))
    collection.tags = list(_tags(contents.threads))
    add_topics(contents, collection)
    return collection


def _number_posts(
    threads: Iterable[Thread], times: dict[str, ThreadTimes], collection: Collection
) -> None:
    names: list[tuple[str, int]] = []
    moments: list[datetime] = []
    for thread in threads:
        for number, moment in enumerate([times[thread.key][0], *times[thread.key][1]]):
            names.append((thread.key, number))
            moments.append(moment)
    for (key, number), post_id in zip(names, count_ids(moments), strict=True):
        if number == 0:
            collection.question_ids[key] = post_id
        else:
            collection.answer_ids[f"{key}#{number}"] = post_id


def _add_thread(thread: Thread, times: ThreadTimes, collection: Collection) -> None:
    rng = random.Random(f"rows/{thread.key}")
    users = rng.sample(range(1, _USERS + 1), len(thread.answers) + 1)
    question_id = collection.question_ids[thread.key]
    spans = _Spans(question_id, question_id)
    row = {"Id": str(question_id), "PostTypeId": "1"}
    row["CreationDate"] = write_time(times.question)
    row["ViewCount"] = str(40 + rng.randrange(400) + 90 * max(thread.score, 0))
    row |= {"Score": str(thread.score), "CommentCount": str(len(thread.comments))}
    row["OwnerUserId"] = str(users[0])
    row["Title"] = render_line(thread.title, spans)
    spans.place = "question"
    row["Body"] = render_body(thread.question, spans)
    row["AnswerCount"] = str(len(thread.answers))
    for number, answer in enumerate(thread.answers, start=1):
        if answer.accepted:
            row["AcceptedAnswerId"] = str(
                collection.answer_ids[f"{thread.key}#{number}"]
            )
    row["Tags"] = "".join(f"<{tag}>" for tag in thread.tags)
    collection.posts.append(row)
    _add_comments(thread.comments, times.question, spans, collection)
    _add_index_defects(thread, spans)
    collection.formulas.extend(spans.formulas)
    _add_votes(row, False, collection)
    for number, user in enumerate(users[1:], start=1):
        _add_answer(thread, number, times.answers[number - 1], user, collection)


def _add_answer(
    thread: Thread, number: int, moment: datetime, user: int, collection: Collection
) -> None:
    answer = thread.answers[number - 1]
    question_id = collection.question_ids[thread.key]
    answer_id = collection.answer_ids[f"{thread.key}#{number}"]
    spans = _Spans(answer_id, question_id)
    spans.place = "answer"
    row = {
        "Id": str(answer_id),
        "PostTypeId": "2",
        "ParentId": str(question_id),
        "CreationDate": write_time(moment),
        "Score": str(answer.score),
        "CommentCount": str(len(answer.comments)),
        "OwnerUserId": str(user),
        "Body": render_body(answer.text, spans),
    }
    collection.posts.append(row)
    _add_comments(answer.comments, moment, spans, collection)
    collection.formulas.extend(spans.formulas)
    _add_votes(row, answer.accepted, collection)


def _add_comments(
    comments: tuple[str, ...], moment: datetime, spans: _Spans, collection: Collection
) -> None:
    """Render comments; their ids are counted once all are known."""
    spans.place = "comment"
    rng = random.Random(f"comments/{moment.isoformat()}")
    for text in comments:
        moment += timedelta(minutes=rng.uniform(4, 240))
        spans.comment_id = len(collection.comments)
        collection.comments.append({
            "Id": "",
            "PostId": str(spans.post_id),
            "Score": str(rng.choice((0, 0, 0, 1, 1, 2, 4))),
            "Text": render_line(text, spans),
            "CreationDate": write_time(moment),
            "UserId": str(rng.randrange(1, _USERS + 1)),
        })  # fmt: skip


def _number_comments(collection: Collection) -> None:
    moments = [
        datetime.fromisoformat(row["CreationDate"]) for row in collection.comments
    ]
    ids = count_ids(moments, FIRST_COMMENT_ID)
    for row, comment_id in zip(collection.comments, ids, strict=True):
        row["Id"] = str(comment_id)
    collection.comments.sort(key=lambda row: int(row["Id"]))
    collection.formulas = [
        row if row.comment_id is None else row._replace(comment_id=ids[row.comment_id])
        for row in collection.formulas
    ]


def _add_index_defects(thread: Thread, spans: _Spans) -> None:
    """Mark and add rows of the formula index that carry an issue."""
    spans.formulas = [
        row._replace(issue="v") if row.latex in thread.corrected_visual_ids else row
        for row in spans.formulas
    ]
    spans.place, spans.comment_id = "question", None
    for latex, issue in thread.lost_formulas.items():
        spans.add(latex, issue)


def _add_votes(row: Row, accepted: bool, collection: Collection) -> None:
    """Write the acceptance and at most two up-votes, which keeps the file small."""
    kinds = [_VOTE_ACCEPTED] * accepted + [_VOTE_UP] * min(max(int(row["Score"]), 0), 2)
    day = row["CreationDate"][:10] + "T00:00:00.000"
    for kind in kinds:
        collection.votes.append({
            "Id": str(len(collection.votes) + 1),
            "PostId": row["Id"],
            "VoteTypeId": str(kind),
            "CreationDate": day,
        })  # fmt: skip


def _links(threads: Iterable[Thread], collection: Collection) -> Iterator[Row]:
    number = 0
    for thread in threads:
        links = [(key, _RELATED) for key in thread.related]
        if thread.duplicate_of is not None:
            links.append((thread.duplicate_of, _DUPLICATE))
        for key, kind in links:
            number += 1
            yield {
                "Id": str(number),
                "PostId": str(collection.question_ids[thread.key]),
                "RelatedPostId": str(collection.question_ids[key]),
                "LinkTypeId": str(kind),
            }


def _tags(threads: Iterable[Thread]) -> Iterator[Row]:
    counts: dict[str, int] = {}
    for thread in threads:
        for tag in thread.tags:
            counts[tag] = counts.get(tag, 0) + 1
    for number, tag in enumerate(sorted(counts), start=1):
        yield {"Id": str(number), "TagName": tag, "Count": str(counts[tag])}
