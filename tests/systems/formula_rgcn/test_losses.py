"""Eq. 2 and 3 against loops over nodes."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

import pytest
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems.formula_rgcn.system import PAIRINGS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.training import compare_graphs

NAMES = ("slg", "slg_sub", "opg", "opg_sub")


def draw(lengths, seed):
    torch.manual_seed(seed)
    vectors = torch.randn(sum(lengths), 6, dtype=torch.float64)
    unit = torch.nn.functional.normalize(vectors, dim=1).requires_grad_()
    return RaggedVectors(unit, torch.tensor([0, *lengths]).cumsum(0))


def list_graphs(graphs):
    ptr = graphs.ptr.tolist()
    pairs = pairwise(ptr)
    return [graphs.vectors[a:b].tolist() for a, b in pairs]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def slow_node_losses(first, second, tau):
    """Eq. 2 for every node of the first graphs."""
    losses = []
    for f, graph in enumerate(list_graphs(first)):
        for node in graph:
            best = [max(dot(node, z) for z in other) for other in list_graphs(second)]
            above = exp(best[f] / tau)
            below = sum(exp(s / tau) for k, s in enumerate(best) if k != f)
            losses.append(-log(above / below))
    return losses


def slow_loss(graphs, pairing, tau):
    """Eq. 3: half for each kind of reference, the mean of its pairings in each."""
    sides = {}
    for reference, other in PAIRINGS[pairing]:
        nodes = slow_node_losses(graphs[reference], graphs[other], tau)
        sides.setdefault(reference, []).append(sum(nodes) / len(nodes))
    means = [sum(side) / len(side) for side in sides.values()]
    return sum(means) / len(means)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_loss_is_that_of_the_equations(pairing):
    sizes = ([3, 1, 4], [2, 1, 3], [5, 2, 1], [3, 2, 1])
    graphs = {n: draw(s, i) for i, (n, s) in enumerate(zip(NAMES, sizes, strict=True))}
    found = [compare_graphs(graphs[a], graphs[b], 0.1) for a, b in PAIRINGS[pairing]]
    loss = sum(pair.loss.item() for pair in found) / len(found)
    assert loss == pytest.approx(slow_loss(graphs, pairing, 0.1))
    assert all(0 <= pair.accuracy.item() <= 1 for pair in found)


def test_gradients_are_those_of_differences():
    first, second = draw([3, 1, 4], 0), draw([2, 3, 1], 1)
    compare_graphs(first, second, 0.3).loss.backward()
    for graphs in (first, second):
        for row, column in ((0, 0), (4, 5), (2, 3)):
            values = []
            for step in (1e-6, -1e-6):
                moved = graphs.vectors.detach().clone()
                moved[row, column] += step
                near = RaggedVectors(moved, graphs.ptr)
                pair = (near, second) if graphs is first else (first, near)
                values.append(compare_graphs(*pair, 0.3).loss.item())
            slope = (values[0] - values[1]) / 2e-6
            assert graphs.vectors.grad[row, column].item() == pytest.approx(
                slope, abs=1e-6
            )


def test_accuracy_counts_positives_that_are_first():
    unit = torch.eye(3, dtype=torch.float64)
    first = RaggedVectors(unit, torch.tensor([0, 1, 3]))
    second = RaggedVectors(unit[[0, 2]], torch.tensor([0, 1, 2]))
    # the first node is right, the second (0 and 0) a tie, the third right
    assert compare_graphs(first, second, 0.1).accuracy.item() == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("pairs", "kinds"),
    [("slg", ("slg",)), ("opg", ("opg",)), ("outer", ("slg", "opg"))],
)
def test_one_representation_trains_one_network(pairs, kinds):
    assert RgcnConfig(pairs=pairs).kinds == kinds


def test_pairings_are_those_of_the_paper():
    inner, outer, crossed = (set(PAIRINGS[n]) for n in ("inner", "outer", "slg_opg"))
    assert inner == {*PAIRINGS["slg"], *PAIRINGS["opg"], *crossed}
    assert outer - crossed == {("slg", "opg_sub"), ("opg", "slg_sub")}
    assert set(PAIRINGS["inner_outer"]) == inner | outer
    assert len(PAIRINGS["inner_outer"]) == 6
