r"""Spaces in a row: most mean nothing, a quad or more separates like a comma.

```
a \, b      a b            a \quad b     a , b   (the comma is not drawn)
```
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.nodes import Hint, Item

_SEPARATES = 10.0
"""Points of space from which on it separates: one quad."""


def settle_hints(items: list[Item]) -> list[Item]:
    """Return a row without its small spaces; wide ones become punctuation."""
    for item in items:
        if item.__class__ is Hint:
            break
    else:
        return items
    settled: list[Item] = []
    width = 0.0
    phantom = False
    for item in items:
        if item.__class__ is Hint:
            if settled and settled[-1].role != "OPEN":
                width += item.width
                phantom = phantom or item.phantom
            continue
        if width:
            _separate(settled, width, phantom)
            width, phantom = 0.0, False
        settled.append(item)
    if width:
        _separate(settled, width, phantom)
    return settled


def _separate(settled: list[Item], width: float, phantom: bool) -> None:
    if not phantom and width >= _SEPARATES and settled[-1].role != "PUNCT":
        settled.append(Hint(width))
