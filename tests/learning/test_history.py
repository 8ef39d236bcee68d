"""What a training tells about itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr_kedro.learning.history import EpochRecord, Progress

RECORD = EpochRecord(
    epoch=2, step=8, train_loss=0.5, validation_loss=0.75, accuracy=0.25,
    validation_accuracy=0.125, temperature=0.05, learning_rate=1e-4, grad_norm=1.0,
    seconds=30.0, pairs_per_second=4.0, memory_mib=100.0,
)  # fmt: skip


def test_the_loss_of_held_out_pairs_is_watched_where_there_is_one():
    assert RECORD.watched == 0.75
    assert replace(RECORD, validation_loss=None).watched == 0.5
    assert replace(RECORD, validation_loss=0.0).watched == 0.0


def test_an_ended_epoch_tells_how_long_the_others_will_take():
    first = replace(RECORD, epoch=1, seconds=99.0)
    told = Progress.of_ended_epoch([first, RECORD], epochs=5, steps=4)
    assert (told.epoch, told.epochs, told.step, told.steps) == (2, 5, 4, 4)
    assert (told.loss, told.pairs_per_second) == (0.5, 4.0)
    assert told.seconds_left == 90.0
    assert told.history == (first, RECORD)


@pytest.mark.parametrize(
    ("speed", "shown"), [(9.94, "9.9"), (10.0, "10"), (12345.6, "12,346")]
)
def test_slow_trainings_have_a_decimal_of_speed(caplog, speed, shown):
    caplog.set_level("INFO")
    Progress(1, 7, 3, 20, 1.25, speed, 61.0).log()
    assert caplog.messages == [
        f"epoch 1/7, step 3/20: loss 1.2500, {shown} pairs/s, 1 min 1 s left"
    ]
