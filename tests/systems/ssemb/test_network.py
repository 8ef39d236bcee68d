"""GIN and InfoNCE against loops written from the equations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.systems.ssemb.network import StructureEncoder
from mathamr_kedro.systems.ssemb.training import compare_views
from tests.systems.ssemb.slow import (
    draw_trees,
    gin_one,
    info_nce_one_by_one,
    lay_out,
    rows,
    split_batch,
)


def make_model(num_labels):
    """Weights and running means as a training could have left them."""
    torch.manual_seed(3)
    model = StructureEncoder(12, num_labels)
    for layer in model.layers:
        layer.epsilon.data.uniform_(-0.5, 0.5)
        layer.norm.running_mean.uniform_(-1, 1)
        layer.norm.running_var.uniform_(0.5, 2)
        layer.norm.weight.data.uniform_(0.5, 2)
        layer.norm.bias.data.uniform_(-1, 1)
    return model.eval()


@settings(max_examples=25)
@given(st.lists(draw_trees(), min_size=1, max_size=4))
def test_vectors_are_those_of_the_equation_in_any_company(trees):
    table, labels = lay_out(trees)
    model = make_model(len(labels))
    batch = table.take(rows(len(trees)))
    found = model(batch).detach()
    for vector, part in zip(found, split_batch(batch), strict=True):
        expected = gin_one(model, *part)
        np.testing.assert_allclose(vector.numpy(), expected, rtol=1e-4, atol=1e-4)


@settings(max_examples=10)
@given(st.lists(draw_trees(), min_size=2, max_size=3))
def test_gradients_are_those_of_a_dense_matrix(trees):
    table, labels = lay_out(trees)
    model = make_model(len(labels)).double()
    batch = table.take(rows(len(trees)))
    model(batch).square().sum().backward()
    ours = model.embedding.weight.grad.clone()
    model.zero_grad()
    size = len(batch.labels)
    dense = torch.zeros(size, size, dtype=torch.float64)
    for a, b in batch.edges.T.tolist():
        dense[a, b] += 1
        dense[b, a] += 1
    x, sums = model.embedding(batch.labels), []
    pool = torch.nn.functional.one_hot(batch.graph_of).double().T
    for layer in model.layers:
        x = layer.mlp((1 + layer.epsilon) * x + dense @ x)
        x = layer.norm(torch.relu(x))
        sums.append(pool @ x)
    torch.cat(sums, 1).square().sum().backward()
    torch.testing.assert_close(ours, model.embedding.weight.grad)


@given(st.integers(2, 6), st.integers(0, 1000), st.sampled_from([0.05, 0.2, 1.0]))
def test_loss_is_that_of_the_equation(count, seed, temperature):
    chance = torch.Generator().manual_seed(seed)
    first, second = torch.randn(2, count, 4, generator=chance, dtype=torch.float64)
    expected = info_nce_one_by_one(first.tolist(), second.tolist(), temperature)
    assert compare_views(first, second, temperature).item() == pytest.approx(expected)


def test_order_and_names_of_nodes_do_not_matter():
    table, labels = lay_out([_tree("[U!plus,0[V!x],1[N!2]]")])
    turned, _ = lay_out([_tree("[U!plus,0[N!2],1[V!x]]")])
    model = make_model(len(labels))
    a, b = (model(t.take(rows(1))) for t in (table, turned))
    torch.testing.assert_close(a, b)


def _tree(text):
    from mathamr_kedro.formula import FormulaTree

    return FormulaTree.from_string(text, "opt")


def test_layers_are_those_of_pyg():
    """What ``benchmarks/ssemb.py`` compares computes the same."""
    pytest.importorskip("torch_geometric")
    from benchmarks.ssemb import PygEncoder

    table, labels = lay_out(
        [_tree("[U!plus,0[V!x],1[N!2]]"), _tree("[O!SUP,0[V!x],1[V!x]]")]
    )
    model = make_model(len(labels))
    theirs = PygEncoder(model, 12).eval()
    batch = table.take(rows(2))
    torch.testing.assert_close(model(batch), theirs(batch))
