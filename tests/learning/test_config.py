"""Training configurations: the defaults of Table 4.5, and what is refused."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MathAMRError
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.losses import INITIAL_TEMPERATURE


def test_defaults_are_those_of_table_4_5():
    config = TrainingConfig()
    assert (config.model.hidden_dim, config.model.projection_dim) == (64, 32)
    assert (config.model.num_layers, config.model.num_bases) == (4, 64)
    assert config.model.virtual_init == "zero_embedding"
    assert (config.batch_size, config.num_epochs, config.patience) == (32, 7, 3)
    optimizer = config.optimizer
    assert (optimizer.learning_rate, optimizer.min_learning_rate) == (1e-4, 1e-5)
    assert optimizer.weight_decay == 1e-3
    assert INITIAL_TEMPERATURE == 0.05
    assert asdict(config.augmentation) == {"node_mask": 0.1, "edge_dropout": 0.1}


def test_file_changes_what_it_names(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"batch_size": 8, "model": {"num_bases": 256}}))
    config = TrainingConfig.read_json(path)
    assert (config.batch_size, config.model.num_bases) == (8, 256)
    assert config.num_epochs == 7


def test_written_configurations_are_read_back(tmp_path):
    config = TrainingConfig(seed=3, batch_size=8)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(asdict(config)))
    assert TrainingConfig.read_json(path) == config


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"batchsize": 8}', "did you mean 'batch_size'"),
        ('{"batch_size": 1}', "batch_size of at least 2"),
        ('{"loss": {"objective": "fast"}}', "one of"),
        ("{", "Expected JSON"),
    ],
)
def test_broken_files_are_named(tmp_path, text, message):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(MathAMRError, match=message):
        TrainingConfig.read_json(path)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("batch_size", 2), ("num_epochs", 0), ("patience", 0),
        ("seed", 0), ("checkpoint_seconds", 0), ("log_seconds", 0),
    ],
)  # fmt: skip
def test_the_least_of_each_number_is_allowed_and_less_is_not(name, least):
    assert getattr(TrainingConfig(**{name: least}), name) == least
    with pytest.raises(ConfigurationError, match=name):
        TrainingConfig(**{name: least - 1})


def test_nothing_beyond_the_thesis_is_on_by_default():
    config = TrainingConfig()
    assert config.distillation.weight == 0
    assert config.seed == 0


def test_missing_file_is_named(tmp_path):
    with pytest.raises(MathAMRError, match=r"none\.json"):
        TrainingConfig.read_json(tmp_path / "none.json")


def test_the_place_of_computation_is_no_part_of_the_result():
    values = TrainingConfig().describe_result()
    assert "compute" not in values
    assert {"model", "loss", "optimizer", "augmentation", "seed"} <= values.keys()


def test_negative_numbers_are_refused():
    with pytest.raises(ConfigurationError, match="patience of at least 0"):
        TrainingConfig(patience=-1)
