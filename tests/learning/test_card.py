"""The card of an encoder."""

from __future__ import annotations

import pytest

from mathamr_kedro.graph import GraphVariant
from mathamr_kedro.learning.releasing import Provenance
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from tests.learning.conftest import SCHEMA

MEASURES = ("nDCG'", "MAP'", "P'@10", "Bpref", "judged@10")


@pytest.fixture(scope="module")
def model():
    shape = ModelConfig(hidden_dim=16, projection_dim=8, num_layers=2, num_bases=3)
    return MathAMRPlus(shape, SCHEMA)


def write(model, **known) -> str:
    return Provenance(**known).write_card("mine", model, GraphVariant())


def epoch(number, train, held_out, seconds=90.0):
    return {
        "epoch": number, "train_loss": train, "validation_loss": held_out,
        "seconds": seconds,
    }  # fmt: skip


def test_a_card_says_what_the_model_is(model):
    card = write(model)
    assert card.startswith("# mine\n")
    for line in (
        "| hidden_dim | 16 |",
        f"| parameters | {model.count_parameters()['all']:,} |",
        "| node types | 40 |",
        f"| relations | {SCHEMA.num_relations} |",
        "| graph.structure | hierarchy |",
        "| content_edges | True |",
    ):
        assert line in card.splitlines(), line


def test_a_card_without_records_says_so(model):
    card = write(model)
    assert "| training pairs | not recorded |" in card
    assert "The training history was not recorded." in card
    assert "was not evaluated" in card
    for name in ("started from", "```json"):
        assert name not in card


def test_data_and_settings_are_told(model):
    facts = {
        "pairs": 1234, "validation_pairs": 56,
        "start": "abc", "settings": {"seed": 3},
    }  # fmt: skip
    card = write(model, facts=facts, surroundings={"parser": "one"})
    assert "| training pairs | 1,234 |" in card
    assert "| validation pairs | 56 |\n| started from weights | abc |" in card
    assert "| parser | one |" in card
    assert '```json\n{\n  "seed": 3\n}\n```' in card


def test_the_best_epoch_is_that_of_the_lowest_loss_of_held_out_pairs(model):
    card = write(
        model, history=[epoch(1, 0.9, 0.7), epoch(2, 0.5, 0.6), epoch(3, 0.1, 0.8)]
    )
    for line in (
        "| epochs | 3 |", "| best epoch | 2 |", "| training loss | 0.5000 |",
        "| validation loss | 0.6000 |", "| minutes | 4.5 |",
    ):  # fmt: skip
        assert line in card
    card = write(model, history=[epoch(1, 0.9, None), epoch(2, 0.5, None)])
    assert "| best epoch | 2 |" in card
    assert "| validation loss | – |" in card


def test_four_measures_of_each_set_of_topics_stand_between_floor_and_ceiling(model):
    metrics = [
        {
            "task": task, "topic_set": name, "system": system, "measure": measure,
            "mean": mean, "floor": 0.1, "ceiling": 0.9, "topics": 78,
        }
        for task, name in ((1, "2022"), (2, "2021"))
        for system, mean in (("exact", 0.5), ("hnsw", 0.25))
        for measure in MEASURES
    ]  # fmt: skip
    card = write(model, metrics=metrics)
    table = card.partition("Task 1, 2022, 78 topics:\n\n")[2].splitlines()[:6]
    assert table == [
        "| system | nDCG' | MAP' | P'@10 | Bpref |",
        "|---|---:|---:|---:|---:|",
        "| floor | 0.1000 | 0.1000 | 0.1000 | 0.1000 |",
        "| exact | 0.5000 | 0.5000 | 0.5000 | 0.5000 |",
        "| hnsw | 0.2500 | 0.2500 | 0.2500 | 0.2500 |",
        "| ceiling | 0.9000 | 0.9000 | 0.9000 | 0.9000 |",
    ]
    assert "Task 2, 2021, 78 topics:" in card
