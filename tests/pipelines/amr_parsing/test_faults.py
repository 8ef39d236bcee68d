"""A small run of the fault benchmark: nothing is lost, nothing is doubled."""

from __future__ import annotations

import pytest

from benchmarks.amr_faults import report, run


@pytest.mark.slow
def test_every_post_ends_as_a_graph_or_a_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_WORKER_NOTES", "")  # restored after the run
    monkeypatch.setattr("benchmarks.amr_faults._PAUSES", (0.5, 1.0))
    found = run(tmp_path / "run", 60, 20, seed=1, workers=2, seconds=1.0)
    assert report(found)
    assert found["killed"] == 1
    assert len(found["fired"]) == 19
