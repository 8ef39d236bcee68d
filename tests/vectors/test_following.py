"""What a build asks for before it writes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mathamr_kedro.vectors.following import Follower


def test_room_is_reserved_for_all_vectors_of_a_batch():
    """Those of MaxSim, and one more of each: a document's or a formula's."""
    follower: Any = Follower.__new__(Follower)
    follower._store = SimpleNamespace(width=8)
    post = SimpleNamespace(vectors={"all": [[0.0] * 8] * 3, "doc": [0.0] * 8})
    formula = SimpleNamespace(vectors={"formula": [0.0] * 8})
    assert follower._count_bytes([post, formula]) == 4 * 8 * (3 + 1 + 1)
