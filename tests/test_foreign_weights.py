"""Files of weights come from other machines: code that they hold is not run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mathamr_kedro.base.checksums import replace_checked_file
from mathamr_kedro.learning.checkpoints import read_checkpoint
from mathamr_kedro.model.weights import read_state


class Touch:
    """Makes a file when somebody unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    "read",
    [
        read_checkpoint,
        read_state,
    ],
    ids=["checkpoint", "mathamr_plus"],
)
def test_code_in_a_file_of_weights_is_not_run(tmp_path, read):
    path = tmp_path / "weights.pt"
    with replace_checked_file(path) as part, part.open("wb") as file:
        torch.save({"made_from": "x", "weight": Touch(tmp_path / "ran")}, file)
    with pytest.raises(Exception, match=r"[Ww]eights"):
        read(path)
    assert not (tmp_path / "ran").exists()
    torch.load(path, weights_only=False)
    assert (tmp_path / "ran").exists()  # it is a file that could do harm
