"""Judged documents, first results and pairs of nodes as pages."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaMention, Judgment, Post, Topic
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.experiments.cells import (
    CellStore,
    FinishedCell,
    read_results,
    tabulate_results,
)
from mathamr_kedro.experiments.examples import (
    ExamplesConfig,
    ExampleTexts,
    NodePair,
    compare_nodes,
    write_examples,
    write_pair,
)
from mathamr_kedro.experiments.grid import Experiment, list_cells
from mathamr_kedro.experiments.outcomes import summarise_experiment
from mathamr_kedro.experiments.results import GridResults, ShownRun
from mathamr_kedro.runs import TopicSet
from mathamr_kedro.trec import Qrels, Run
from mathamr_kedro.vectors import PostEntry, PostVectors
from tests.experiments.cells import PARAMETERS, save_cell

ROOT = FormulaMention("FORMULA_0", "q_1", "70", r"\sqrt{2}", 3, 12)
TOPIC = Topic(
    "A.301", "task1", 2022, "Is FORMULA_0 rational?", ("roots",),
    "Is FORMULA_0 rational?", (ROOT,), None, None, None, None, None,
)  # fmt: skip
FORMULA_TOPIC = TOPIC._replace(
    topic_id="B.301", task="task2", formula_id="q_1", latex=ROOT.latex
)
POSTS = {
    key: Post(key, "answer", "1", "1", None, None, 1, (), "", text, (ROOT,))
    for key, text in {
        "9": "No: FORMULA_0 is not.", "17": "Square it.", "20": "Yes.", "21": "Hm."
    }.items()
}  # fmt: skip
GRADES = {"20": 0, "17": 2, "99": 3, "21": 3, "9": 3}
LATEX = {"70": r"\sqrt{2}", "71": "x^2"}


def find(known):
    return lambda keys: {key: known[key] for key in keys if key in known}


TEXTS = ExampleTexts(
    [
        TopicSet(1, "ARQMath-3", (TOPIC,), Qrels({"A.301": GRADES})),
        TopicSet(2, "ARQMath-3", (FORMULA_TOPIC,), Qrels({"B.301": {"70": 3, "5": 0}})),
    ],
    find(POSTS),
    find(LATEX),
)
RUNS = [
    Run("mathamr_plus", {"A.301": Hits(["17", "4", "9"], np.array([0.9, 0.8, 0.7]))},
        task=1),
    Run("mathamr_plus", {"B.301": FormulaHits(
        ["f1", "f2", "f3"], np.array([1.0, 0.9, 0.8]), ["70", "70", "71"],
        ["9", "17", "20"])}, task=2),
]  # fmt: skip


@pytest.fixture
def cell(tmp_path):
    store = CellStore(tmp_path)
    experiment = Experiment("mine", {"a": {}}, "a", seeds=(1,))
    save_cell(store, list_cells(experiment, PARAMETERS)[0], {"mathamr_plus": 0.5})
    found = store.list()[0]
    found.results = tabulate_results(RUNS)
    return found


def write(cell, **changes) -> str:
    shown = [ShownRun("ours", cell, "mathamr_plus")]
    return write_examples("Test", shown, TEXTS, ExamplesConfig(**changes))


def test_first_results_of_formulas_are_distinct_ones():
    table = tabulate_results(RUNS)
    found = read_results(table, "mathamr_plus", "B.301", 3)
    assert [(r.rank, r.document, r.formula_id, r.post_id) for r in found] == [
        (1, "70", "f1", "9"),
        (2, "71", "f3", "20"),
    ]
    assert read_results(table, "mathamr_plus", "A.301", 1)[0].score == 0.9
    assert read_results(table, "bm25", "A.301", 1) == []


def test_results_can_be_those_that_were_judged():
    hits = Hits([str(n) for n in range(50)], np.linspace(1, 0, 50))
    judged = [Judgment("A.1", str(n), 2, "task1", "q") for n in (3, 20, 21, 40)]
    table = tabulate_results([Run("bm25", {"A.1": hits}, task=1)], judged)
    found = read_results(table, "bm25", "A.1", 3, {"3", "20", "21", "40"})
    assert [(r.rank, r.document) for r in found] == [(4, "3"), (21, "20"), (22, "21")]
    assert len(table) == 10 + 3


def test_each_grade_has_its_first_document_of_the_collection(cell):
    page = write(cell, judged=("A.301",), results=())
    assert "### Topic A.301: Is $\\sqrt{2}$ rational?" in page
    assert "**Relevance 3 (high), post 9**\n\n> No: $\\sqrt{2}$ is not." in page
    assert "**Relevance 2 (medium), post 17**\n\n> Square it." in page
    assert "**Relevance 1 (low)**: none in the collection, 0 judged." in page
    assert "**Relevance 0 (not relevant), post 20**" in page
    assert "Tags: roots" in page


def test_results_have_rank_grade_score_and_words(cell):
    page = write(cell, judged=(), results=("A.301", "B.301"), top=2)
    assert "#### ours (seed 1)" in page
    assert "**Rank 1, post 17, relevance 2, score 0.900**\n\n> Square it." in page
    assert "**Rank 2, post 4, not judged, score 0.800**\n\n(not in the coll" in page
    assert "Rank 3" not in page
    assert "**Rank 1, visual id 70, relevance 3, score 1.000**\n\n$$\\sqrt{2}$$" in page
    assert r"Query formula `q_1`: $\sqrt{2}$" in page


def test_a_topic_of_the_collection_stands_in(cell):
    page = write(cell, judged=("A.302",), results=("B.999",))
    assert "A.302 is not among the topics here" in page
    assert page.count("### Topic A.301") == page.count("### Topic B.301") == 1
    nothing = ExampleTexts([], find(POSTS), find(LATEX))
    page = write_examples("Test", [], nothing, ExamplesConfig())
    assert page.count("No topic of its task has judgments.") == 4


def test_cells_of_older_versions_say_what_to_do(cell):
    (cell.folder / "results.parquet").unlink()
    with pytest.raises(MalformedInputError, match="delete the folder"):
        write(FinishedCell(cell.folder), results=("A.301",))


def test_more_results_than_recorded_are_refused():
    with pytest.raises(ConfigurationError, match="Expected 1 to 10 results"):
        ExamplesConfig(top=11)


def test_rows_are_shown_by_their_best_seed(tmp_path):
    store = CellStore(tmp_path)
    experiment = Experiment(
        "mine", {"a": {}, "b": {"evaluation": {"depth": 5}}}, "a", seeds=(1, 2, 3)
    )
    means = {1: 0.4, 2: 0.6, 3: 0.5}
    for one in list_cells(experiment, PARAMETERS):
        save_cell(store, one, {"mathamr_plus": means[one.seed]})
    grid = GridResults.find(experiment, PARAMETERS, store)
    shown = summarise_experiment(grid, TestConfig(num_samples=50), None).shown
    assert [(run.label, run.cell.record.seed) for run in shown] == [("a", 2), ("b", 2)]


def make_store(*entries: PostEntry):
    places = {entry.key: n for n, entry in enumerate(entries)}
    vectors = PostVectors.of(list(entries))
    return SimpleNamespace(
        places=places, read=lambda keys: vectors.take([places[key] for key in keys])
    )


def entry(key: str, kind: str, seed: int) -> PostEntry:
    vectors = np.random.default_rng(seed).normal(size=(3, 4)).astype("f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return PostEntry(key, kind, vectors, [0, 1, 2], [0, 0, 0], ["f"], ["70"])


def make_shown(name: str, mark: str | None) -> ShownRun:
    record = SimpleNamespace(encoder={"vectors": mark} if mark else {}, seed=1)
    folder = SimpleNamespace(name=name)
    return ShownRun(name, SimpleNamespace(record=record, folder=folder), "mathamr_plus")


def read_vectors(mark: str):
    if mark == "gone":
        raise MissingInputError("deleted")
    seed = int(mark)
    return (
        make_store(entry("A.301", "topic", seed)),
        make_store(entry("9", "answer", seed + 1), entry("21", "answer", seed + 2)),
    )


def test_the_same_pair_is_compared_under_each_condition(caplog):
    shown = [make_shown("none", "1"), make_shown("full", "5"), make_shown("x", "gone"),
             make_shown("old", None)]  # fmt: skip
    found = compare_nodes(shown, TEXTS, NodePair("A.301", "21"), read_vectors)
    assert list(found) == ["none", "full"]
    assert "no picture of x: deleted" in caplog.text
    query, post = entry("A.301", "topic", 1), entry("21", "answer", 3)
    expected = query.vectors @ post.vectors.T
    assert found["none"].similarity == pytest.approx(expected, abs=1e-6)
    assert str(found["none"].query_nodes[0]) == r"F0 $\sqrt{2}$"
    page = write_pair(NodePair("A.301", "21"), found)
    assert "replace them" not in page
    assert f"| full | {found['full'].score:.3f} |" in page


def test_the_most_relevant_post_replaces_a_missing_one():
    wanted = NodePair("A.301", "591846")
    found = compare_nodes([make_shown("none", "1")], TEXTS, wanted, read_vectors)
    assert found["none"].post_key == "9"  # grade 3, the smallest id with vectors
    assert "replace them" in write_pair(wanted, found)
    assert compare_nodes([], TEXTS, wanted, read_vectors) == {}
    assert "No judged topic" in write_pair(wanted, {})
