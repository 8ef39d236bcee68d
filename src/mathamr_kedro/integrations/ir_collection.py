"""A raw collection, such as a local ARQMath folder, as a dataset of ir_datasets.

::

    collection = open_catalog("arqmath").load("collection")
    dataset = open_dataset(collection, task=1, year=2021)
    ir_datasets.registry.register("arqmath/2021/task1", dataset)

From then on everything that takes an ir_datasets name knows it, PyTerrier among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ir_datasets
from ir_datasets.formats.base import BaseDocs, BaseQrels, BaseQueries, GenericQrel
from ir_datasets.indices import PickleLz4FullStore

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import Failure, restore_latex
from mathamr_kedro.corpus import Collection, Part, clean_text

_GRADES = {
    3: "high: answers the question by itself",
    2: "medium: a useful step",
    1: "low: may help to understand",
    0: "not relevant",
}
_RETURNED = frozenset({"answer", "document"})


def open_dataset(
    collection: Collection, task: int = 1, year: int | None = None
) -> ir_datasets.Dataset:
    """Return documents, queries and judgments of a collection.

    Formulas are between dollars. Documents of Task 1 are answers (or the documents of
    an own corpus), those of Task 2 formulas by visual id; a query of Task 2 is a
    formula. What cannot be read is skipped, as in the stage ``ingestion``.

    Args:
        collection: e.g. ``open_catalog("arqmath").load("collection")``, or an
            :class:`~mathamr_kedro.corpus.ArqmathCollection` over a folder.
        task: 1 or 2.
        year: of the topics and their judgments; all if ``None``.

    Raises:
        ConfigurationError: there is no such task.
    """
    if task not in (1, 2):
        raise ConfigurationError(f"Expected task 1 or 2 (got {task!r})")
    queries = _Queries(collection, f"task{task}", year)
    docs = _Formulas(collection) if task == 2 else _Posts(collection)
    return ir_datasets.Dataset(docs, queries, _Qrels(collection, queries))


class _Document(NamedTuple):
    doc_id: str
    title: str
    text: str
    tags: tuple[str, ...]
    parent_id: str

    def default_text(self) -> str:
        return self.text


class _Formula(NamedTuple):
    doc_id: str
    text: str

    def default_text(self) -> str:
        return self.text


class _Query(NamedTuple):
    query_id: str
    text: str
    title: str
    tags: tuple[str, ...]

    def default_text(self) -> str:
        return self.text


class _Docs(BaseDocs):
    """Documents of a collection, read from its files whenever they are asked for."""

    part: Part = "posts"

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._count: int | None = None

    def docs_iter(self) -> Iterator[NamedTuple]:
        raise NotImplementedError

    def docs_count(self) -> int:
        if self._count is None:
            self._count = sum(1 for _ in self.docs_iter())
        return self._count

    def docs_store(self) -> PickleLz4FullStore:
        checksum = self._collection.checksum(self.part)
        home = Path(ir_datasets.util.home_path()) / "mathamr_kedro"
        return PickleLz4FullStore(
            path=str(home / f"{self.part}-{checksum}.pklz4"),
            init_iter_fn=self.docs_iter,
            data_cls=self.docs_cls(),
            lookup_field="doc_id",
            index_fields=["doc_id"],
        )

    def docs_namespace(self) -> str:
        return f"mathamr_kedro/{self.part}"

    def docs_lang(self) -> str:
        return "en"


class _Posts(_Docs):
    def docs_iter(self) -> Iterator[_Document]:
        for post in self._collection.posts():
            if isinstance(post, Failure) or post.post_type not in _RETURNED:
                continue
            text = _write_text(post.title, post.body, post.post_id, post.markup)
            title = _write_text("", post.title, post.post_id, post.markup)
            parent = post.parent_id or ""
            yield _Document(post.post_id, title, text, post.tags, parent)

    def docs_cls(self) -> type:
        return _Document


class _Formulas(_Docs):
    part: Part = "formulas"

    def docs_iter(self) -> Iterator[_Formula]:
        seen: set[str] = set()
        for row in self._collection.formulas():
            if isinstance(row, Failure) or row.visual_id in seen:
                continue
            seen.add(row.visual_id)
            yield _Formula(row.visual_id, f"${row.latex}$")

    def docs_cls(self) -> type:
        return _Formula


class _Queries(BaseQueries):
    def __init__(self, collection: Collection, task: str, year: int | None) -> None:
        self._collection, self.task, self._year = collection, task, year

    def queries_count(self) -> int:
        return sum(1 for _ in self.queries_iter())

    def queries_iter(self) -> Iterator[_Query]:
        for topic in self._collection.topics():
            if isinstance(topic, Failure) or topic.task != self.task:
                continue
            if self._year is not None and topic.year != self._year:
                continue
            text = f"${topic.latex}$"
            if topic.latex is None:
                text = _write_text(
                    topic.title, topic.question, topic.topic_id, topic.markup
                )
            title = _write_text("", topic.title, topic.topic_id, topic.markup)
            yield _Query(topic.topic_id, text, title, topic.tags)

    def queries_cls(self) -> type:
        return _Query

    def queries_namespace(self) -> str:
        return f"mathamr_kedro/{self.task}"

    def queries_lang(self) -> str:
        return "en"


class _Qrels(BaseQrels):
    def __init__(self, collection: Collection, queries: _Queries) -> None:
        self._collection, self._queries = collection, queries

    def qrels_count(self) -> int:
        return sum(1 for _ in self.qrels_iter())

    def qrels_iter(self) -> Iterator[GenericQrel]:
        known = {query.query_id for query in self._queries.queries_iter()}
        for found in self._collection.judgments():
            if isinstance(found, Failure) or found.task != self._queries.task:
                continue
            if found.topic_id in known:
                yield GenericQrel(found.topic_id, found.doc_id, found.grade)

    def qrels_cls(self) -> type:
        return GenericQrel

    def qrels_defs(self) -> dict[int, str]:
        return _GRADES


def _write_text(title: str, body: str, owner: str, markup: str) -> str:
    clean, _ = clean_text(title, body, owner, markup=markup)
    return restore_latex(*clean)
