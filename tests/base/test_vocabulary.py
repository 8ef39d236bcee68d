"""Numbers of names."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.vocabulary import Vocabulary


def test_names_come_back_and_a_bad_file_is_named(tmp_path):
    path = tmp_path / "labels.json"
    with pytest.raises(MissingInputError, match=r"labels\.json .*'training'"):
        Vocabulary.load(path)
    made = Vocabulary(["?", "N!?", "𝑥"], lambda name: name[:2] + "?")
    made.save(path)
    again = Vocabulary.load(path, lambda name: name[:2] + "?")
    assert again.names == made.names
    assert [again.find(name) for name in ("𝑥", "N!7", "V!y")] == [2, 1, 0]
    path.write_text("[")
    with pytest.raises(MalformedInputError, match="list of names"):
        Vocabulary.load(path)
