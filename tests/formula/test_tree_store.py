"""The formula-tree store."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import textwrap
import time

import pytest

from mathamr_kedro.base.errors import InputError, MalformedInputError, MissingInputError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.tree_store import TreeRow, TreeStore

SLT, OPT = "[V!x,a[N!2]]", "[O!SUP,0[V!𝑥],1[N!2]]"


def row(formula_id, visual_id, slt=SLT, opt=OPT, deviations=""):
    sources = ("pmml" if slt else "", "cmml" if opt else "")
    return TreeRow(formula_id, visual_id, slt, opt, *sources, deviations)


@pytest.fixture
def store(tmp_path):
    with TreeStore(tmp_path / "deep" / "trees.sqlite") as opened:
        yield opened


def test_trees_are_found_by_visual_id(store):
    store.add_batch("1", [row("2816", "17", deviations="empty=1")])
    trees = store.trees("17")
    assert trees.slt == FormulaTree.from_string(SLT)
    assert trees.opt == FormulaTree.from_string(OPT)
    assert trees.problems == {"empty": 1}
    assert store.row("17") == row("2816", "17", deviations="empty=1")
    assert len(store) == 1
    assert store.count_sources() == {("pmml", "cmml"): 1}


def test_unknown_ids_have_no_trees(store):
    assert store.trees("1") is None


def test_missing_trees_stay_missing(store):
    store.add_batch("1", [row("1", "1", slt=None)])
    assert store.trees("1").slt is None
    assert store.row("1").slt_source == ""


@pytest.mark.parametrize("name", ["q_12", "007", "-1", "0", "²", "9" * 30, "wiki:a:3"])
def test_every_id_comes_back_as_it_was(store, name):
    store.add_batch("1", [row(name + "f", name)])
    assert store.row(name) == row(name + "f", name)


def test_numbers_and_their_spellings_are_different_ids(store):
    store.add_batch("1", [row("a", "7"), row("b", "07")])
    assert store.row("7").formula_id == "a"
    assert store.row("07").formula_id == "b"


def test_first_row_of_a_visual_id_stays(store):
    store.add_batch("1", [row("1", "v")])
    store.add_batch("2", [row("2", "v", slt="[V!other]")])
    assert store.row("v").slt == SLT
    assert len(store) == 1


def test_batch_is_whole_or_absent(store):
    def rows():
        yield row("1", "v")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        store.add_batch("1", rows())
    assert store.finished_batches() == set()
    assert len(store) == 0
    store.add_batch("1", [row("1", "v")])
    assert store.finished_batches() == {"1"}


def test_batch_of_the_same_name_is_refused(store):
    store.add_batch("1", [])
    with pytest.raises(InputError, match="skip finished_batches"):
        store.add_batch("1", [row("1", "v")])
    assert len(store) == 0


def test_missing_visuals_are_those_without_trees(store):
    store.add_batch("1", [row("1", "a")])
    assert store.missing_visuals(["a", "b", "b"]) == {"b"}


def test_rows_are_listed_in_order_of_visual_id(store):
    store.add_batch("1", [row("1", "10"), row("2", "9"), row("3", "x")])
    assert [found.visual_id for found in store] == ["9", "10", "x"]


def test_store_is_reopened_where_it_was_left(tmp_path):
    path = tmp_path / "trees.sqlite"
    with TreeStore(path) as store:
        store.add_batch("1", [row("1", "a")])
    with TreeStore(path) as store:
        store.add_batch("2", [row("2", "b")])
    with TreeStore(path, read_only=True) as store:
        assert store.finished_batches() == {"1", "2"}
        assert store.trees("b") is not None
        with pytest.raises(sqlite3.OperationalError):
            store.add_batch("3", [])


def test_closed_store_is_one_plain_file(tmp_path):
    path = tmp_path / "trees.sqlite"
    with TreeStore(path) as store:
        store.add_batch("1", [row("1", "a")])
        assert path.read_bytes()[18:20] == b"\x02\x02"  # write-ahead log
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes()[18:20] == b"\x01\x01"


def test_readers_see_whole_batches_while_others_are_written(tmp_path):
    path = tmp_path / "trees.sqlite"
    with TreeStore(path) as writer:
        writer.add_batch("1", [row("1", "a")])
        with TreeStore(path, read_only=True) as reader:
            writer.add_batch("2", [row("2", "b")])
            assert reader.trees("b") is not None
    with TreeStore(path, read_only=True) as reader:
        assert len(reader) == 2


def test_missing_file_is_not_made_by_a_reader(tmp_path):
    with pytest.raises(MissingInputError, match="ingestion"):
        TreeStore(tmp_path / "none.sqlite", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"no database at all" * 100, b""])
def test_other_files_are_refused_by_readers(tmp_path, content):
    path = tmp_path / "trees.sqlite"
    path.write_bytes(content)
    with pytest.raises(MalformedInputError, match="formula-tree store"):
        TreeStore(path, read_only=True)


def test_store_of_another_version_is_refused(tmp_path):
    path = tmp_path / "trees.sqlite"
    with TreeStore(path):
        pass
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(MalformedInputError, match="version 99"):
        TreeStore(path)


WRITER = """
import sys
from mathamr_kedro.formula.tree_store import TreeRow
from mathamr_kedro.formula.tree_store import TreeStore
store = TreeStore(sys.argv[1])
done = len(store.finished_batches())
while True:
    first = done * 50
    store.add_batch(str(done), (
        TreeRow(str(i), str(i), "[V!x]", "[V!x]", "pmml", "cmml")
        for i in range(first, first + 50)
    ))
    done += 1
    print(done, flush=True)
"""


def test_killed_writer_leaves_whole_batches(tmp_path):
    path = tmp_path / "trees.sqlite"
    for _ in range(3):
        command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            for _ in range(5):
                writer.stdout.readline()
            time.sleep(0.01)
            writer.send_signal(signal.SIGKILL)
        with TreeStore(path) as store:
            batches = store.finished_batches()
            assert batches == {str(i) for i in range(len(batches))}
            assert len(store) == 50 * len(batches)
    assert len(batches) >= 15
