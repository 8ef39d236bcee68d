"""Run files of others as rows of a benchmark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.cli._run_files import RunFiles
from mathamr_kedro.trec import Qrels
from tests.experiments.benchmark.rows import ENTRY

QRELS = Qrels({"B.1": {"v1": 3, "v2": 0}})
FORMULAS = replace(ENTRY, task=2, protocol="2")
VISUAL = {"f1": "v1", "f2": "v2", "f3": "v1"}


@pytest.fixture
def instances(tmp_path):
    """Topic, formula, post, rank, score, run: the form of the lab's second task."""
    file = tmp_path / "others.tsv"
    rows = [("f2", "10"), ("f9", "11"), ("f1", "12")]
    file.write_text(
        "".join(
            f"B.1\t{formula}\t{post}\t{rank}\t{9 - rank}\tothers\n"
            for rank, (formula, post) in enumerate(rows, start=1)
        )
    )
    return file


def test_formulas_become_what_is_judged(instances):
    (run,) = RunFiles(FORMULAS, QRELS, VISUAL.get).gather(None, [instances])
    assert run.documents("B.1").ids == ["v2", "unknown formula f9", "v1"]
    assert not run.holds_instances


def test_without_a_table_of_formulas_they_stay_what_they_are(instances):
    (run,) = RunFiles(FORMULAS, QRELS).gather(None, [instances])
    assert run.documents("B.1").ids == ["f2", "f9", "f1"]
    assert run.holds_instances


def test_files_without_topics_of_the_benchmark_are_passed_over(instances):
    others = Qrels({"B.2": {"v1": 3}})
    assert RunFiles(FORMULAS, others, VISUAL.get).gather(None, [instances]) == []


def test_a_second_run_of_a_name_says_that_it_is_of_a_file(tmp_path, instances):
    again = tmp_path / "again" / instances.name
    again.parent.mkdir()
    again.write_text(instances.read_text())
    runs = RunFiles(FORMULAS, QRELS)
    found = runs.gather(None, [instances, again])
    assert [run.name for run in found] == ["others", "others (file)"]
    with pytest.raises(ConfigurationError, match=r"'others\.tsv' twice"):
        runs.gather(None, [instances, again, again])
