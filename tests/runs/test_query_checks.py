import numpy as np
import pytest

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaMention, Topic
from mathamr_kedro.formula import (
    FormulaTree,
    FormulaTrees,
    TreeStore,
    find_trees,
    trees_from_latex,
)
from mathamr_kedro.formula.tree_rows import TreeRow
from mathamr_kedro.runs import (
    find_blank_queries,
    leave_out_queries,
    list_unsearched,
)
from mathamr_kedro.trec import Run


def topic(key, latex, formula_id="q_1", task="task2"):
    mention = FormulaMention("FORMULA_0", "q_1", "x1", latex, 0, 9)
    return Topic(
        key, task, 2022, "", (), "FORMULA_0", (mention,), formula_id, latex, None, None,
        None,
    )  # fmt: skip


def read(formula):
    return trees_from_latex(formula.latex)


@pytest.mark.parametrize("latex", ["", r"\qquad", r"\,", "{}", r"\text{}"])
def test_query_that_shows_nothing_is_refused_with_its_reason(latex):
    found = find_blank_queries([topic("B.301", latex), topic("B.302", "x")], read)
    assert list(found) == ["B.301"]
    assert "'q_1' has no tree" in found["B.301"]


def test_topics_of_task_1_have_no_query_formula():
    question = topic("A.1", "", None, "task1")
    assert find_blank_queries([question], read) == {}
    assert [*find_blank_queries([question, topic("B.301", "")], read)] == ["B.301"]


def test_topics_that_were_not_searched_are_listed_with_their_reason():
    hits = FormulaHits([], [], [], [])
    topics = [
        topic("B.1", "x"),
        topic("B.2", ""),
        topic("B.3", "x", "q_9"),
        topic("B.4", "x"),
    ]
    runs = [
        Run("vectors", {"B.1": hits}, task=2),
        Run("bm25", {"B.1": hits, "B.3": hits, "B.4": hits}, task=2),
        Run("posts", {}, task=1),
    ]
    found = list_unsearched(runs, topics, {"B.2": "has no tree"})
    assert [(key, systems) for key, systems, _ in found] == [
        ("B.2", "all systems"),
        ("B.3", "vectors"),
        ("B.4", "vectors"),
    ]
    reasons = [reason for *_, reason in found]
    assert reasons[0] == "has no tree"
    assert "'q_9' does not stand in its question" in reasons[1]
    assert "has no vectors" in reasons[2]


def test_blank_tree_of_the_files_gives_way_to_the_latex(tmp_path):
    with TreeStore(tmp_path / "trees.sqlite") as store:
        rows = [
            TreeRow("1", "x1", "[W!]", "[V!x]"),
            TreeRow("2", "x2", None, None),
            TreeRow("3", "x3", "[V!a]", "[V!a]"),
        ]
        store.add_batch("all", rows)
        filled = find_trees(store, "x1", "y")
        assert (filled.slt.to_string(), filled.opt.to_string()) == ("[V!y]", "[V!x]")
        assert find_trees(store, "x2", "y").slt.to_string() == "[V!y]"
        assert find_trees(store, "x3", "y").slt.to_string() == "[V!a]"
        assert find_trees(store, "x2", "").is_blank


def test_tree_that_shows_nothing_is_kept_where_there_is_no_better_one():
    blank = FormulaTree.from_string("[W!]", "slt")
    trees = FormulaTrees(blank, None, {})
    assert trees.fill(trees).slt is blank
    assert trees.is_blank
    assert not trees.is_whole


def test_a_query_that_is_a_document_does_not_find_itself():
    asked = []

    def search(queries, depth):
        asked.append(depth)
        ids = ["a", "b", "c", "d"][:depth]
        return [Hits(ids, np.arange(len(ids), 0, -1.0)) for _ in queries]

    others = leave_out_queries(search, str, {"b", "z"})
    found = others(["b", "x", "z"], 3)
    assert [hits.ids for hits in found] == [["a", "c", "d"], ["a", "b", "c"],
                                            ["a", "b", "c"]]  # fmt: skip
    assert [hits.ids for hits in others(["x", "y"], 2)] == [["a", "b"]] * 2
    # One more is asked for only where a query may be among the results.
    assert asked == [4, 2]
