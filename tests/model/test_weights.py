"""Models are saved and come back."""

from __future__ import annotations

import json
import re

import pytest
import torch

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import (
    WEIGHTS,
    checksum_model,
    copy_model,
    load_model,
    save_model,
)

CPU = ComputeConfig(device="cpu")


@pytest.fixture
def model(batch):
    torch.manual_seed(0)
    config = ModelConfig(hidden_dim=16, projection_dim=8, num_layers=2, num_bases=4)
    return MathAMRPlus(config, batch.schema)


def test_loaded_model_encodes_the_same(tmp_path, batch, model):
    save_model(tmp_path / "model", model)
    loaded = load_model(tmp_path / "model", CPU)
    assert loaded.config == model.config
    assert loaded.schema == model.schema
    assert torch.equal(loaded(batch), model(batch))
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        "model.json",
        "seals.json",
        "weights.pt",
    ]


def test_half_precision_keeps_three_digits(tmp_path, batch, model):
    save_model(tmp_path / "whole", model)
    save_model(tmp_path / "half", model, half=True)
    loaded = load_model(tmp_path / "half", CPU)
    assert {value.dtype for value in loaded.state_dict().values()} == {torch.float32}
    vectors = loaded(batch)
    assert not torch.equal(vectors, model(batch))
    torch.testing.assert_close(vectors, model(batch), atol=1e-3, rtol=0)
    stored = torch.load(tmp_path / "half" / WEIGHTS, weights_only=True)
    whole = torch.load(tmp_path / "whole" / WEIGHTS, weights_only=True)
    sizes = [sum(v.nbytes for v in state.values()) for state in (stored, whole)]
    assert 2 * sizes[0] == sizes[1]


def test_copy_is_the_same_model(tmp_path, batch, model):
    save_model(tmp_path / "model", model)
    copy_model(tmp_path / "model", tmp_path / "copy")
    assert torch.equal(load_model(tmp_path / "copy", CPU)(batch), model(batch))


def test_missing_model_is_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"no model\.json"):
        load_model(tmp_path, CPU)


def test_other_version_is_refused(tmp_path, model):
    save_model(tmp_path, model)
    values = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(values | {"version": 9}))
    with pytest.raises(MalformedInputError, match="got 9"):
        load_model(tmp_path, CPU)


def test_unknown_setting_is_refused(tmp_path, model):
    save_model(tmp_path, model)
    values = json.loads((tmp_path / "model.json").read_text())
    values["model"]["num_layer"] = 3
    (tmp_path / "model.json").write_text(json.dumps(values))
    with pytest.raises(ConfigurationError, match="did you mean 'num_layers'"):
        load_model(tmp_path, CPU)


def test_a_digest_follows_from_the_weights_alone(tmp_path, model):
    for name in ("model", "again"):
        save_model(tmp_path / name, model)
    digest = checksum_model(tmp_path / "model")
    assert re.fullmatch("[0-9a-f]{16}", digest)
    assert checksum_model(tmp_path / "again") == digest
    with torch.no_grad():
        model.head.inner.weight[0, 0] += 1
    save_model(tmp_path / "other", model)
    assert checksum_model(tmp_path / "other") != digest


def test_weights_with_another_byte_are_refused(tmp_path, model):
    save_model(tmp_path, model)
    content = bytearray((tmp_path / WEIGHTS).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / WEIGHTS).write_bytes(content)
    with pytest.raises(DamagedFileError, match=WEIGHTS):
        load_model(tmp_path, CPU)
    with pytest.raises(DamagedFileError, match=WEIGHTS):
        copy_model(tmp_path, tmp_path / "copy")
