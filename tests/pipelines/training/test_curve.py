"""The curve of a training, as it grows."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace

from mathamr_kedro.learning.history import EpochRecord, Progress
from mathamr_kedro.pipelines.training.curve import TrainingCurve


def make_record(epoch, loss):
    values = (epoch, 10 * epoch, loss, loss + 0.1, 0.5, 0.4, 0.05, 1e-4, 1.0, 2.0, 5.0)
    return asdict(EpochRecord(*values, 100.0))


def collect_curve():
    """A curve whose figures are kept as their traces."""
    drawn = []

    def draw(make, at_once=False):
        drawn.append({trace.name: (trace.x, trace.y) for trace in make().data})

    return TrainingCurve(SimpleNamespace(draw=draw)), drawn


def test_curve_grows_with_steps_and_epochs():
    curve, drawn = collect_curve()
    curve.end()
    assert drawn == []  # nothing was trained
    curve.tell(Progress(1, 2, 5, 10, 0.9, 1.0, 1.0))
    first = make_record(1, 0.7)
    curve.tell(Progress(1, 2, 10, 10, 0.7, 5.0, 2.0, (first,)))
    curve.tell(Progress(2, 2, 5, 10, 0.6, 1.0, 1.0, (first,)))
    curve.end()
    assert drawn[0]["loss of the last steps"] == ((0.5,), (0.9,))
    assert drawn[1]["validation loss"] == ((1,), (0.7 + 0.1,))
    assert drawn[2]["loss of the last steps"] == ((0.5, 1.5), (0.9, 0.6))
    assert drawn[3] == drawn[2]


def test_another_round_starts_another_curve():
    curve, drawn = collect_curve()
    curve.tell(Progress(2, 2, 5, 10, 0.9, 1.0, 1.0))
    curve.tell(Progress(1, 2, 5, 10, 0.8, 1.0, 1.0))
    assert drawn[-1]["loss of the last steps"] == ((0.5,), (0.8,))
