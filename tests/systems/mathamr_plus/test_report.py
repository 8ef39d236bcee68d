"""The curve of a training, as it grows."""

from __future__ import annotations

from dataclasses import asdict

from mathamr_kedro.learning.checkpoints import EpochRecord, Progress
from mathamr_kedro.systems.mathamr_plus.report import TrainingCurve, draw_history


def make_record(epoch, loss, validation=0.4):
    values = (epoch, 10 * epoch, loss, validation, 0.5, 0.4, 0.05, 1e-4, 1.0, 2.0, 5.0)
    return asdict(EpochRecord(*values, 100.0))


def test_curve_is_drawn_at_once_and_at_the_end(tmp_path):
    path = tmp_path / "curve.png"
    curve = TrainingCurve(path)
    curve.end()
    assert not path.exists()  # nothing was trained
    curve.tell(Progress(1, 2, 5, 10, 0.9, 1.0, 1.0))
    assert path.read_bytes().startswith(b"\x89PNG")
    path.unlink()
    curve.tell(Progress(1, 2, 10, 10, 0.7, 5.0, 2.0, (make_record(1, 0.7),)))
    assert not path.exists()  # just now it was drawn
    curve.end()
    assert path.exists()


def test_a_training_goes_on_if_nothing_can_be_drawn(tmp_path, caplog):
    curve = TrainingCurve(tmp_path / "missing/curve.png")
    curve.tell(Progress(1, 2, 5, 10, 0.9, 1.0, 1.0))
    assert "was not drawn" in caplog.text


def test_history_has_losses_and_accuracies():
    history = [make_record(1, 0.7), make_record(2, 0.5, None)]
    losses, accuracies = draw_history(history, [(0.5, 0.9), (1.5, 0.6)]).axes
    found = {line.get_label(): line for line in (*losses.lines, *accuracies.lines)}
    assert list(found["loss"].get_ydata()) == [0.7, 0.5]
    assert found["validation loss"].get_ydata()[0] == 0.4
    assert list(found["loss of the last steps"].get_xdata()) == [0.5, 1.5]
    assert len(found) == 5
