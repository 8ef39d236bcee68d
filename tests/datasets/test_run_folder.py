"""Runs as a dataset."""

from __future__ import annotations

import numpy as np
import pytest
from kedro.io import DatasetError, Version

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError, find_cause
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.datasets.run_folder import RunFolderDataset
from mathamr_kedro.trec import Run

POSTS = Hits(["9", "17"], np.array([0.5, 0.5]))
FORMULAS = FormulaHits(["f1", "f2"], np.array([2.0, 1.0]), ["70", "71"], ["3", "4"])
LISTS = {"A.1": POSTS, "A.2": Hits([], np.zeros(0))}
RUNS = [
    Run("a/b", LISTS, task=1, topic_set="mine"),
    Run("a/b", {"B.1": FORMULAS}, task=2, topic_set="mine"),
]


def test_save_and_load(tmp_path):
    dataset = RunFolderDataset(filepath=str(tmp_path / "runs"))
    dataset.save(RUNS)
    folder = RunFolderDataset(filepath=str(tmp_path / "runs")).load()
    (first, posts), (second, formulas) = folder
    assert (first.system, first.topics, first.results, first.ties) == ("a/b", 2, 2, 1)
    assert first.trec == "task1/mine/a-b.trec"
    # Ties are separated in the order of the system: '9' before '17'.
    assert posts.lists["A.1"].ids == ["9", "17"]
    assert np.all(np.diff(posts.lists["A.1"].scores) < 0)
    assert (posts.name, formulas.holds_instances) == ("a/b", False)
    assert formulas.lists["B.1"].ids == ["70", "71"]
    submitted = (folder.folder / second.submission).read_text().split("\n")[0]
    assert submitted.split("\t") == ["B.1", "f1", "3", "1", "2.0", "a-b"]


def test_versions_stand_beside_each_other(tmp_path):
    for name, runs in (("2026-01-01", RUNS), ("2026-01-02", RUNS[:1])):
        version = Version(None, name)
        RunFolderDataset(filepath=str(tmp_path / "runs"), version=version).save(runs)
    latest = RunFolderDataset(
        filepath=str(tmp_path / "runs"), version=Version(None, None)
    )
    assert len(latest.load().entries) == 1
    first = RunFolderDataset(
        filepath=str(tmp_path / "runs"), version=Version("2026-01-01", None)
    )
    assert len(first.load().entries) == 2


def test_exists(tmp_path):
    dataset = RunFolderDataset(filepath=str(tmp_path / "runs"))
    assert not dataset.exists()
    dataset.save(RUNS)
    assert dataset.exists()


def test_load_missing_file(tmp_path):
    folder = RunFolderDataset(filepath=str(tmp_path / "runs")).load()
    with pytest.raises(MissingInputError, match="run the stage 'evaluation'"):
        list(folder)


def test_systems_that_want_one_file_are_refused(tmp_path):
    twins = [RUNS[0], Run("a-b", {"A.1": POSTS}, task=1, topic_set="mine")]
    with pytest.raises(DatasetError) as caught:
        RunFolderDataset(filepath=str(tmp_path / "runs")).save(twins)
    assert isinstance(find_cause(caught.value), ConfigurationError)
