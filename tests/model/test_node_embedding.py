"""Where nodes start: the six initialisations of Table 4.13."""

from __future__ import annotations

import pytest
import torch

from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.node_embedding import NodeEmbedding

D = 8


def embed(batch, init):
    torch.manual_seed(0)
    nodes = NodeEmbedding(ModelConfig(hidden_dim=D, virtual_init=init), batch.schema)
    return nodes, nodes(batch)


def kinds_of(batch):
    types = batch.node_type[batch.virtual_node]
    return (types - batch.schema.num_node_types).tolist()


def slow_means(h, batch):
    """Mean state of the members of each virtual node, the document's over means."""
    owners, members = batch.member_of.tolist(), batch.member.tolist()
    nodes, kinds = batch.virtual_node.tolist(), kinds_of(batch)
    known = {n: h[n] for n in range(len(h)) if n not in nodes}
    for wanted in ((0, 1), (2,)):
        for k, node in enumerate(nodes):
            if kinds[k] in wanted:
                mine = [m for m, o in zip(members, owners, strict=True) if o == k]
                known[node] = torch.stack([known[m] for m in mine]).mean(0)
    return torch.stack([known[n] for n in nodes])


@pytest.mark.parametrize(
    "init",
    [
        "zero",
        "zero_embedding",
        "random_embedding",
        "mean",
        "mean_projection",
        "mean_typed_projection",
    ],
)
def test_content_nodes_have_the_embedding_of_their_type(batch, init):
    nodes, h = embed(batch, init)
    content = ~batch.is_virtual()
    assert torch.equal(h[content], nodes.content[batch.node_type[content]])


def test_zero_stays_zero(batch):
    nodes, h = embed(batch, "zero")
    assert not h[batch.virtual_node].any()
    assert [name for name, _ in nodes.named_parameters()] == ["content"]


def test_zero_embedding_learns_one_vector_per_kind(batch):
    nodes, h = embed(batch, "zero_embedding")
    assert not h[batch.virtual_node].any()
    h.sum().backward()
    counts = torch.bincount(torch.tensor(kinds_of(batch)), minlength=3)
    assert torch.allclose(nodes.virtual.grad, counts[:, None].expand(3, D).float())


def test_random_embedding_starts_at_one_vector_per_kind(batch):
    nodes, h = embed(batch, "random_embedding")
    assert nodes.virtual.abs().min() > 0
    assert torch.equal(h[batch.virtual_node], nodes.virtual[kinds_of(batch)])


def test_mean_is_over_the_members(batch):
    nodes, h = embed(batch, "mean")
    expected = slow_means(nodes.content[batch.node_type.clamp(max=39)], batch)
    assert torch.allclose(h[batch.virtual_node], expected, atol=1e-6)


def test_mean_projection_is_one_linear_layer(batch):
    nodes, h = embed(batch, "mean_projection")
    means = slow_means(nodes.content[batch.node_type.clamp(max=39)], batch)
    expected = nodes.projection[0](means)
    assert torch.allclose(h[batch.virtual_node], expected, atol=1e-6)


def test_mean_typed_projection_is_one_linear_layer_per_kind(batch):
    nodes, h = embed(batch, "mean_typed_projection")
    means = slow_means(nodes.content[batch.node_type.clamp(max=39)], batch)
    rows = zip(kinds_of(batch), means, strict=True)
    expected = torch.stack([nodes.projection[k](m) for k, m in rows])
    assert torch.allclose(h[batch.virtual_node], expected, atol=1e-6)


def test_means_reach_the_embeddings(batch):
    nodes, h = embed(batch, "mean")
    h[batch.virtual_node].sum().backward()
    assert nodes.content.grad.abs().sum() > 0
