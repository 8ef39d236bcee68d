r"""Factors: between bars, functions with their arguments, between fences.

```
|x|   ||x||   \|x\|     absolute value and norm
|x>   <x|   <x|y>       the brackets of quantum mechanics
\sin 2x                 a function takes the product after it ...
\sin x \cos x           ... up to the next trigonometric function
\sum_i a_i b            a big operator takes the rest of the product
\int f dx               and in an integrand dx is a differential
(a)  (a, b)  [0, 1)     fences;  \{x | x > 0\}  (d/dx) f
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from mathamr_kedro.formula.latex.grammar.formulas import (
    ATOMS,
    BIG_OPERATORS,
    END,
    FLOATS,
    FUNCTIONS,
    PRODUCTS,
    SCRIPTS,
    SIGNS,
    FormulaRules,
)
from mathamr_kedro.formula.latex.nodes import (
    BRA,
    CASES,
    CONDITIONAL_SET,
    GROUP,
    INNER_PRODUCT,
    KET,
    OPERATOR_PRODUCT,
    App,
    Dual,
    Item,
    Row,
    attach_script,
    delimit,
    fence,
    multiply,
)
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_TIMES, Symbol

_BARS = frozenset({"|", "parallel-to"})
_DOUBLE_BARS = (Symbol("OPEN", "‖"), Symbol("CLOSE", "‖"))
_BAR_GLYPHS = {
    "OPEN": {"|": "|", "||": "‖", "∥": "‖"},
    "PUNCT": {"|": "∣", "||": "∥", "‖": "∥"},
}
_BARE = ATOMS | FUNCTIONS | {"NUMBER", "ARRAY", "VERTBAR"}
_PRE_SCRIPTS = FLOATS | SCRIPTS
_NAMES = frozenset({"UNKNOWN", "ID"})
_TAKES_SCRIPTS_BEFORE = FUNCTIONS | BIG_OPERATORS | {"ARRAY"}


class FactorRules(FormulaRules):
    """Rules of factors between bars or fences, or that take what follows them."""

    def bare_absolute(self) -> Item | None:
        """Return ``|x|`` where bars are allowed or not."""
        opening = self.items[self.i]
        self.i += 1
        inner = self.between_bars()
        if inner is None or self.roles[self.i] != "VERTBAR":
            return None
        left = turn_bar(opening, "OPEN")
        right = turn_bar(self.items[self.i], "CLOSE")
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
            return turn_bar(item[0], "PUNCT")
        return None

    def bare_argument(self, is_trig: bool) -> Item | None:
        """Return the product that a function without parentheses takes."""
        return self._product(lambda: self.bare_factor(is_trig))

    def _product(self, rule: Callable[[], Item | None]) -> Item | None:
        """Return ``factor ([*] factor)*``, the factors by a rule of their own."""
        first = result = rule()
        while first is not None and result is not None:
            start = self.i
            op: Item = INVISIBLE_TIMES
            if self.roles[start] in PRODUCTS:
                self.i += 1
                op = self.decorated(self.items[start])
            factor = rule()
            if factor is None:
                self.i = start
                break
            result = multiply(op, result, factor, first)
        return result

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
        operand = self._product(rule) if self.roles[start] is not END else None
        if operand is None:
            self.i = start
            return op
        return App(op, [operand])

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
            bar = [turn_bar(bar[0], "MIDDLE")]
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


def turn_bar(item: Item, role: str) -> Item:
    """Return a vertical bar as the fence or separator it turned out to be."""
    return _turn_symbol(item, role) if item.__class__ is Symbol else item


@lru_cache(maxsize=1024)
def _turn_symbol(bar: Symbol, role: str) -> Symbol:
    glyphs = _BAR_GLYPHS["PUNCT" if role == "PUNCT" else "OPEN"]
    return Symbol(role, glyphs.get(bar.text, bar.text), bar.meaning, bar.name)


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


def _apply_to_arguments(op: Item, stuff: list[Item]) -> Item:
    """Return a function applied to ``( x, y )``."""
    return Dual(App(op, stuff[1:-1:2]), App(op, [Row(stuff)]))
