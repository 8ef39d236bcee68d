"""Threads with what real posts have and clean ones have not."""

from __future__ import annotations

import random
from collections.abc import Mapping

from mathamr_kedro.sample.threads import Thread

LOST_FORMULAS: Mapping[str, tuple[tuple[str, str], ...]] = {}
"""Index rows without a place in the posts: thread to LaTeX and issue (d, dv)."""
CORRECTED_VISUAL_IDS: Mapping[str, tuple[str, ...]] = {}
"""Index rows whose visual id was corrected: thread to LaTeX."""


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads with defects."""
    return []
