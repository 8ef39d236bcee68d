"""Under which name an evaluation is recorded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.experiments import COLLECTION
from mathamr_kedro.experiments.grid import describe_key
from mathamr_kedro.graph import PreprocessingConfig
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.pipelines.evaluation.nodes import (
    identify_evaluation,
    record_evaluation,
)
from mathamr_kedro.systems.changes import Change, ChangeStore
from mathamr_kedro.trec import Run

PARAMETERS: dict[str, Any] = {
    "preprocessing": {"graph": {"formula_mode": "opt"}},
    "training": {"seed": 7},
    "indexing": {},
    "evaluation": {},
}
GRAPHS = PreprocessingConfig.read(PARAMETERS["preprocessing"])
TRAINING = TrainingStageConfig(seed=7)

PARSER = {"parser": "builtin", "digest": "1f"}


UNCHANGED = ChangeStore(Path("nowhere"))


def identify(graphs=GRAPHS, training=TRAINING, mark="x", changes=UNCHANGED):
    data = SimpleNamespace(checksum=mark, files=lambda: [])
    stated = SimpleNamespace(preprocessing=graphs, training=training)
    model = SimpleNamespace(
        facts={}, folder=Path("abc"), system=SimpleNamespace(config=stated)
    )
    index = SimpleNamespace(counts={"vectors_folder": "of the vectors"})
    return identify_evaluation(
        model, index, changes, PARSER, PARAMETERS, **dict.fromkeys(COLLECTION, data)
    )


def test_evaluation_is_named_by_its_parameters_and_data():
    record = identify()
    assert record.key == describe_key(PARAMETERS)
    assert record.seed == 7
    assert record.amr_parser == PARSER
    assert record.collection == identify().collection
    assert record.collection != identify(mark="y").collection


def test_posts_changed_by_hand_are_told_and_get_a_cell_of_their_own(caplog, tmp_path):
    found = []
    for key in "ab":
        changes = ChangeStore(tmp_path / key)
        with changes.changing() as posts:
            posts[key] = Change(None)
        found.append(identify(changes=changes).collection)
    assert "0 posts were added and 1 deleted since indexing" in caplog.text
    assert len({*found, identify().collection}) == 3


@pytest.mark.parametrize(
    "trained",
    [
        {"training": TrainingStageConfig(seed=8)},
        {"graphs": PreprocessingConfig.read({"graph": {"formula_mode": "slt"}})},
    ],
)
def test_encoder_of_other_parameters_counts_for_no_experiment(trained, caplog):
    assert identify(**trained).key != describe_key(PARAMETERS)
    assert "trained with other parameters" in caplog.text


def test_missing_data_is_refused():
    with pytest.raises(MissingInputError):
        identify(mark="")


def test_record_holds_everything():
    scores = pd.DataFrame({"task": [1], "score": [0.5]})
    hits = Hits([str(n) for n in range(30)], np.linspace(1, 0, 30))
    runs = [Run("mathamr_plus", {"A.1": hits}, task=1)]
    outputs = record_evaluation(
        identify(),
        scores,
        [{"mean": 0.5}],
        {},
        [],
        "# Page",
        runs,
        SimpleNamespace(records=list),
    )
    assert outputs.scores.column("score").to_pylist() == [0.5]
    assert outputs.report == "# Page"
    assert outputs.record.encoder["vectors"] == "of the vectors"
    assert outputs.results.column("document").to_pylist() == [str(n) for n in range(10)]
