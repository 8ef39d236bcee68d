r"""What is between bars or angle brackets.

```
|x|   ||x||   \|x\|     absolute value and norm
|x>   <x|   <x|y>      the brackets of quantum mechanics
```
"""

from __future__ import annotations

from collections.abc import Sequence

from mathamr_kedro.formula.latex.composition import (
    BRA,
    INNER_PRODUCT,
    KET,
    OPERATOR_PRODUCT,
    delimit,
    fence,
)
from mathamr_kedro.formula.latex.grammar.formulas import FormulaRules
from mathamr_kedro.formula.latex.nodes import Item
from mathamr_kedro.formula.latex.symbols import Symbol

_BARS = frozenset({"|", "parallel-to"})
_DOUBLE_BARS = (Symbol("OPEN", "‖"), Symbol("CLOSE", "‖"))


_BAR_GLYPHS = {
    "OPEN": {"|": "|", "||": "‖", "∥": "‖"},
    "PUNCT": {"|": "∣", "||": "∥", "‖": "∥"},
}
_bars: dict[tuple[Symbol, str], Symbol] = {}


class BarRules(FormulaRules):
    """Rules of factors between bars."""

    def bare_absolute(self) -> Item | None:
        """Return ``|x|`` where bars are allowed or not."""
        opening = self.items[self.i]
        self.i += 1
        inner = self.between_bars()
        if inner is None or self.roles[self.i] != "VERTBAR":
            return None
        left = self.turn_bar(opening, "OPEN")
        right = self.turn_bar(self.items[self.i], "CLOSE")
        self.i += 1
        return self.scripted(fence([left, inner, right]))

    def between_bars(self) -> Item | None:
        """Return the expression between two bars, if bars may nest that deep."""
        if self.bars <= 0:
            self.saw_deep_bars = True
            return None
        saved = self.no_evaluation
        self.no_evaluation = True
        self.bars -= 1
        inner = self.expression()
        self.bars += 1
        self.no_evaluation = saved
        return inner

    def bar(self) -> Item | None:
        """Return ``||x||``, ``|x|`` or ``|x>``."""
        if self.no_bars:
            return None
        start = self.i
        if self.roles[start] == "VERTBAR":
            result = self.double_bars()
            if result is None:
                self.i = start
                result = self.bare_absolute()
            if result is not None:
                return result
            self.i = start
        elif self.items[start].key not in _BARS:
            return None
        return self.ket() if self.quantum else None

    def double_bars(self) -> Item | None:
        """Return a norm written with two bars at each side."""
        if not self._skip_two_bars():
            return None
        inner = self.between_bars()
        if inner is None or not self._skip_two_bars():
            return None
        return self.scripted(fence([_DOUBLE_BARS[0], inner, _DOUBLE_BARS[1]]))

    def _skip_two_bars(self) -> bool:
        i = self.i
        if self.roles[i : i + 2] != ["VERTBAR", "VERTBAR"]:
            return False
        self.i += 2
        return self.items[i].key == "|" == self.items[i + 1].key

    def ket(self) -> Item | None:
        """Return ``|x>``."""
        bar = self.items[self.i]
        self.i += 1
        inner = self.in_brackets()
        if inner is None or not self._at_right_angle():
            return None
        self.saw_quantum = True
        angle = _as_role(self.items[self.i], "CLOSE")
        self.i += 1
        return self.scripted(delimit(KET, [_as_role(bar, "OPEN"), inner, angle]))

    def in_brackets(self) -> Item | None:
        """Return what is in brackets of quantum mechanics: no bars, no angles."""
        start = self.i
        saved = self.no_bars, self.no_angles
        self.no_bars = self.no_angles = True
        inner = self.formulae()
        if inner is None:
            self.i = start
            if self.roles[start] in ("METARELOP", "MODIFIEROP"):
                self.i += 1
                inner = self.items[start]
        self.no_bars, self.no_angles = saved
        return inner

    def bracket(self) -> Item | None:
        """Return ``<a|``, ``<a|b>``, ``<a|b|c>`` or ``<a>``."""
        if not self.quantum:
            return None
        start = self.i
        angle = _as_role(self.items[start], "OPEN")
        self.i += 1
        inner = self.in_brackets()
        if inner is not None and self._at_middle_bar():
            bar = self.items[self.i]
            self.i += 1
            return self.bra(angle, inner, bar)
        self.i = start + 1
        inner = self.between_bars()
        if inner is None or not self._at_right_angle():
            return None
        closing = _as_role(self.items[self.i], "CLOSE")
        self.i += 1
        return self.scripted(fence([angle, inner, closing]))

    def bra(self, angle: Item, first: Item, bar: Item) -> Item:
        """Return the bracket that ``<first|`` begins."""
        start = self.i
        saved = self.no_bars
        self.no_bars = True
        second = self.in_brackets()
        result = None if second is None else self.braket(angle, first, bar, second)
        if result is None:
            self.i = start
            self.saw_quantum = True
            result = self.scripted(delimit(BRA, [angle, first, _as_role(bar, "CLOSE")]))
        self.no_bars = saved
        return result

    def braket(self, angle: Item, first: Item, bar: Item, second: Item) -> Item | None:
        """Return ``<first|second>`` or ``<first|second|third>``."""
        if self._at_right_angle():
            closing = _as_role(self.items[self.i], "CLOSE")
            self.i += 1
            self.saw_quantum = True
            stuff = [angle, first, _as_role(bar, "MIDDLE"), second, closing]
            return self.scripted(delimit(INNER_PRODUCT, stuff))
        if not self._at_middle_bar():
            return None
        other = self.items[self.i]
        self.i += 1
        third = self.in_brackets()
        if third is None or not self._at_right_angle():
            return None
        closing = _as_role(self.items[self.i], "CLOSE")
        self.i += 1
        self.saw_quantum = True
        stuff = [angle, first, _as_role(bar, "CLOSE"), second]
        stuff += [_as_role(other, "OPEN"), third, closing]
        return self.scripted(delimit(OPERATOR_PRODUCT, stuff))

    @staticmethod
    def turn_bar(item: Item, role: str) -> Item:
        """Return a vertical bar as the fence or separator it turned out to be."""
        if item.__class__ is not Symbol:
            return item
        key = (item, role)
        if key not in _bars:
            kind = "PUNCT" if role == "PUNCT" else "OPEN"
            text = _BAR_GLYPHS[kind].get(item.text, item.text)
            bar = Symbol(role, text, item.meaning, item.name)
            if len(_bars) > 1000:
                return bar
            _bars[key] = bar
        return _bars[key]

    def _at_right_angle(self) -> bool:
        role = self.roles[self.i]
        if role == "CLOSE":
            return self.items[self.i].key == "rangle"
        return role == "RELOP" and self.items[self.i].meaning == "greater-than"

    def _at_middle_bar(self) -> bool:
        role = self.roles[self.i]
        if role == "MIDDLE":
            return self.items[self.i].key in _BARS
        return role == "VERTBAR"

    def may_be_bracket(self) -> bool:
        """Return whether ``<`` comes next and something that could end its bracket."""
        if self.items[self.i].meaning != "less-than" or not self.quantum:
            return False
        if self.last_bracket_end is None:
            self.last_bracket_end = _find_last_bracket_end(self.roles, self.items)
        return self.last_bracket_end > self.i


def _find_last_bracket_end(roles: Sequence[str], items: Sequence[Item]) -> int:
    """Return the place of the last bar or right angle, -1 if there is none."""
    for i in range(len(items) - 1, -1, -1):
        role = roles[i]
        if role in ("VERTBAR", "MIDDLE") or items[i].meaning == "greater-than":
            return i
        if role == "CLOSE" and items[i].key == "rangle":
            return i
    return -1


def _as_role(item: Item, role: str) -> Item:
    """Return a symbol in another role; anything else as it is."""
    if item.__class__ is Symbol:
        return item.with_role(role)
    return item
