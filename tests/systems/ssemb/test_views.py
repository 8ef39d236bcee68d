"""Augmentations of batches against those of one graph after another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.systems.ssemb.graphs import WILDCARDS, Draws, make_view
from mathamr_kedro.systems.ssemb.system import AugmentationConfig
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

RATES = st.sampled_from([0.0, 0.2, 0.5, 1.0])


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
