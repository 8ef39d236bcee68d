"""Nodes that stream have the time of all their chunks in Kedro-Viz's run view."""

from __future__ import annotations

import json
import time

import pytest
from kedro.pipeline import node

from mathamr_kedro.project.run_times import StreamTimes


def stream(text):
    yield text


def copy(text):
    return text


@pytest.fixture
def events(tmp_path, monkeypatch):
    """The notes of a run whose nodes took no time by Kedro's hooks."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".viz" / "kedro_pipeline_events.json"
    file.parent.mkdir()

    def write():
        names = ("stream", "copy")
        done = [{"event": "after_node_run", "node": n, "duration": 0.0} for n in names]
        file.write_text(json.dumps([{"event": "before_pipeline_run"}, *done]))

    def read():
        found = json.loads(file.read_text())
        return {e["node"]: e["duration"] for e in found if "node" in e}

    return write, read


def run(times, *nodes):
    times.before_pipeline_run()
    for each in nodes:
        times.before_node_run(each)
        time.sleep(0.02)
        times.after_dataset_saved(each)


NODES = (
    node(stream, "a", "b", name="stream"),
    node(copy, "a", "c", name="copy"),
)


def test_a_stream_takes_until_its_last_chunk(events):
    write, read = events
    times = StreamTimes()
    run(times, *NODES)
    write()
    times.after_pipeline_run()
    assert read()["stream"] >= 0.02
    assert read()["copy"] == 0.0


def test_the_notes_of_an_earlier_run_stay_as_they_are(events):
    write, read = events
    write()
    time.sleep(0.02)
    times = StreamTimes()
    run(times, *NODES)
    times.after_pipeline_run()
    assert set(read().values()) == {0.0}
