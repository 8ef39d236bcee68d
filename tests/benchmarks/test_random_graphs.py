"""Random graphs keep the layout and the sizes of the thesis."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.random_graphs import THESIS_SCHEMA, RandomGraphs


@pytest.mark.parametrize(
    "structure", ["hierarchy", "none", "global_maxsim", "global_single"]
)
def test_random_graphs_are_sound(structure):
    graphs = RandomGraphs(structure=structure, seed=5)
    for _ in range(20):
        graphs.draw().check(THESIS_SCHEMA)


def test_sizes_are_near_table_4_2():
    graphs = RandomGraphs(seed=2)
    drawn = [graphs.draw() for _ in range(2000)]
    assert np.mean([g.num_content for g in drawn]) == pytest.approx(156, rel=0.1)
    assert np.median([g.num_content for g in drawn]) == pytest.approx(101, rel=0.1)
    assert np.mean([len(g.source) for g in drawn]) == pytest.approx(160.1, rel=0.1)
    assert np.mean([len(g.member_count) for g in drawn]) == pytest.approx(16.1, rel=0.1)


def test_same_seed_draws_the_same_graphs():
    one, two = RandomGraphs(seed=4), RandomGraphs(seed=4)
    assert one.draw() == two.draw()


def test_some_nodes_are_members_of_two_sentences():
    graph = RandomGraphs(seed=1).draw()
    counts = np.bincount(graph.member)
    assert counts.max() == 2
