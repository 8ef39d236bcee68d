"""Graphs as numbers, and views of them against slow twins."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.formula.graphs import build_shared_graph
from mathamr_kedro.systems.ssemb.config import AugmentationConfig
from mathamr_kedro.systems.ssemb.graphs import (
    WILDCARDS,
    Draws,
    GraphTable,
    GraphTableBuilder,
    count_labels,
    make_view,
    read_labels,
)
from tests.systems.ssemb.slow import (
    chance,
    draw_trees,
    lay_out,
    list_levels,
    rows,
    split_batch,
    to_lists,
    view_one,
)

TREES = [
    FormulaTree.from_string(text, "opt")
    for text in ("[U!plus,0[V!x],1[U!times,0[V!x],1[V!y]]]", "[V!x]")
]
RATES = st.sampled_from([0.0, 0.2, 0.5, 1.0])


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


@st.composite
def draw_settings(draw):
    return AugmentationConfig(
        substitution=tuple(draw(st.lists(RATES, min_size=1, max_size=4))),
        attribute_masking=draw(RATES),
        node_dropping=draw(RATES),
        edge_perturbation=draw(RATES),
    )


def list_ranges(table, count):
    batch = table.take(rows(count))
    sizes = batch.ptr.tolist()
    edges = [0]
    for _, own in split_batch(batch):
        edges.append(edges[-1] + len(own))
    spans = [(sizes[i], sizes[i + 1]) for i in range(count)]
    return batch, spans, [(edges[i], edges[i + 1]) for i in range(count)]


@given(st.lists(draw_trees(), min_size=1, max_size=4), draw_settings(), st.integers())
def test_views_are_those_of_each_graph_alone(trees, config, seed):
    table, _ = lay_out(trees)
    batch, spans, edge_spans = list_ranges(table, len(trees))
    draws = Draws.draw(batch, len(config.substitution), chance(seed % 2**31))
    found = split_batch(make_view(batch, config, draws))
    whole = split_batch(batch)
    for number, view in enumerate(found):
        own = to_lists(draws, spans[number], edge_spans[number])
        expected = view_one(*whole[number], config, WILDCARDS, own)
        assert view == expected
        assert view[0], "no graph loses all of its nodes"


@given(draw_trees(), st.integers(0, 10**6))
def test_substitution_is_that_of_the_paper(tree, seed):
    """Section 2.1.2: chosen nodes become wildcards and lose what hangs below them."""
    table, _ = lay_out([tree])
    batch = table.take(rows(1))
    config = AugmentationConfig((0.5, 0.3, 0.2), attribute_masking=0)
    draws = Draws.draw(batch, 3, chance(seed))
    ((nodes, edges),) = split_batch(batch)
    levels = list_levels(nodes, edges, 3)
    drawn = draws.substitution.tolist()
    chosen = sorted(
        {
            n
            for k, level in enumerate(levels)
            for n in level
            if drawn[k][n] < config.substitution[k]
        }
    )
    left = [(a, b) for a, b in edges if a not in chosen]
    reached = {0}
    while new := {b for a, b in left if a in reached} - reached:
        reached |= new
    place = {n: i for i, n in enumerate(sorted(reached))}
    expected = [
        f"?{int(draws.wildcard[n] * 10)}" if n in chosen else str(nodes[n])
        for n in place
    ]
    ((labels_of, edges_of),) = split_batch(make_view(batch, config, draws))
    names = {n: f"?{n - WILDCARDS.start}" for n in WILDCARDS}
    assert [names.get(n, str(n)) for n in labels_of] == expected
    assert [(place[a], place[b]) for a, b in left if a in reached] == edges_of


def test_the_published_rates_change_about_a_third_of_the_leaves():
    table, _ = lay_out([t for t in [_tree()] for _ in range(500)])
    batch = table.take(rows(500))
    view = make_view(batch, AugmentationConfig(), Draws.draw(batch, 3, chance(1)))
    changed = sum(n in WILDCARDS for n in view.labels.tolist())
    leaves = 500 * 3
    assert 0.25 < changed / leaves < 0.35


def _tree():
    from mathamr_kedro.formula import FormulaTree

    return FormulaTree.from_string("[U!plus,0[V!x],1[U!times,0[N!2],1[V!y]]]", "opt")


@pytest.mark.parametrize(
    "values",
    [{"substitution": (1.5,)}, {"attribute_masking": -1}, {"node_dropping": 2}],
)
def test_impossible_rates_are_refused(values):
    with pytest.raises(ConfigurationError, match=next(iter(values))):
        AugmentationConfig(**values)
