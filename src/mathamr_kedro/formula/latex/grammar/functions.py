r"""Functions with their arguments, and big operators with their operands.

```
\sin 2x          a function takes the product after it ...
\sin x \cos x    ... up to the next trigonometric function
\sum_i a_i b     a big operator takes the rest of the product
\int f dx        and in an integrand dx is a differential
```
"""

from __future__ import annotations

from collections.abc import Callable

from mathamr_kedro.formula.latex.composition import (
    CASES,
    attach_script,
    delimit,
    multiply,
)
from mathamr_kedro.formula.latex.grammar.bars import BarRules
from mathamr_kedro.formula.latex.grammar.cursor import (
    ATOMS,
    BIG_OPERATORS,
    END,
    FLOATS,
    FUNCTIONS,
    PRODUCTS,
    SCRIPTS,
)
from mathamr_kedro.formula.latex.nodes import App, Dual, Item, Row
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_TIMES, Symbol

_BARE = ATOMS | FUNCTIONS | {"NUMBER", "ARRAY", "VERTBAR"}
_PRE_SCRIPTS = FLOATS | SCRIPTS
_NAMES = frozenset({"UNKNOWN", "ID"})
_TAKES_SCRIPTS_BEFORE = FUNCTIONS | BIG_OPERATORS | {"ARRAY"}


class FunctionRules(BarRules):
    """Rules of factors that take what follows them."""

    def array(self) -> Item | None:
        """Return a table; with a brace after it, cases."""
        i = self.i
        self.i += 1
        if self.roles[self.i] == "CLOSE" and self.items[self.i].key == "}":
            self.i += 1
            return delimit(CASES, [ABSENT, self.items[i], self.items[i + 1]])
        return self.scripted(self.items[i])

    def function(self) -> Item | None:
        """Return a function with its argument."""
        i = self.i
        self.i += 1
        return self.with_argument(self.scripted(self.items[i]), self.roles[i])

    def with_argument(self, function: Item, role: str) -> Item:
        """Return ``function (x, y)`` or ``function x``, or only the function."""
        if self.roles[self.i] is END:
            return function
        applied = self.fenced_arguments(function)
        if applied is not None:
            return applied
        if self.roles[self.i] == "APPLYOP":
            self.i += 1
        elif role == "FUNCTION":
            return function
        argument = self.bare_argument(role == "TRIGFUNCTION")
        return function if argument is None else App(function, [argument])

    def fenced_arguments(self, function: Item) -> Item | None:
        """Return ``function ( argument (punct argument)* )``."""
        start = self.i
        if self.roles[self.i] == "APPLYOP":
            self.i += 1
        if self.roles[self.i] != "OPEN":
            self.i = start
            return None
        opening = self.items[self.i]
        self.i += 1
        stuff = [opening]
        while True:
            argument = self.argument()
            if argument is None:
                # a separator without an argument after it is not part of the list
                self.i = start
                return None
            stuff.append(argument)
            if self.at_close(opening):
                stuff.append(self.items[self.i])
                self.i += 1
                return _apply_to_arguments(function, stuff)
            separator = self.separator()
            if separator is None:
                self.i = start
                return None
            stuff.append(separator)

    def separator(self) -> Item | None:
        """Return what may separate arguments: punctuation or a bar."""
        item = self.items[self.i : self.i + 1]
        role = self.roles[self.i]
        if role in ("PUNCT", "MIDDLE"):
            self.i += 1
            return item[0]
        if role == "VERTBAR":
            self.i += 1
            return self.turn_bar(item[0], "PUNCT")
        return None

    def bare_argument(self, is_trig: bool) -> Item | None:
        """Return the product that a function without parentheses takes."""
        first = self.bare_factor(is_trig)
        if first is None:
            return None
        result = first
        while True:
            start = self.i
            op: Item = INVISIBLE_TIMES
            if self.roles[start] in PRODUCTS:
                self.i += 1
                op = self.decorated(self.items[start])
            factor = self.bare_factor(is_trig)
            if factor is None:
                self.i = start
                return result
            result = multiply(op, result, factor, first)

    def bare_factor(self, is_trig: bool) -> Item | None:
        """Return a factor that needs no parentheses behind a function."""
        role = self.roles[self.i]
        if role in FLOATS:
            role = self.base_role()
            if role not in ATOMS and role not in FUNCTIONS and role != "ARRAY":
                return None
        elif role not in _BARE:
            return None
        if is_trig and role == "TRIGFUNCTION":
            return None
        if role == "VERTBAR":
            start = self.i
            result = self.bare_absolute()
            if result is None:
                self.i = start
            return result
        if role == "ARRAY":
            self.i += 1
            return self.scripted(self.items[self.i - 1])
        return self.factor()

    def base_role(self) -> str:
        """Return the role of what follows the scripts here."""
        i = self.i
        while self.roles[i] in _PRE_SCRIPTS:
            i += 1
        return self.roles[i]

    def prescripted(self) -> Item | None:
        """Return a base with scripts before it, and what the base takes."""
        role = self.base_role()
        if role not in ATOMS and role not in _TAKES_SCRIPTS_BEFORE:
            return None
        marks = []
        while self.roles[self.i] in _PRE_SCRIPTS:
            marks.append(self.items[self.i])
            self.i += 1
        self.i += 1
        base = self.scripted(self.items[self.i - 1])
        for mark in reversed(marks):
            base = attach_script(base, mark, "pre")
        if role in FUNCTIONS:
            return self.with_argument(base, role)
        if role == "INTOP":
            return self.with_integrand(base)
        if role in BIG_OPERATORS:
            return self.with_operand(base)
        return base

    def integral(self) -> Item | None:
        """Return an integral with its integrand."""
        self.i += 1
        return self.with_integrand(self.scripted(self.items[self.i - 1]))

    def with_integrand(self, op: Item) -> Item:
        """Return ``op`` over the product after it, with its differentials."""
        return self._with_factors(op, self.integrand_factor)

    def big_operator(self) -> Item | None:
        """Return a sum, limit or quantifier with its operand."""
        self.i += 1
        return self.with_operand(self.scripted(self.items[self.i - 1]))

    def with_operand(self, op: Item) -> Item:
        """Return ``op`` over the product after it."""
        return self._with_factors(op, self.factor)

    def _with_factors(self, op: Item, rule: Callable[[], Item | None]) -> Item:
        start = self.i
        if self.roles[start] == "APPLYOP":
            self.i += 1
        first = rule() if self.roles[start] is not END else None
        if first is None:
            self.i = start
            return op
        result = first
        while True:
            start = self.i
            times: Item = INVISIBLE_TIMES
            if self.roles[start] in PRODUCTS:
                self.i += 1
                times = self.decorated(self.items[start])
            factor = rule()
            if factor is None:
                self.i = start
                return App(op, [result])
            result = multiply(times, result, factor, first)

    def integrand_factor(self) -> Item | None:
        """Return a factor of an integrand; ``d`` before an atom is a differential."""
        i = self.i
        item = self.items[i] if i < len(self.items) else ABSENT
        if item.key == "d" and item.__class__ is Symbol and item.role in _NAMES:
            following = self.roles[i + 1]
            if following in ATOMS or following == "ARRAY":
                self.i += 2
                variable = self.scripted(self.items[i + 1])
                return App(item.with_meaning("DIFFOP", "differential-d"), [variable])
        return self.factor()

    def operator(self) -> Item | None:
        """Return operators over each other and over an argument."""
        self.i += 1
        ops = [self.scripted(self.items[self.i - 1])]
        while True:
            role = self.roles[self.i]
            if role == "OPERATOR" or role in FUNCTIONS:
                self.i += 1
                ops.append(self.scripted(self.items[self.i - 1]))
                if role != "OPERATOR":
                    break
                continue
            if role == "OPEN":
                applied = self._operator_arguments(ops[-1])
                if applied is not None:
                    ops[-1] = applied
            break
        op = ops.pop()
        while ops:
            op = App(ops.pop(), [op])
        return self.with_argument(op, "OPFUNCTION")

    def _operator_arguments(self, op: Item) -> Item | None:
        start = self.i
        opening = self.items[start]
        self.i += 1
        inner = self.expression()
        if inner is None or not self.at_close(opening):
            self.i = start
            return None
        self.i += 1
        return _apply_to_arguments(op, [opening, inner, self.items[self.i - 1]])


def _apply_to_arguments(op: Item, stuff: list[Item]) -> Item:
    """Return a function applied to ``( x, y )``."""
    return Dual(App(op, stuff[1:-1:2]), App(op, [Row(stuff)]))
