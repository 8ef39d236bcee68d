"""The loss of Eq. 2 and 3 by hand, and training of both networks."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from math import exp, log

import numpy as np
import pytest
import torch

from mathamr_kedro.base.arrays import read_arrays
from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems.formula_rgcn.config import PAIRINGS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import write_forests
from mathamr_kedro.systems.formula_rgcn.training import PairTraining, compare_graphs
from tests.systems.formula_rgcn.conftest import SMALL

NAMES = ("slg", "slg_sub", "opg", "opg_sub")
CONFIG = RgcnConfig(**{**SMALL, "hidden_dim": 8, "batch_size": 16, "num_epochs": 2})


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


@pytest.fixture(scope="module")
def prepared(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    formulas = list(islice(sample.sources.formulas(), 80))
    counts = write_forests(replace(sample.sources, formulas=lambda: formulas), folder)
    different = len({formula.visual_id for formula in formulas})
    assert counts["formulas"] == different - sum(
        counts[name] for name in ("without_trees", "too_large", "alike")
    )
    return folder


def train(config, prepared, folder, seed=7):
    folder.mkdir(exist_ok=True)
    return PairTraining(config, prepared, seed).run(folder)


class KilledError(Exception):
    pass


@pytest.mark.parametrize("steps", [1, 5])
def test_a_killed_training_ends_with_the_same_weights(
    prepared, tmp_path, monkeypatch, steps
):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    expected = train(CONFIG, prepared, whole)
    compute, taken = PairTraining.compute, []

    def die(self, batch):
        if len(taken) == steps:
            raise KilledError
        taken.append(batch)
        return compute(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(PairTraining, "compute", die)
        with pytest.raises(KilledError):
            train(CONFIG, prepared, parts)
    history = train(CONFIG, prepared, parts)
    assert [e["loss"] for e in history] == [e["loss"] for e in expected]
    mine, theirs = (read_arrays(f / "weights.arrays") for f in (whole, parts))
    assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)
    assert not (parts / "checkpoint.pt").exists()
    assert list_damage(parts, "") == []


@pytest.mark.parametrize("pairs", PAIRINGS)
def test_every_pairing_learns(prepared, tmp_path, pairs):
    config = replace(CONFIG, pairs=pairs, num_epochs=3)
    history = train(config, prepared, tmp_path)
    assert [record["epoch"] for record in history] == [1, 2, 3]
    assert history[-1]["loss"] < history[0]["loss"]
    assert history[0]["formulas"] == PairTraining(config, prepared, 7).count
    known = {f.stem.partition("_")[0] for f in tmp_path.glob("*_labels.json")}
    assert known == set(config.kinds)


def test_seeds_differ_and_repeat(prepared, tmp_path):
    losses = [
        train(CONFIG, prepared, tmp_path / name, seed)[-1]["loss"]
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert losses[0] == losses[1] != losses[2]


def test_no_epochs_leave_the_first_weights(prepared, tmp_path):
    assert train(replace(CONFIG, num_epochs=0), prepared, tmp_path) == []
    assert (tmp_path / "weights.arrays").is_file()


def test_an_epoch_has_every_formula_once_and_no_batch_of_one(prepared):
    made = PairTraining(CONFIG, prepared, 7)
    rows = np.concatenate([batch.rows for batch in made.draw_batches(0)])
    assert sorted(rows) == list(range(made.count))
    most = PairTraining(replace(CONFIG, batch_size=made.count - 1), prepared, 7)
    assert [len(batch.rows) for batch in most.draw_batches(0)] == [made.count - 1]


@pytest.mark.gpu
def test_a_gpu_computes_what_the_cpu_does(prepared):
    """Kernels and search for partners: loss and gradients of a batch of real trees."""
    found = []
    config = replace(CONFIG, hidden_dim=128, batch_size=32)
    for device in ("cpu", "cuda"):
        made = PairTraining(config, prepared, 7)
        made.device = torch.device(device)
        networks = torch.nn.ModuleDict(made.encoders).to(device)
        loss, _ = made.compute(made.draw_batches(0)[0])
        loss.backward()
        found.append((loss.item(), [p.grad.cpu() for p in networks.parameters()]))
    (mine, my_grads), (theirs, their_grads) = found
    assert mine == pytest.approx(theirs, rel=1e-4)
    for a, b in zip(my_grads, their_grads, strict=True):
        assert (a - b).norm() <= 1e-2 * a.norm() + 1e-6
