"""Graphs as numbers: tables, batches, labels."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs import build_shared_graph
from mathamr_kedro.systems.ssemb.graphs import (
    WILDCARDS,
    GraphTable,
    GraphTableBuilder,
    count_labels,
    read_labels,
)
from tests.systems.ssemb.slow import draw_trees, lay_out, split_batch

TREES = [
    FormulaTree.from_string(text, "opt")
    for text in ("[U!plus,0[V!x],1[U!times,0[V!x],1[V!y]]]", "[V!x]")
]


def test_rare_labels_are_read_as_their_kind():
    counts = Counter({"V!x": 9, "N!3.14": 1, "N!2": 8, "O!SUP": 2})
    labels = count_labels(counts, 3)
    assert len(labels) == 2 + 10 + len({"V!x", "N!2", "N!", "O!"})
    assert labels.find("N!3.14") == labels.find("N!2.718") == labels.find("N!")
    assert labels.find("T!text") == 0
    assert labels.find("V!x") not in {0, 1, *WILDCARDS}


def test_vocabulary_and_table_are_read_as_written(tmp_path):
    table, labels = lay_out(TREES)
    labels.save(tmp_path / "labels.json")
    table.save(tmp_path / "graphs.arrays")
    again = read_labels(tmp_path / "labels.json")
    assert [again.find(x) for x in ("V!x", "?")] == [labels.find("V!x"), 0]
    assert again.names == labels.names
    read = GraphTable.read(tmp_path / "graphs.arrays")
    for ours, theirs in zip(
        read.take(np.array([1, 0])), table.take(np.array([1, 0])), strict=True
    ):
        assert torch.equal(ours, theirs)


@given(st.lists(draw_trees(), min_size=1, max_size=5), st.randoms())
def test_batches_hold_the_graphs_that_were_asked_for(trees, random):
    table, labels = lay_out(trees)
    chosen = [random.randrange(len(trees)) for _ in range(4)]
    batch = table.take(np.array(chosen))
    for number, (nodes, edges) in zip(chosen, split_batch(batch), strict=True):
        graph = build_shared_graph(trees[number])
        assert nodes == [labels.find(label) for label in graph.nodes]
        assert edges == [(a, b) for a, _, b in graph.edges]
    sizes = [len(build_shared_graph(trees[n]).nodes) for n in chosen]
    assert torch.bincount(batch.graph_of, minlength=4).tolist() == sizes


def test_a_table_without_graphs_has_none():
    table = GraphTableBuilder().finish(count_labels(Counter(), 1))
    assert len(table) == 0
