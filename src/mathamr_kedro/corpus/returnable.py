"""Which formulas a search for formulas (Task 2) may return: one rule, one list.

```
formula index ── ReturnableRule ──► returnable_formulas ──► vectors, baselines, scores
```

The rule of the lab: whatever is in the formula index may be returned, formulas of
comments too, but for those with an issue ``d`` (the formula is not in the XML). A
collection without an index returns the formulas of its texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mathamr_kedro.base.records import Comment, FormulaInstance, Post
from mathamr_kedro.corpus.raw import is_number

FormulaPlace: TypeAlias = Literal["title", "question", "answer", "comment", "body"]
"""Where a formula occurs; ``body``: in a text that is neither question nor answer."""


@dataclass(frozen=True)
class ReturnableRule:
    """Which formulas may be returned; the default is the rule of the lab."""

    types: tuple[FormulaPlace, ...] = (
        "title", "question", "answer", "comment", "body",
    )  # fmt: skip
    """Places whose formulas may be returned."""
    issues_excluded: tuple[str, ...] = ("d", "dv")
    """Issues of the formula index whose formulas may not."""

    def choose(self, formulas: pa.Table) -> pa.Table:
        """Return the rows of the formula index that may be returned.

        Args:
            formulas: with the columns ``place`` and ``issue``, and those of a
                :class:`~mathamr_kedro.base.records.FormulaInstance`.
        """
        is_placed = pc.is_in(formulas["place"], value_set=pa.array(self.types))
        issues = pa.array(self.issues_excluded, pa.string())
        has_issue = pc.is_in(formulas["issue"], value_set=issues)
        kept = formulas.filter(pc.and_(is_placed, pc.invert(has_issue)))
        return kept.select(list(FormulaInstance._fields))

    def choose_mentions(self, texts: Iterable[Post | Comment]) -> list[FormulaInstance]:
        """Return the formulas of texts, if there is no formula index."""
        return [
            FormulaInstance(
                mention.formula_id,
                mention.visual_id,
                text.post_id,
                mention.latex,
                text.comment_id if isinstance(text, Comment) else None,
            )
            for text in texts
            if _name_place(text) in self.types
            for mention in text.formula_map
        ]


def _name_place(text: Post | Comment) -> str:
    if isinstance(text, Comment):
        return "comment"
    if text.post_type == "example":  # to learn from; no search returns it
        return ""
    return text.post_type if text.post_type in ("question", "answer") else "body"


class FormulaIds:
    """A set of formula ids that numbers its members: 4 or 8 bytes for a numeric one.

    >>> ids = FormulaIds(["7", "primes.md:0", "12", "7"])
    >>> len(ids), ids.find(["12", "9", "primes.md:0", "07"]).tolist()
    (3, [1, -1, 2, -1])
    >>> ids[2], ids[0]
    ('primes.md:0', '7')
    """

    def __init__(self, ids: Iterable[str]) -> None:
        numbers, others = array("q"), dict[str, int]()
        for name in ids:
            if _is_number(name):
                numbers.append(int(name))
            else:
                others.setdefault(name, len(others))
        self._numbers = np.unique(np.array(numbers, dtype=np.int64))
        self._others = others
        self._names = list(others)

    def __len__(self) -> int:
        return len(self._numbers) + len(self._others)

    def __getitem__(self, place: int) -> str:
        if place < len(self._numbers):
            return str(self._numbers[place])
        return self._names[place - len(self._numbers)]

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each id, -1 for one that is not in the set."""
        first = len(self._numbers)
        is_number = np.fromiter(map(_is_number, ids), np.bool_, len(ids))
        places = np.full(len(ids), -1, dtype=np.int64)
        wanted = np.array(
            [int(i) for i, number in zip(ids, is_number, strict=True) if number],
            dtype=np.int64,
        )
        if first:
            found = np.minimum(np.searchsorted(self._numbers, wanted), first - 1)
            known = self._numbers[found] == wanted
            places[is_number] = np.where(known, found, -1)
        for row in np.flatnonzero(~is_number).tolist():
            place = self._others.get(ids[row])
            places[row] = -1 if place is None else first + place
        return places


def _is_number(name: str) -> bool:
    """Tell whether a number would give the name back."""
    return is_number(name) and (name[0] != "0" or name == "0")
