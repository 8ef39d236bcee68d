"""The R-GCN against Eq. 1 written as loops, and against PyG's layer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import RGCNConv

from mathamr_kedro.base.errors import DamagedFileError, MissingInputError
from mathamr_kedro.base.vocabulary import Vocabulary
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.model.backends import TRITON_DIMS
from mathamr_kedro.systems.formula_rgcn.config import RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import ForestBuilder, TreeVocabulary
from mathamr_kedro.systems.formula_rgcn.network import (
    NodeEncoder,
    fill_width,
    load_encoders,
    make_encoders,
    save_encoders,
)
from tests.systems.formula_rgcn.trees import (
    BACK,
    LABELS,
    OPT,
    SLT,
    build_backward_graph,
    draw_trees,
)

VOCABULARY = TreeVocabulary(
    Vocabulary(("?", "V!?", "V!x", *LABELS[2:]), lambda label: label[:2] + "?"),
    Vocabulary(("?", *"nabouwe", *"0123456789")),
)


def make_encoder(layers=3):
    torch.manual_seed(3)
    encoder = NodeEncoder(8, VOCABULARY, layers)
    torch.nn.init.normal_(encoder.bias)
    return encoder.double()


def slow_forward(encoder, tree):
    """Eq. 1, one node, relation and neighbour at a time."""
    vocabulary, graph = encoder.vocabulary, build_backward_graph(tree)
    weights, forward = encoder.weights().detach(), vocabulary.schema.num_forward
    numbers = [vocabulary.labels.find(label) for label in graph.nodes]
    states = [
        encoder.label_vectors[n] + encoder.type_vectors[vocabulary.types[n]]
        for n in numbers
    ]
    for layer in range(len(weights)):
        updated = []
        for i in range(len(states)):
            total = encoder.root[layer].T @ states[i] + encoder.bias[layer]
            incoming: dict[int, list[int]] = {}
            for j, label, target in graph.edges:
                if target == i:
                    back = label.endswith(BACK)
                    number = vocabulary.edges.find(label.removesuffix(BACK))
                    incoming.setdefault(number + forward * back, []).append(j)
            for relation, neighbours in incoming.items():
                for j in neighbours:
                    message = weights[layer, relation].T @ states[j]
                    total = total + message / len(neighbours)
            is_last = layer == len(weights) - 1
            updated.append(total if is_last else torch.relu(total))
        states = updated
    return torch.stack([state / state.norm() for state in states]).detach()


@settings(max_examples=25)
@given(draw_trees("opt"), st.sampled_from([2, 3]))
def test_vectors_are_those_of_the_equation(tree, layers):
    encoder = make_encoder(layers)
    (vectors,) = encoder.encode([tree])
    assert np.allclose(vectors, slow_forward(encoder, tree), atol=1e-5)


def test_a_layer_is_that_of_pyg():
    encoder = make_encoder(layers=1)
    builder = ForestBuilder()
    for tree in (SLT, OPT):
        builder.add(tree)
    batch = builder.finish(VOCABULARY).assemble(np.arange(2))
    layer = RGCNConv(8, 8, VOCABULARY.schema.num_relations, aggr="mean").double()
    layer.weight.data = encoder.weights()[0].detach()
    layer.root.data, layer.bias.data = encoder.root[0].data, encoder.bias[0].data
    number = batch.node_type.long()
    states = encoder.label_vectors[number]
    states = states + encoder.type_vectors[encoder.types.long()[number]]
    source, target, relation = batch.list_edges()
    theirs = layer(states, torch.stack([source, target]), relation)
    expected = torch.nn.functional.normalize(theirs, dim=1)
    assert torch.allclose(encoder(batch), expected)


def test_graphs_do_not_see_each_other(monkeypatch):
    encoder = make_encoder()
    alone = [encoder.encode([tree])[0] for tree in (SLT, OPT, SLT)]
    for room in (1 << 15, 6):  # nodes that are encoded at once
        monkeypatch.setattr("mathamr_kedro.systems.formula_rgcn.network._NODES", room)
        beside = encoder.encode([SLT, OPT, SLT])
        assert all(
            np.allclose(a, b, atol=1e-6) for a, b in zip(alone, beside, strict=True)
        )
    assert encoder.encode([]) == []


def test_widths_that_kernels_do_not_know_are_filled_with_zeros(monkeypatch):
    """As on a GPU, where 100 numbers are computed as 128."""
    encoder = make_encoder()
    plain = encoder.encode([SLT, OPT])
    module = "mathamr_kedro.systems.formula_rgcn.network"
    monkeypatch.setattr(f"{module}.can_use_triton", lambda device, width: True)
    encoder.compute = ComputeConfig(backend="torch")
    filled = encoder.encode([SLT, OPT])
    width = plain[0].shape[1]
    assert width not in TRITON_DIMS
    assert fill_width(torch.ones(2, width)).shape[1] in TRITON_DIMS
    for mine, theirs in zip(plain, filled, strict=True):
        assert mine.shape == theirs.shape
        assert np.allclose(mine, theirs, atol=1e-6)


def test_unknown_labels_are_told_by_their_type():
    encoder = make_encoder()
    one, other, number = (
        encoder.encode([type(SLT).from_string(f"[{label}]", "opt")])[0]
        for label in ("V!ξ", "V!ψ", "N!77")
    )
    assert np.array_equal(one, other)
    assert not np.allclose(one, number)


def test_networks_come_back_from_their_folder(tmp_path):
    config = RgcnConfig(hidden_dim=8)
    folder = tmp_path / "model"
    folder.mkdir()
    with pytest.raises(MissingInputError, match=r"slg_labels\.json"):
        load_encoders(config, folder)
    made = make_encoders(config, {"slg": VOCABULARY, "opg": VOCABULARY}, seed=5)
    save_encoders(made, folder)
    again = load_encoders(config, folder)
    for kind, tree in (("slg", SLT), ("opg", OPT)):
        mine, theirs = (e[kind].eval().encode([tree])[0] for e in (made, again))
        assert np.allclose(mine, theirs, atol=1e-5)
    path = folder / "weights.arrays"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DamagedFileError):
        load_encoders(config, folder)
