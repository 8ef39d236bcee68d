"""What a system found for all topics, saved and loaded."""

from __future__ import annotations

import numpy as np

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.datasets.system_runs import SystemRunsDataset
from mathamr_kedro.trec import Run


def test_runs_are_loaded_as_they_were_saved(tmp_path):
    dataset = SystemRunsDataset(filepath=str(tmp_path / "new" / "x.parquet"))
    posts = Hits(["3", "1"], np.array([0.1 + 0.2, -1.0]))
    formulas = FormulaHits(["f"], np.array([1 / 3]), ["v"], ["p"])
    runs = [
        Run("x", {"A.1": posts, "A.2": Hits([], np.zeros(0))}, task=1, seconds=2.0),
        Run(
            "x/y", {"B.1": formulas}, task=2, query_seconds={"B.1": 0.5}, device="cuda"
        ),
    ]
    assert not dataset.exists()
    dataset.save(runs)
    loaded = dataset.load()
    for run, found in zip(runs, loaded, strict=True):
        assert (run.name, run.task, run.seconds) == (
            found.name,
            found.task,
            found.seconds,
        )
        assert (run.query_seconds, run.device) == (found.query_seconds, found.device)
        assert [*run.lists] == [*found.lists]
        for hits, again in zip(run.lists.values(), found.lists.values(), strict=True):
            assert type(hits) is type(again)
            assert hits.scores.tolist() == again.scores.tolist()
            assert (hits.ids, hits.judged_ids) == (again.ids, again.judged_ids)
