r"""Rows that the grammar cannot read: fences and scripts are put in order all the same.

```
( a , )^2 ]     Row[ Row[( a , )]^2 ]
```
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.composition import attach_script
from mathamr_kedro.formula.latex.nodes import Item, Row, ScriptMark
from mathamr_kedro.formula.latex.symbols import ABSENT


def arrange_fragments(items: list[Item]) -> list[Item]:
    """Return the row with fenced parts in rows of their own and scripts attached.

    A closing fence without an opening one closes everything before it, as published;
    scripts after it stay by themselves.
    """
    rows: list[list[Item]] = [[], []]  # the innermost open row comes last
    for item in items:
        role = item.role
        if role == "OPEN":
            rows.append([item])
        elif role == "CLOSE":
            rows[-1].append(item)
            _close_row(rows)
        else:
            rows[-1].append(item)
    while len(rows) > 1:
        _close_row(rows)
    arranged: list[Item] = []
    for item in rows[0]:
        if item.__class__ is Row and item.role == _MADE_HERE:
            arranged += item.items
        else:
            arranged.append(item)
    return arranged


_MADE_HERE = "FENCED"


def _close_row(rows: list[list[Item]]) -> None:
    attached = _attach_scripts(rows.pop())
    if not rows:
        rows.append([])
    if len(attached) == 1:
        rows[-1] += attached
    else:
        rows[-1].append(Row(attached, _MADE_HERE))


def _attach_scripts(items: list[Item]) -> list[Item]:
    """Return a row in which scripts hang on what precedes or follows them."""
    result: list[Item] = []
    before: list[ScriptMark] = []
    for place, item in enumerate(items):
        if item.__class__ is not ScriptMark:
            while before:
                item = attach_script(item, before.pop(), "pre")  # noqa: PLW2901
            result.append(item)
        elif item.floats:
            before.append(item)
        elif before and items[place - 1] is before[-1]:
            before.append(item)
        elif result:
            result[-1] = attach_script(result[-1], item)
        else:
            result.append(item)
    if before:
        result.append(_attach_to_nothing(before))
    return result


def _attach_to_nothing(marks: list[ScriptMark]) -> Item:
    """Return scripts at the end of a row, which nothing follows."""
    base: Item = marks.pop()
    if marks and not base.floats:  # type: ignore[union-attr]
        base = attach_script(ABSENT, base, "post")
        base = attach_script(base, marks.pop(), "post")
    while marks:
        base = attach_script(base, marks.pop(), "pre")
    return base
