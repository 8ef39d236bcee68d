"""Models are saved and come back."""

from __future__ import annotations

import json

import pytest
import torch

from mathamr_kedro.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from mathamr_kedro.model.weights import load_model, save_model

CPU = ComputeConfig(device="cpu")


@pytest.fixture
def model(batch):
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
        "weights.pt",
    ]


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
