r"""Queries with known answers for any collection: names, slogans, titles.

```
queries.jsonl     {"id": "name-012", "kind": "name", "text": "Baer's criterion",
                   "relevant": ["injectives-lemma-criterion-baer"]}
```

``relevant`` holds ids of documents, or names of those that have no id. ``tags`` and
``titles`` instead of a file are queries made from the posts: the name of a tag asks for
the answers under it, the title of a question for its answers. A query none of whose
answers is a document is dropped and reported. If a collection has statements, only they
are candidates, not the prose between them. There are no training pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import (
    Failure,
    Formula,
    Judgment,
    Statement,
    StatementLink,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus.json_records import read_records
from mathamr_kedro.corpus.premises import name_id
from mathamr_kedro.corpus.raw import (
    Collection,
    Part,
    RawComment,
    RawPost,
    RawTopic,
    make_failure,
)

_TASK = "task1"
_MADE = ("tags", "titles")
"""Queries that are made from posts."""


_Record = TypeVar("_Record", RawPost, Statement)
_Query = tuple[RawTopic, tuple[PostId, ...]]
"""A query, and its answers among the documents."""


class KnownItems(Collection):
    """A collection with these queries in place of its topics.

    Args:
        documents: the collection.
        queries: files in JSONL, ``tags``, ``titles``.
        names: whether the names of documents are searched.
    """

    def __init__(
        self, documents: Collection, queries: Sequence[str], names: bool = True
    ) -> None:
        super().__init__(documents.root)
        self._documents, self._queries, self._names = documents, queries, names

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part, in order."""
        files = [Path(name) for name in self._queries if name not in _MADE]
        match part:
            case "topics" | "qrels":
                for file in files:
                    if not file.is_file():
                        raise MissingInputError(
                            f"Expected queries at {str(file)!r}; set MATHAMR_QUERIES "
                            "to the folder of the file (docs/data.md)"
                        )
                return files + self._documents.list_files("posts")
            case "topic_formulas" | "topic_notes" | "pairs":
                return []
        return self._documents.list_files(part)

    @property
    def _settings(self) -> tuple[str, ...]:
        return (str(self._names), *self._documents._settings)

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the documents, without names if these are not searched."""
        return self._filter(self._documents.posts(), title="")

    def comments(self) -> Iterator[RawComment | Failure]:
        """Yield the comments of the collection."""
        return self._documents.comments()

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formula index of the collection."""
        return self._documents.formulas()

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield the records of the documents that are statements."""
        return self._filter(self._documents.statements(), name=None)

    def _filter(
        self, records: Iterable[_Record | Failure], **nameless: Any
    ) -> Iterator[_Record | Failure]:
        """Yield those of candidates, without their names if these are not searched."""
        for found in records:
            if isinstance(found, Failure):
                yield found
            elif self._statements is None or found.post_id in self._statements:
                yield found if self._names else found._replace(**nameless)

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield what the proofs of statements cite."""
        return self._documents.statement_links()

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the queries; those without an answer in the collection are failures."""
        seen: set[str] = set()
        for found in self._read():
            if isinstance(found, Failure):
                yield found
                continue
            topic, relevant = found
            key, where = topic.topic_id, (topic.source, topic.place)
            if key in seen:
                detail = f"query {key} was read before; the first one is kept"
                yield make_failure(*where, "duplicate_query_id", detail, key)
            elif not relevant:
                detail = "none of its answers is among the documents"
                yield make_failure(*where, "answer_missing", detail, key)
            else:
                seen.add(key)
                yield topic

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the answers of each query that are among the documents."""
        seen: set[str] = set()
        for found in self._read():
            if not isinstance(found, Failure) and found[0].topic_id not in seen:
                topic, relevant = found
                seen.add(topic.topic_id)
                for key in dict.fromkeys(relevant):
                    yield Judgment(topic.topic_id, key, 1, _TASK, topic.source)

    @cached_property
    def _statements(self) -> set[PostId] | None:
        """Ids of the candidates; ``None``: all documents are."""
        return set(self._documents.statement_ids()) or None

    @cached_property
    def _candidates(self) -> set[PostId]:
        if self._statements is not None:
            return self._statements
        return {p.post_id for p in self._documents.posts() if isinstance(p, RawPost)}

    def _read(self) -> Iterator[_Query | Failure]:
        for name in self._queries:
            if name in _MADE:
                yield from self._ask_tags() if name == "tags" else self._ask_titles()
                continue
            for found in read_records(Path(name), Path(name).name):
                yield found if isinstance(found, Failure) else self._query(name, *found)

    def _query(self, name: str, place: str, record: dict[str, Any]) -> _Query | Failure:
        source = Path(name).name
        key, text, relevant = (record.get(k) for k in ("id", "text", "relevant"))
        if not (key and isinstance(text, str) and isinstance(relevant, list)):
            detail = (
                f"expected id, text and a list 'relevant', got {str(record)[:80]!r}"
            )
            return make_failure(source, place, "bad_record", detail)
        ids = (name_id(str(answer)) for answer in relevant)
        known = tuple(key for key in ids if key in self._candidates)
        return _ask(source, place, str(key), text), known

    def _ask_tags(self) -> Iterator[_Query]:
        under: dict[str, list[PostId]] = {}
        for question in self._questions.values():
            for tag in question.tags:
                under.setdefault(tag, []).extend(self._answers[question.post_id])
        for tag, answers in under.items():
            words = tag.replace("-", " ")
            yield _ask("tags", tag, f"tag-{tag}", words), tuple(answers)

    def _ask_titles(self) -> Iterator[_Query]:
        for post_id, post in self._questions.items():
            topic = _ask(post.source, post.place, f"title-{post_id}", post.title)
            topic = topic._replace(markup=post.markup)
            yield topic, tuple(self._answers[post_id])

    @cached_property
    def _questions(self) -> dict[PostId, RawPost]:
        """Questions that have a title and an answer."""
        return {
            post.post_id: post
            for post in self._documents.posts()
            if isinstance(post, RawPost)
            and post.title
            and post.post_id in self._answers
        }

    @cached_property
    def _answers(self) -> dict[PostId, list[PostId]]:
        found: dict[PostId, list[PostId]] = {}
        for post in self._documents.posts():
            if isinstance(post, RawPost) and post.post_type == "answer":
                found.setdefault(post.parent_id or "", []).append(post.post_id)
        return found


def _ask(source: str, place: str, key: str, text: str) -> RawTopic:
    return RawTopic(
        source, key, _TASK, year=0, question=text, markup="markdown", place=place
    )
