"""What virtual nodes read from their members, against a loop in float64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.readout import MemberReadout

CONFIG = ModelConfig(
    hidden_dim=16, projection_dim=8, num_layers=2, num_bases=4, readout_dim=24
)


@pytest.fixture
def readout():
    torch.manual_seed(0)
    module = MemberReadout(CONFIG)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module


def read_out_one_by_one(readout, h, batch):
    """The equation of the module, member by member."""
    rows = []
    for node in batch.representative.tolist():
        at = (batch.virtual_node == node).nonzero().flatten().tolist()
        if not at:
            rows.append(torch.zeros(8, dtype=h.dtype))
            continue
        members = batch.member[batch.member_of == at[0]].tolist()
        total = torch.zeros(24, dtype=h.dtype)
        for member in members:
            x = F.layer_norm(h[member], (16,), readout.norm.weight, readout.norm.bias)
            total = total + F.gelu(readout.features.weight @ x + readout.features.bias)
        norm = readout.pooled_norm
        pooled = F.layer_norm(total / len(members), (24,), norm.weight, norm.bias)
        rows.append(readout.out.weight @ pooled)
    return torch.stack(rows)


def test_readout_equals_a_loop(readout, batch):
    h = torch.randn(batch.num_nodes, 16)
    mine = readout(h, batch)
    expected = read_out_one_by_one(readout.double(), h.double(), batch)
    assert torch.allclose(mine.double(), expected, atol=1e-5)


def test_gradients_equal_those_of_a_loop(readout, batch):
    found = []
    weights = torch.randn(len(batch.representative), 8, dtype=torch.float64)
    readout = readout.double()
    h = torch.randn(batch.num_nodes, 16, dtype=torch.float64, requires_grad=True)
    for read in (readout, lambda h, batch: read_out_one_by_one(readout, h, batch)):
        inputs = [h, *readout.parameters()]
        found.append(torch.autograd.grad((read(h, batch) * weights).sum(), inputs))
    for mine, expected in zip(*found, strict=True):
        assert torch.allclose(mine, expected, atol=1e-10)


def test_content_nodes_read_nothing(readout, flat_shards):
    batch = flat_shards.assemble([0, 1])
    is_content = ~batch.is_virtual()[batch.representative.long()]
    read = readout(torch.randn(batch.num_nodes, 16), batch)
    assert not read[is_content].any()
    assert read[~is_content].any(1).all()


def test_vectors_read_members_beyond_the_state(batch):
    """The state of a virtual node is left as it is; only its members decide."""
    torch.manual_seed(0)
    model = MathAMRPlus(CONFIG, batch.schema)
    torch.nn.init.zeros_(model.head.outer.weight)
    read = model.readout(model.encoder(*states(model, batch)), batch)
    expected = F.normalize(model.head.outer_norm(read + model.head.outer.bias), dim=1)
    assert torch.allclose(model(batch), expected, atol=1e-6)


def states(model, batch):
    backend = model.backend
    return model.nodes(batch), backend.prepare(batch, None), backend


def test_a_model_without_readout_starts_the_same(batch):
    shared = []
    for width in (0, 24):
        torch.manual_seed(0)
        config = ModelConfig(hidden_dim=16, num_bases=4, readout_dim=width)
        shared.append(MathAMRPlus(config, batch.schema).state_dict())
    plain, other = shared
    assert set(other) - set(plain) == {
        f"readout.{name}"
        for name in (
            "norm.weight", "norm.bias", "features.weight", "features.bias",
            "pooled_norm.weight", "pooled_norm.bias", "out.weight",
        )
    }  # fmt: skip
    assert all(torch.equal(value, other[name]) for name, value in plain.items())


def test_parameters_of_the_readout_are_counted(batch):
    counts = MathAMRPlus(CONFIG, batch.schema).count_parameters()
    assert counts["readout"] == 2 * 16 + 17 * 24 + 2 * 24 + 24 * 8


def test_a_negative_width_is_refused():
    with pytest.raises(ConfigurationError, match="readout_dim of at least 0"):
        ModelConfig(readout_dim=-1)
