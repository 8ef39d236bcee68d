"""Figures that are drawn while something goes on."""

from __future__ import annotations

import base64

import plotly.graph_objects as go
import pytest
from kedro.io import DatasetError

from mathamr_kedro.datasets import live_figures
from mathamr_kedro.datasets.live_figures import LiveFigureDataset


@pytest.fixture
def dataset(tmp_path):
    return LiveFigureDataset(filepath=str(tmp_path / "new/live.png"))


@pytest.fixture
def clock(monkeypatch):
    """Time stands still but for what a test adds."""
    now = [100.0]
    monkeypatch.setattr(live_figures.time, "monotonic", lambda: now[0])
    return now


def draw_line(*values):
    return go.Figure(go.Scatter(y=values))


def test_figure_is_drawn_at_once_and_then_seldom(dataset, tmp_path, clock):
    live, made = dataset.load(), []
    assert not dataset.exists()

    def make():
        made.append(clock[0])
        return draw_line(*range(2 + len(made)))

    for _ in range(7):
        live.draw(make)
        clock[0] += 1
    assert made == [100.0, 105.0]
    live.draw(make, at_once=True)
    assert made == [100.0, 105.0, 107.0]
    content = (tmp_path / "new/live.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert base64.b64decode(dataset.preview()) == content
    assert 'src="live.png"' in (tmp_path / "new/live.html").read_text()
    assert len(list((tmp_path / "new").iterdir())) == 2  # no parts are left


def test_slow_drawings_are_made_less_often(dataset, clock):
    """A fiftieth of the time, whatever a drawing takes."""
    live, made = dataset.load(), []

    def make():
        made.append(clock[0])
        clock[0] += 2
        return draw_line(1, 2)

    for _ in range(250):
        live.draw(make)
        clock[0] += 1
    assert made == [100.0, 200.0, 300.0]


def test_what_cannot_be_written_stops_nothing(dataset, tmp_path, caplog):
    (tmp_path / "new").write_text("a file where the folder should be")
    dataset.load().draw(lambda: draw_line(1, 2))
    assert "was not drawn" in caplog.text


def test_it_is_not_saved_to(dataset):
    with pytest.raises(DatasetError, match="drawn by the node itself"):
        dataset.save(object())
