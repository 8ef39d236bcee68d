"""Node masking and edge dropout: how much, and never at virtual nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.learning.augmentation import (
    AugmentationConfig,
    augment,
    draw_uniform,
    step_key,
)


def key(step=0, seed=0):
    return torch.tensor(step_key(seed, step))


@pytest.fixture
def batch(shards):
    """All graphs, with auxiliary edges between virtual nodes."""
    plain = shards.assemble(range(40))
    source = plain.virtual_node[:-1]
    target = plain.virtual_node[1:]
    return replace(
        plain,
        source=torch.cat([plain.source, source]),
        target=torch.cat([plain.target, target]),
        relation=torch.cat([plain.relation, torch.full_like(source, 8)]),
    )


def test_numbers_are_uniform_and_unlike_for_each_key():
    drawn = draw_uniform(key(3), 1, 200_000).numpy()
    counts = np.histogram(drawn, bins=50, range=(0, 1))[0]
    assert ((counts - 4000) ** 2 / 4000).sum() < 95  # chi-square, 49 degrees, 1e-4
    for other in (draw_uniform(key(4), 1, 200_000), draw_uniform(key(3), 2, 200_000)):
        assert abs(np.corrcoef(drawn, other.numpy())[0, 1]) < 0.01
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.01


def test_keys_are_unlike_for_steps_and_seeds():
    keys = {step_key(seed, step) for seed in range(20) for step in range(100)}
    assert len(keys) == 2000


def test_a_key_draws_the_same_again():
    one, two = (draw_uniform(key(7), 1, 10) for _ in range(2))
    assert torch.equal(one, two)


def test_a_training_of_another_day_draws_the_same():
    drawn = (draw_uniform(key(7), 1, 4) * 2**24).int().tolist()
    assert drawn == [7242002, 4313251, 10216206, 8646554]


def test_longer_draws_begin_with_the_same_numbers():
    # Spare entries at the end of a batch change nothing before them.
    assert torch.equal(draw_uniform(key(), 1, 10), draw_uniform(key(), 1, 25)[:10])


def test_masking_replaces_content_types_alone(batch):
    config = AugmentationConfig(node_mask=0.3, edge_dropout=0)
    masked, keep = augment(batch, config, key())
    assert keep is None
    changed = masked.node_type != batch.node_type
    assert not (changed & batch.is_virtual()).any()
    assert masked.node_type[changed].eq(batch.schema.mask_type).all()
    content = ~batch.is_virtual()
    assert changed[content].float().mean().item() == pytest.approx(0.3, abs=0.06)


def test_dropout_spares_edges_of_virtual_nodes(batch):
    config = AugmentationConfig(node_mask=0, edge_dropout=0.4)
    same, keep = augment(batch, config, key())
    assert torch.equal(same.node_type, batch.node_type)
    virtual = batch.is_virtual()
    touched = virtual[batch.source] | virtual[batch.target]
    both = torch.cat([touched, touched])
    assert keep[both].all()
    assert (~keep[~both]).float().mean().item() == pytest.approx(0.4, abs=0.06)


def test_an_edge_and_its_inverse_are_dropped_apart(batch):
    _, keep = augment(batch, AugmentationConfig(edge_dropout=0.4), key())
    forward, inverse = keep.chunk(2)
    assert (forward != inverse).any()


def test_nothing_happens_at_zero(batch):
    same, keep = augment(batch, AugmentationConfig(0, 0), key())
    assert same is batch
    assert keep is None


@pytest.mark.parametrize("name", ["node_mask", "edge_dropout"])
def test_probabilities_are_checked(name):
    with pytest.raises(ConfigurationError, match=f"{name} of at least 0 and below 1"):
        AugmentationConfig(**{name: 1.0})
