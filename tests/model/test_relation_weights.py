"""Decompositions of relation matrices (thesis 2.4.3)."""

from __future__ import annotations

import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.relation_weights import RelationWeights


def make(decomposition, bases):
    torch.manual_seed(0)
    config = ModelConfig(
        hidden_dim=8, num_layers=2, decomposition=decomposition, num_bases=bases
    )
    return RelationWeights(config, num_relations=5)


def test_bases_are_weighted_sums():
    weights = make("basis", 3)
    made = weights()
    for layer in range(2):
        for r in range(5):
            expected = sum(
                weights.coefficients[layer, r, b] * weights.bases[layer, b]
                for b in range(3)
            )
            assert torch.allclose(made[layer, r], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("decomposition", "bases", "expected"),
    [("basis", 3, 2 * (5 * 3 + 3 * 64)), ("none", 1, 640)],
)
def test_decompositions_have_fewer_parameters(decomposition, bases, expected):
    made = make(decomposition, bases)
    assert sum(p.numel() for p in made.parameters()) == expected
    assert made().shape == (2, 5, 8, 8)


def test_dimensions_must_be_positive():
    with pytest.raises(ConfigurationError, match="num_layers of at least 1"):
        ModelConfig(num_layers=0)
