"""A collection as a dataset of ir_datasets, over records made here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("ir_datasets")

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import Failure, FormulaInstance, Judgment
from mathamr_kedro.corpus.raw import RawPost, RawTopic
from mathamr_kedro.integrations import open_dataset

pytestmark = pytest.mark.filterwarnings("ignore")

FAILURE = Failure("ingestion", "file", "1", "0", "bad", "nothing to be read")


def post(post_id, post_type, body, parent=None):
    return RawPost(
        "file", "1", post_id, post_type, parent, None, None, None, ("primes",), "",
        body, "markdown",
    )  # fmt: skip


def topic(topic_id, task, year, latex=None):
    return RawTopic(
        "file", topic_id, task, year, "On $p$", "Is $p$ odd?", (), None, latex,
        "markdown",
    )  # fmt: skip


class Records:
    """What cannot be read comes first."""

    def posts(self):
        yield FAILURE
        yield post("1", "question", "Is $p$ odd?")
        yield post("2", "answer", "$p$ is odd.", "1")
        yield post("3", "document", "On $q$.")

    def formulas(self):
        rows = [("f1", "v1", "1", "x"), ("f2", "v1", "1", "x"), ("f3", "v2", "1", "y")]
        yield FAILURE
        yield from (FormulaInstance(*row) for row in rows)
        yield FormulaInstance("f4", "v3", "2", "z")

    def topics(self):
        yield FAILURE
        yield topic("B.1", "task2", 2020, "x^2")
        yield topic("A.1", "task1", 2020)
        yield topic("A.2", "task1", 2021)

    def judgments(self):
        yield FAILURE
        yield Judgment("B.1", "v1", 1, "task2", "qrels")
        for name, grade in (("A.1", 3), ("A.9", 1), ("A.2", 0)):
            yield Judgment(name, "2", grade, "task1", "qrels")

    def checksum(self, part):
        return part


def test_answers_and_documents_are_what_is_searched():
    dataset = open_dataset(Records())
    answer, document = dataset.docs_iter()
    assert answer == ("2", "", "$p$ is odd.", ("primes",), "1")
    assert (document.doc_id, document.parent_id) == ("3", "")
    assert answer.default_text() == answer.text  # what PyTerrier indexes
    assert dataset.docs_count() == 2
    assert dataset.docs_cls() is type(answer)


def test_formulas_are_searched_by_their_looks():
    dataset = open_dataset(Records(), task=2)
    docs = list(dataset.docs_iter())
    assert docs == [("v1", "$x$"), ("v2", "$y$"), ("v3", "$z$")]
    assert docs[0].default_text() == "$x$"
    assert dataset.docs_cls() is type(docs[0])
    (query,) = dataset.queries_iter()
    assert (query.query_id, query.text) == ("B.1", "$x^2$")
    assert [*dataset.qrels_iter()] == [("B.1", "v1", 1)]


@pytest.mark.parametrize(("year", "names"), [(None, ["A.1", "A.2"]), (2021, ["A.2"])])
def test_topics_are_those_of_a_year(year, names):
    dataset = open_dataset(Records(), year=year)
    queries = list(dataset.queries_iter())
    assert [query.query_id for query in queries] == names
    assert queries[0].title == "On $p$"
    assert queries[0].default_text() == queries[0].text == "On $p$\n\nIs $p$ odd?"
    assert dataset.queries_cls() is type(queries[0])
    assert [q.query_id for q in dataset.qrels_iter()] == names
    assert dataset.queries_count() == dataset.qrels_count() == len(names)


def test_a_dataset_says_what_it_is():
    dataset = open_dataset(Records())
    grades = dataset.qrels_defs()
    assert list(grades) == [3, 2, 1, 0]
    assert grades[2] == "medium: a useful step"
    assert (dataset.docs_namespace(), dataset.docs_lang()) == (
        "mathamr_kedro/posts", "en",
    )  # fmt: skip
    assert (dataset.queries_namespace(), dataset.queries_lang()) == (
        "mathamr_kedro/task1", "en",
    )  # fmt: skip
    assert open_dataset(Records(), task=2).docs_namespace() == "mathamr_kedro/formulas"


@pytest.mark.parametrize("task", [0, 3])
def test_there_are_two_tasks(task):
    with pytest.raises(ConfigurationError, match=f"Expected task 1 or 2 .got {task}"):
        open_dataset(SimpleNamespace(), task=task)
