"""What a training tells about itself."""

from __future__ import annotations

import pytest

from mathamr_kedro.learning.checkpoints import Progress


@pytest.mark.parametrize(
    ("speed", "shown"), [(9.94, "9.9"), (10.0, "10"), (12345.6, "12,346")]
)
def test_slow_trainings_have_a_decimal_of_speed(caplog, speed, shown):
    caplog.set_level("INFO")
    Progress(1, 7, 3, 20, 1.25, speed, 61.0).log("ssemb", "graphs")
    assert caplog.messages == [
        f"ssemb: epoch 1/7, step 3/20: loss 1.2500, {shown} graphs/s, 1 min 1 s left"
    ]
