"""The whole encoder against the same equations on PyG, and its options."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch_geometric.nn import RGCNConv

from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import (
    MathAMRPlus,
)

SMALL = {"hidden_dim": 16, "projection_dim": 8, "num_layers": 3, "num_bases": 4}


def make(batch, **changes):
    torch.manual_seed(0)
    return MathAMRPlus(ModelConfig(**(SMALL | changes)), batch.schema)


def run_pyg(model, batch):
    """Eq. 3.1 and 3.3 with PyG's RGCNConv, in float64, with the weights of ``model``.

    Returns the vectors and the gradients of the sum of their squares with signs.
    """
    model = model.double()
    encoder, head = model.encoder, model.head
    source, target, relation = batch.list_edges()
    edge_index = torch.stack([source, target])
    h = model.nodes(batch)
    for i in range(len(encoder.root)):
        conv = RGCNConv(16, 16, batch.schema.num_relations, num_bases=4)
        for name in ("weight", "comp", "root", "bias"):
            delattr(conv, name)
        conv.weight, conv.comp = (
            encoder.weights.bases[i],
            encoder.weights.coefficients[i],
        )
        conv.root, conv.bias = encoder.root[i], encoder.bias[i]
        x = F.layer_norm(h, (16,), encoder.norm_weight[i], encoder.norm_bias[i])
        h = h + F.gelu(conv(x, edge_index, relation))
    inner = F.gelu(head.inner_norm(head.inner(h[batch.representative])))
    return F.normalize(head.outer_norm(head.outer(inner)), dim=-1)


def gradients(model, vectors):
    torch.manual_seed(5)
    target = torch.randn(vectors.shape, dtype=torch.float64).to(vectors.dtype)
    model.zero_grad()
    (vectors * target).sum().backward()
    return {n: p.grad.double().clone() for n, p in model.named_parameters()}


def test_every_gradient_equals_pyg(batch):
    model = make(batch, edge_attributes=False)
    vectors = model(batch)
    mine = gradients(model, vectors)
    twin = make(batch, edge_attributes=False).double()
    their_vectors = run_pyg(twin, batch)
    theirs = gradients(twin, their_vectors)
    assert torch.allclose(vectors.double(), their_vectors, atol=2e-6)
    for name, grad in theirs.items():
        error = (mine[name] - grad).norm() / grad.norm()
        assert error < 4e-6, name  # of float32, which sums in another order elsewhere


@pytest.mark.parametrize("decomposition", ["basis", "none"])
def test_torch_equals_the_reference(batch, decomposition):
    model = make(batch, decomposition=decomposition)
    vectors = model(batch)
    mine = gradients(model, vectors)
    model = model.double().set_compute(ComputeConfig(backend="reference"))
    truth = model(batch)
    assert torch.allclose(vectors.double(), truth, atol=2e-6)
    for name, grad in gradients(model, truth).items():
        assert (mine[name] - grad).norm() < 5e-6 * grad.norm(), name


@pytest.mark.parametrize("decomposition", ["basis", "none"])
def test_matrices_of_present_relations_are_enough(batch, decomposition):
    batch = replace(batch, relation=batch.relation % 2)
    model = make(batch, decomposition=decomposition, num_bases=2)
    composed = []
    model.encoder.weights.register_forward_hook(
        lambda module, args, out: composed.append(out.shape[1])
    )
    mine = model.set_compute(ComputeConfig(backend="torch"))(batch)
    theirs = model.set_compute(ComputeConfig(backend="reference"))(batch)
    assert torch.allclose(mine, theirs, atol=1e-5)
    assert composed[0] < composed[1] == batch.schema.num_relations


def test_edge_attributes_change_the_vectors(batch):
    model = make(batch)
    before = model(batch)
    torch.nn.init.zeros_(model.encoder.edge_attributes)
    after = model(batch)
    assert not torch.allclose(before, after, atol=1e-3)
    plain = make(batch, edge_attributes=False)
    shared = {
        n: p for n, p in model.state_dict().items() if n != "encoder.edge_attributes"
    }
    plain.load_state_dict(shared)
    assert torch.allclose(plain(batch), after, atol=1e-6)


def test_vectors_have_length_one_and_follow_the_representatives(batch):
    vectors = make(batch)(batch)
    assert vectors.shape == (len(batch.representative), 8)
    assert torch.allclose(vectors.norm(dim=1), torch.ones(len(vectors)))


def test_structures_without_a_hierarchy_are_encoded(flat_shards):
    batch = flat_shards.assemble([0, 1, 2])
    assert make(batch)(batch).shape == (len(batch.representative), 8)


def test_dropping_all_content_edges_changes_vectors(batch):
    model = make(batch)
    keep = torch.zeros(2 * batch.source.numel(), dtype=torch.bool)
    assert not torch.allclose(model(batch), model(batch, keep), atol=1e-3)


def test_without_content_edges_only_virtual_nodes_are_heard(batch):
    """The same as taking the edges out of the graphs."""
    virtual = batch.is_virtual()
    stays = virtual[batch.source.long()] | virtual[batch.target.long()]
    assert 0 < stays.sum() < len(stays)  # auxiliary edges between virtual nodes
    ends = {n: getattr(batch, n)[stays] for n in ("source", "target", "relation")}
    bare = replace(batch, **ends)
    expected = make(batch)(bare)
    model = make(batch, content_edges=False)
    assert torch.allclose(model(batch), expected, atol=1e-6)
    kept = torch.rand(2 * len(stays)) < 0.5
    halves = kept.view(2, -1)[:, stays].flatten()
    assert torch.allclose(model(batch, kept), make(batch)(bare, halves), atol=1e-6)


def test_same_seed_gives_the_same_start(batch):
    one, two = (make(batch), make(batch))
    assert all(
        torch.equal(a, b)
        for a, b in zip(one.parameters(), two.parameters(), strict=True)
    )
    built = MathAMRPlus(one.config, batch.schema).set_compute(ComputeConfig())
    assert built.backend.name == "torch"


def test_parameters_are_counted_by_component(batch):
    model = make(batch, virtual_init="mean_typed_projection")
    counts = model.count_parameters()
    assert counts["node embeddings"] == 40 * 16
    assert counts["virtual nodes"] == 3 * (16 * 16 + 16)
    assert counts["relation weights"] == 3 * (18 * 4 + 4 * 16 * 16)
    assert counts["edge attributes"] == 18 * 16
    assert counts["all"] == sum(p.numel() for p in model.parameters())


def test_parameter_counts_are_logged(batch, caplog):
    caplog.set_level("INFO")
    make(batch).log_parameters()
    assert "relation weights" in caplog.text
