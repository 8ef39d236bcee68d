r"""What is between fences.

```
(a)  (a, b)  [0, 1)  \{x | x > 0\}  (d/dx) f
```
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.composition import (
    CASES,
    CONDITIONAL_SET,
    GROUP,
    delimit,
    fence,
)
from mathamr_kedro.formula.latex.grammar.cursor import BIG_OPERATORS, SIGNS
from mathamr_kedro.formula.latex.grammar.functions import FunctionRules
from mathamr_kedro.formula.latex.nodes import App, Item
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_TIMES


class FenceRules(FunctionRules):
    """Rules of factors between two fences."""

    def opened(self) -> Item | None:
        """Return what is between fences."""
        start = self.i
        opening = self.items[start]
        key = opening.key
        if self.roles[start + 1] == "ARRAY":
            if self.roles[start + 2] == "CLOSE":
                self.i += 3
                return self.scripted(fence(list(self.items[start : start + 3])))
            if key == "{":
                self.i += 2
                return delimit(CASES, [opening, self.items[start + 1], ABSENT])
        self.i += 1
        if key == "{":
            result = self.conditional_set(opening)
            if result is not None:
                return result
            self.i = start + 1
        result = self.fenced(opening)
        if result is None and key == "langle":
            self.i = start
            return self.bracket()
        return result

    def conditional_set(self, opening: Item) -> Item | None:
        """Return ``{ x | formulae }``."""
        first = self.without_bars(self.formula)
        if first is None:
            return None
        bar = self.items[self.i : self.i + 1]
        role = self.roles[self.i]
        if role == "VERTBAR":
            bar = [self.turn_bar(bar[0], "MIDDLE")]
        elif role != "MIDDLE" and not (role == "METARELOP" and bar[0].key == "colon"):
            return None
        self.i += 1
        condition = self.formulae()
        if condition is None or not self.at_close(opening):
            return None
        self.i += 1
        stuff = [opening, first, bar[0], condition, self.items[self.i - 1]]
        return self.scripted(delimit(CONDITIONAL_SET, stuff))

    def fenced(self, opening: Item) -> Item | None:
        """Return ``( ... )``; the opening fence is behind."""
        start = self.i
        for rule in (self.fenced_sign, self.fenced_operator):
            result = rule(opening)
            if result is not None:
                return result
            self.i = start
        expression = self.expression()
        after = self.i
        if expression is not None:
            result = self.close_expression(opening, expression)
            self.i = start if result is None else self.i
        if result is None:
            result = self.fenced_nothing(opening)
        if result is None and expression is not None:
            self.i = after
            formula = self.extend_formula(expression)
            if self.at_close(opening):
                return self.close(opening, [formula])
        return result

    def fenced_sign(self, opening: Item) -> Item | None:
        """Return ``(+)``."""
        if self.roles[self.i] not in SIGNS:
            return None
        self.i += 1
        op = self.decorated(self.items[self.i - 1])
        return self.close(opening, [op]) if self.at_close(opening) else None

    def fenced_nothing(self, opening: Item) -> Item | None:
        """Return ``()``, or a list that begins with an operator."""
        if self.at_close(opening):
            return self.close(opening, [])
        op = self.any_operator()
        return None if op is None else self.close_expression(opening, op)

    def close(self, opening: Item, stuff: list[Item]) -> Item:
        """Return ``stuff`` between the fences, with scripts; the closing comes next."""
        self.i += 1
        return self.scripted(fence([opening, *stuff, self.items[self.i - 1]]))

    def close_expression(self, opening: Item, first: Item) -> Item | None:
        """Return ``( first (, expression)* )``."""
        if self.roles[self.i] == "PUNCT":
            start = self.i
            stuff = self.punctuated(first)
            if len(stuff) > 1 and self.roles[self.i] == "CLOSE":
                return self.close(opening, stuff)
            self.i = start + 1
            op = self.any_operator()
            if op is None or not self.at_close(opening):
                return None
            stuff = [opening, first, self.items[start], op, self.items[self.i]]
            self.i += 1
            return self.scripted(delimit(GROUP, stuff))
        return self.close(opening, [first]) if self.at_close(opening) else None

    def fenced_operator(self, opening: Item) -> Item | None:
        """Return ``(d/dx) f``: a big operator at the end of the fences is applied."""
        if not self.has_big_operators:
            return None
        start = self.i
        stuff: list[Item] = []
        op = self._lone_big_operator()
        if op is None or not self.at_close(opening):
            self.i = start
            factor = self.factor()
            op = None if factor is None else self._lone_big_operator()
            if factor is None or op is None or not self.at_close(opening):
                return None
            stuff = [App(INVISIBLE_TIMES, [factor, op])]
        else:
            stuff = [op]
        applied = self.close(opening, stuff)
        operand = self.factor()
        return None if operand is None else App(applied, [operand])

    def _lone_big_operator(self) -> Item | None:
        if self.roles[self.i] not in BIG_OPERATORS:
            return None
        self.i += 1
        return self.scripted(self.items[self.i - 1])
