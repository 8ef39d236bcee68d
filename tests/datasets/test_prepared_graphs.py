"""Prepared graphs in the catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.datasets.mathamr_plus import PreparedGraphsDataset
from mathamr_kedro.graph import PairSplit, Preparation, PreprocessingConfig
from mathamr_kedro.graph.vocabulary import NodeVocabulary, RelationVocabulary


def make_preparation() -> Preparation:
    types = NodeVocabulary.build({}, 20, 5)
    relations = RelationVocabulary.build({})
    report = {"posts": 0, "train_pairs": 0}
    return Preparation(
        PreprocessingConfig(), "f", types, relations, PairSplit([], []), [], [],
        report,
    )  # fmt: skip


def test_save_and_load(tmp_path: Path) -> None:
    dataset = PreparedGraphsDataset(filepath=str(tmp_path / "prepared"))
    dataset.save(make_preparation())
    dataset.save(make_preparation())
    found = dataset.load().open(PreprocessingConfig())
    assert found.made_from == "f"
    assert len(found.posts) == 0


def test_exists(tmp_path: Path) -> None:
    dataset = PreparedGraphsDataset(filepath=str(tmp_path / "prepared"))
    assert not dataset.exists()
    dataset.save(make_preparation())
    assert dataset.exists()


def test_load_missing_file(tmp_path: Path) -> None:
    dataset = PreparedGraphsDataset(filepath=str(tmp_path / "prepared"))
    with pytest.raises(MissingInputError, match="Expected prepared graphs"):
        dataset.load().open(PreprocessingConfig())
