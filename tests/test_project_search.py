"""The search of a project: what it says before there is an index, and how it ranks."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro import project_search
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.records import FormulaMention, Topic
from mathamr_kedro.graph import FORMULA
from mathamr_kedro.stages import STAGES
from mathamr_kedro.vectors.post_vectors import PostEntry


def test_query_of_a_formula_is_its_node_alone():
    mentions = tuple(
        FormulaMention(f"FORMULA_{n}", f"q_{n}", f"v{n}", "x", 0, 9) for n in (4, 7)
    )
    text = "FORMULA_4 FORMULA_7"
    topic = Topic("B.1", "task2", 2021, "", (), text, mentions, "q_7", *[None] * 4)
    entry = PostEntry(
        "B.1", "topic", np.eye(3), [FORMULA, FORMULA, 2], [4, 7, 0], ["q_4", "q_7"]
    )
    chosen = project_search._choose_formula(entry, topic)
    np.testing.assert_array_equal(chosen.vectors, [[0, 1, 0]])
    assert (list(chosen.kinds), list(chosen.numbers)) == ([FORMULA], [7])
    assert (chosen.formula_ids, chosen.visual_ids) == (["q_7"], ["v7"])


def test_the_first_formula_of_a_topic_may_be_asked_for_twice():
    """It has the number 0, and stands in title and text."""
    mentions = tuple(
        FormulaMention("FORMULA_0", "q_0", "v0", "x", at, at + 9) for at in (0, 10)
    )
    text = "FORMULA_0 FORMULA_0"
    topic = Topic("B.1", "task2", 2021, "", (), text, mentions, "q_0", *[None] * 4)
    entry = PostEntry("B.1", "topic", np.eye(2), [FORMULA, 2], [0, 0], ["q_0"])
    chosen = project_search._choose_formula(entry, topic)
    np.testing.assert_array_equal(chosen.vectors, [[1, 0]])
    assert (list(chosen.numbers), chosen.visual_ids) == ([0], ["v0"])


@pytest.mark.parametrize(
    ("task", "latex", "shown", "nodes"),
    [
        ("task1", None, ["a", "b"], 3),
        ("task2", "x^2", ["a", "x^2"], 1),
        ("task2", None, ["a", "b"], 1),
    ],
)
def test_the_formula_that_is_asked_for_has_the_latex_of_the_topic(
    task, latex, shown, nodes
):
    mentions = tuple(
        FormulaMention(f"FORMULA_{n}", f"q_{n}", f"v{n}", "ab"[n], 10 * n, 10 * n + 9)
        for n in (0, 1)
    )
    asked = "q_1" if task == "task2" else None
    topic = Topic(
        "B.1", task, 2021, "", (), "FORMULA_0 FORMULA_1", mentions, asked, latex,
        *[None] * 3,
    )  # fmt: skip
    entry = PostEntry(
        "B.1", "topic", np.eye(3), [FORMULA, FORMULA, 2], [0, 1, 0], ["q_0", "q_1"]
    )
    vectors = SimpleNamespace(entries=lambda: [entry])
    store = SimpleNamespace(places={"B.1": 0}, read=lambda keys: vectors)
    tables = {
        "topics": SimpleNamespace(find=lambda column, key: topic),
        "topic_vectors": SimpleNamespace(read=lambda mark: store),
    }
    project = object.__new__(project_search._Project)
    project.catalog = SimpleNamespace(load=tables.__getitem__)
    project.mark, project.parsing = "m", SimpleNamespace(max_chunk_tokens=100)
    query = project.find_topic("B.1")
    assert [m.latex for m in query.clean.formula_map] == shown
    assert query.clean.text == topic.text
    assert len(query.entry.kinds) == nodes


class Opened:
    """A project whose parts note what is asked of them."""

    mark, indexing = "m", SimpleNamespace(engine="exact")
    parsing = SimpleNamespace(max_chunk_tokens=100)
    find_topic = None

    def __init__(self):
        self.encoded, self.is_open, self.opened = [], True, []
        self.catalog = SimpleNamespace(load=lambda name: name)
        self.places = SimpleNamespace(
            folder=lambda mark: Path("index") / mark, connect="connect"
        )

    def open_store(self):
        return SimpleNamespace(folder=Path("store"))

    def load_encoder(self):
        return SimpleNamespace(encode_text=self.encoded.append)

    def open_index(self, *place, beside_writers=False):
        assert beside_writers  # who adds posts need not wait until a search ends
        self.opened.append(place[2:])
        return SimpleNamespace(close=lambda: setattr(self, "is_open", False))


@pytest.fixture
def opened(monkeypatch):
    """Open a project whose tables have the same post, and one of their own each."""
    project = Opened()

    def find_in(name):
        return lambda *tables: lambda ids: {"same": name, name: name}

    systems = SimpleNamespace(
        open_posts=lambda *parts: "posts", open_formulas=lambda *parts: "formulas"
    )
    for name, value in {
        "_Project": lambda *place: project,
        "open_index": project.open_index,
        "RowFinder": find_in("table"),
        "AddedPosts": find_in("added"),
        "TextsBeside": find_in("beside"),
        "ProjectSystems": lambda *asked: systems,
        "StatementSearch": lambda catalog, found: found,
        "Searcher": lambda *parts: parts,
    }.items():
        monkeypatch.setattr(project_search, name, value)
    return project


def test_a_searcher_has_read_what_its_first_query_needs(opened):
    project_search.open_searcher()
    (text,) = opened.encoded
    assert text.count("$") == 2  # words and a formula
    assert opened.opened == [(Path("index/m"), "connect")]
    assert opened.is_open


def test_texts_that_were_added_stand_before_those_of_the_tables(opened):
    find_texts, posts, formulas = project_search.open_searcher()[3:6]
    assert (posts, formulas) == ("posts", "formulas")
    assert find_texts(["same"]) == {
        "same": "beside", "table": "table", "added": "added", "beside": "beside",
    }  # fmt: skip


def test_an_index_is_let_go_where_there_is_no_such_system(opened, monkeypatch):
    def refuse(*asked):
        raise ConfigurationError("no such system")

    monkeypatch.setattr(project_search, "ProjectSystems", refuse)
    with pytest.raises(ConfigurationError, match="no such system"):
        project_search.open_searcher(system="bm26")
    assert not opened.is_open


def test_an_index_of_another_encoder_is_refused(monkeypatch):
    entries = {"index": SimpleNamespace(exists=lambda: True)}
    catalog = type("Catalog", (), {
        "__getitem__": lambda self, name: entries[name],
        "load": lambda self, name: {"encoder": "old"},
    })()  # fmt: skip
    monkeypatch.setattr(project_search, "open_catalog", lambda *_: catalog)
    monkeypatch.setattr(project_search._Project, "mark", "new")
    with pytest.raises(
        ConfigurationError, match=r"'new' \(got one of 'old'\)"
    ) as caught:
        project_search.open_living_index("own")
    assert "kedro run --pipelines indexing --env own" in str(caught.value)
    monkeypatch.setattr(project_search._Project, "mark", "old")
    assert project_search._Project("own", None).places == {"encoder": "old"}


def test_an_encoder_that_reads_sentences_needs_their_encoder():
    project = object.__new__(project_search._Project)
    values = {"text_model": None}
    project.catalog = SimpleNamespace(load=lambda name: values)
    with pytest.raises(ConfigurationError, match=r"Expected preprocessing\.text_model"):
        project._load_text_model()


def test_the_encoder_of_sentences_is_that_of_the_stage(monkeypatch):
    project = object.__new__(project_search._Project)
    values = {"text_model": "minilm"}
    project.catalog = SimpleNamespace(load=lambda name: values)
    monkeypatch.setattr(project_search, "find_text_model", "folder of {}".format)
    monkeypatch.setattr(
        project_search,
        "SentenceEncoder",
        lambda folder: SimpleNamespace(encode=f"encode by {folder}"),
    )
    assert project._load_text_model() == "encode by folder of minilm"


def test_vectors_are_opened_without_reading_all_of_them():
    """A search begins at once; `mathamr doctor --verify` reads them."""
    asked = []

    def read(mark, verify=True):
        asked.append((mark, verify))
        return "store"

    project = object.__new__(project_search._Project)
    project.catalog = SimpleNamespace(load=lambda name: SimpleNamespace(read=read))
    project.mark = "m"
    assert project.open_store() == "store"
    assert asked == [("m", False)]


def test_missing_index_names_a_command_with_a_stage_that_exists(monkeypatch):
    catalog = {"index": SimpleNamespace(exists=lambda: False)}
    monkeypatch.setattr(project_search, "open_catalog", lambda *_: catalog)
    with pytest.raises(MissingInputError, match="kedro run --env own") as caught:
        project_search.open_searcher("own")
    (stage,) = re.findall(r"--pipelines ([\w.]+)", str(caught.value))
    assert stage in STAGES


def test_topics_without_vectors_are_named_with_those_that_have_some():
    """Whether they are unknown, or were added after the vectors were made."""
    topics = {name: object() for name in ("A.1", "A.3", "A.4")}
    tables = {
        "topics": SimpleNamespace(find=lambda column, key: topics.get(key)),
        "topic_vectors": SimpleNamespace(
            read=lambda mark: SimpleNamespace(places={"A.1": 0, "A.2": 1, "A.3": 2})
        ),
    }
    project = object.__new__(project_search._Project)
    project.catalog = SimpleNamespace(load=tables.__getitem__)
    project.mark = "m"
    assert project.find_topic("a question") is None
    for asked in ("A.4", "A.2", "A.9"):
        with pytest.raises(MissingInputError) as caught:
            project.find_topic(asked)
        assert f"(got '{asked}'); did you mean" in str(caught.value)
        assert "the index has 3 topics, from A.1 to A.3" in str(caught.value)


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("system", ["mathamr_plus", "bm25_tuples", "mathamr_plus+bm25"])
def test_search_for_a_formula_ranks_as_the_run_of_the_evaluation(
    demo, monkeypatch, system
):
    """Visual ids are what the run names; of each post the first is shown."""
    monkeypatch.chdir(demo)
    catalog = project_search.open_catalog("demo")
    folder = catalog.load("runs")
    records = {t.topic_id: t for t in catalog.load("topics").records()}
    (run,) = [r for e, r in folder if (e.task, e.system) == (2, system)]
    searcher = project_search.open_searcher("demo", system=system, finds="formulas")
    try:
        for topic in list(run.lists)[:3]:
            query = searcher._find_topic(topic)
            record = records[topic]
            latex = {m.formula_id: m.latex for m in record.formula_map}
            latex[record.formula_id] = record.latex
            assert {m.formula_id: m.latex for m in query.clean.formula_map} == latex
            found = searcher.find_formulas._search(query, None)[system].lists[topic]
            assert found.visual_ids == run.lists[topic].ids
            shown = [r.post_id for r in searcher.search_like(topic, top=20).results]
            assert shown == list(dict.fromkeys(found.post_ids))[:20]
    finally:
        searcher.close()


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("system", ["mathamr_plus", "bm25", "mathamr_plus+bm25"])
def test_search_for_a_topic_ranks_as_the_run_of_the_evaluation(
    demo, monkeypatch, system
):
    monkeypatch.chdir(demo)
    folder = project_search.open_catalog("demo").load("runs")
    (run,) = [r for e, r in folder if (e.task, e.system) == (1, system)]
    searcher = project_search.open_searcher("demo", system=system)
    try:
        for topic in ("A.1001", "A.1010", "A.1024"):
            found = searcher.search_like(topic, top=30).results
            assert [r.post_id for r in found] == run.lists[topic].ids[:30]
    finally:
        searcher.close()
