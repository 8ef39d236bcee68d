"""Limits on the size of a formula; a larger one is refused or read in part."""

from __future__ import annotations

MAX_CHARACTERS = 20_000
"""Characters of a formula, as it is written and with its macros expanded."""

MAX_DEPTH = 60
"""Groups, arguments and environments inside each other."""

MAX_STEPS = 20_000
"""Factors that the grammar may try in a row (and twenty more per item)."""


MAX_CELLS = 100_000
"""Cells of a table after its short rows are filled up."""


class LimitError(Exception):
    """A formula goes beyond a limit.

    Args:
        reason: the code by which it is counted, e.g. ``"too_deep"``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
