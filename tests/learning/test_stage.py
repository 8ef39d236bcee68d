"""Parameters of a training."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.learning import stage as trainings
from mathamr_kedro.learning.distillation import DistillationConfig
from mathamr_kedro.learning.stage import TrainingStageConfig

TAUGHT = DistillationConfig(document_weight=1.0)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"batch_size": 1}, "batch_size of at least 2"),
        ({"num_epochs": 0}, "num_epochs of at least 1"),
    ],
)
def test_what_contradicts_itself_is_refused(values, told):
    with pytest.raises(ConfigurationError, match=told):
        TrainingStageConfig(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"start_from": "ours"},
        {"start_from": "ours", "num_epochs": 0},
        {"num_epochs": 1},
    ],
)
def test_each_start_alone_is_taken(values):
    assert TrainingStageConfig(**values)


@pytest.mark.parametrize(
    ("values", "makes"),
    [
        ({}, False),
        ({"distillation": TAUGHT}, True),
        ({"distillation": TAUGHT, "num_epochs": 0, "start_from": "ours"}, False),
        (
            {"distillation": DistillationConfig(score_weight=1, document_vectors="v")},
            False,
        ),
    ],
)
def test_texts_are_encoded_where_their_vectors_teach_and_are_not_given(values, makes):
    assert TrainingStageConfig(**values).makes_document_vectors is makes


@pytest.fixture
def machine(monkeypatch):
    """A machine without sentence encoders; notes what it is asked for."""
    asked = []
    monkeypatch.setattr(trainings, "ReleasedEncoder", asked.append)
    monkeypatch.setattr(trainings, "explain_absence", "no {}".format)
    return asked


def check(**values):
    asked = []
    config = TrainingStageConfig(**values)
    compute = SimpleNamespace(check_machine=lambda: asked.append("device"))
    object.__setattr__(config, "compute", compute)
    config.check_machine()
    return asked


def test_what_a_training_needs_is_looked_for(machine):
    assert check() == ["device"]
    assert machine == []
    assert check(start_from="ours", num_epochs=0) == []
    assert machine == ["ours"]


def test_a_sentence_encoder_is_needed_only_for_its_vectors(machine):
    with pytest.raises(ConfigurationError, match=r"training\.text_model: no mine"):
        check(text_model="mine", distillation=TAUGHT)
    assert check(text_model="mine") == ["device"]


def test_what_decides_the_weights_names_a_training():
    plain = TrainingStageConfig().describe_result()
    assert not {"text_model", "start_from"} & plain.keys()
    assert plain["model"]
    started = TrainingStageConfig(start_from="ours").describe_result()
    assert started["start_from"] == "ours"
    assert "model" not in started
    named = TrainingStageConfig(distillation=TAUGHT).describe_result()
    assert named["text_model"] == "minilm"
