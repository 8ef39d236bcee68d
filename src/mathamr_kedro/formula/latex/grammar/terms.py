r"""Expressions and terms: sums of products.

```
-a + 2b c \cdot d        [sign] term (sign term)*,  factor ([*] factor)*
b \pmod n   f(x)|_{x=0}  an expression with a remark, a product evaluated
```
"""

from __future__ import annotations

from typing import Any

from mathamr_kedro.formula.latex.composition import (
    ANNOTATED,
    EVALUATED_AT,
    LIMIT_FROM,
    attach_script,
    chain_terms,
    enumerate_items,
    fence,
    multiply,
)
from mathamr_kedro.formula.latex.grammar.cursor import (
    BIG_OPERATORS,
    END,
    PRODUCTS,
    RELATIONS,
    SIGNS,
    Cursor,
)
from mathamr_kedro.formula.latex.nodes import App, Dual, Item, Row
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_TIMES, Symbol

_TERM_ENDS = frozenset(
    {END, "ADDOP", "ARROW", "METARELOP", "PUNCT", "PERIOD", "MODIFIER", "MODIFIEROP"}
)
_ISOLATORS = frozenset({END, "PUNCT", "CLOSE"})
_MODIFIERS = frozenset({"OPEN", "PUNCT", "MODIFIER", "MODIFIEROP"})


class TermRules(Cursor):
    """Rules from expressions down to factors."""

    def expression(self) -> Item | None:
        """Return a sum of terms, or an operator without operands."""
        start = self.i
        roles = self.roles
        sign = None
        if roles[start] in SIGNS:
            self.i += 1
            sign = self.decorated(self.items[start])
        term = self.term()
        if term is None:
            self.i = start
            return self.isolated_operator()
        if sign is not None:
            term = App(sign, [term])
        role = roles[self.i]
        if role in SIGNS:
            term = self.more_terms(term)
            role = roles[self.i]
        if role in _MODIFIERS:
            return self.modified(term)
        return term

    def isolated_operator(self) -> Item | None:
        """Return an operator with nothing to work on: ``(+)``, ``a, =``."""
        start = self.i
        op = self.any_operator()
        if op is not None and self.roles[self.i] in _ISOLATORS:
            return op
        self.i = start
        return None

    def more_terms(self, first: Item) -> Item:
        """Return ``first (sign term)*``; a last sign by itself is a one-sided limit."""
        terms = [first]
        while self.roles[self.i] in SIGNS:
            start = self.i
            self.i += 1
            sign = self.decorated(self.items[start])
            term = self.term()
            if term is None:
                terms[-1] = App(LIMIT_FROM, [terms[-1], sign])
                break
            terms += (sign, term)
        return chain_terms(terms)

    def modified(self, expression: Item) -> Item:
        """Return an expression with a remark after it: ``(mod n)``, ``(> 0)``."""
        start = self.i
        role = self.roles[start]
        if role == "MODIFIER":
            self.i += 1
            return App(ANNOTATED, [expression, self.items[start]])
        if role == "MODIFIEROP":
            self.i += 1
            right = self.expression()
            if right is not None:
                return App(self.items[start], [expression, right])
        else:
            remark = self.fenced_remark()
            if remark is not None:
                return App(ANNOTATED, [expression, remark])
        self.i = start
        return expression

    def fenced_remark(self) -> Item | None:
        """Return ``[punct] ( relation expression )``."""
        if self.roles[self.i] == "PUNCT":
            self.i += 1
        if self.roles[self.i] != "OPEN":
            return None
        opening = self.items[self.i]
        self.i += 1
        role = self.roles[self.i]
        if role == "MODIFIEROP":
            op: Item | None = self.items[self.i]
            self.i += 1
        else:
            op = self.relation() if role in RELATIONS else None
        right = None if op is None else self.expression()
        if op is None or right is None or not self.at_close(opening):
            return None
        self.i += 1
        return fence([opening, App(op, [ABSENT, right]), self.items[self.i - 1]])

    def term(self) -> Item | None:
        """Return a product of factors."""
        first = self.factor()
        return None if first is None else self.more_factors(first)

    def more_factors(self, first: Item) -> Item:
        """Return ``first ([*] factor)*``, or ``first`` evaluated or conditioned."""
        roles = self.roles
        result = first
        while roles[self.i] not in _TERM_ENDS:
            start = self.i
            if roles[start] in PRODUCTS:
                self.i += 1
                op = self.decorated(self.items[start])
                factor = self.factor()
                if factor is None:
                    self.i = start
                    break
                result = multiply(op, result, factor, first)
                continue
            factor = self.factor()
            if factor is not None:
                result = multiply(INVISIBLE_TIMES, result, factor, first)
                continue
            evaluated = self.evaluated(result)
            if evaluated is None:
                break
            result, more = evaluated
            if not more:
                break
        return result

    def evaluated(self, base: Item) -> tuple[Item, bool] | None:
        """Return ``base |_a^b`` or ``base | condition``; and if factors may follow."""
        start = self.i
        bar = self.items[start]
        role = self.roles[start]
        if self.no_evaluation or self.no_bars or bar.__class__ is not Symbol:
            return None
        if role != "VERTBAR" and not (role == "CLOSE" and bar.key == "|"):
            return None
        self.i += 1
        marks = self.evaluation_marks()
        if marks is not None:
            return _evaluate_at(base, bar, *marks), True
        condition = self.without_bars(self.expressions)
        if condition is None:
            self.i = start
            return None
        op = bar.with_meaning("MODIFIEROP", "conditional")
        return multiply(op, base, condition), False

    def evaluation_marks(self) -> tuple[Item, Item | None] | None:
        """Return the scripts after a bar: below, and maybe above."""
        i = self.i
        role, following = self.roles[i], self.roles[i + 1 :][:1]
        if role == "POSTSUBSCRIPT":
            both = following == ["POSTSUPERSCRIPT"]
            self.i += 1 + both
            return self.items[i], self.items[i + 1] if both else None
        if role == "POSTSUPERSCRIPT" and following == ["POSTSUBSCRIPT"]:
            self.i += 2
            return self.items[i + 1], self.items[i]
        return None

    def expressions(self) -> Item | None:
        """Return expressions separated by commas."""
        first = self.expression()
        return None if first is None else enumerate_items(self.punctuated(first))

    def punctuated(self, first: Item) -> list[Item]:
        """Return ``first (punct expression)*``."""
        stuff = [first]
        while self.roles[self.i] == "PUNCT":
            start = self.i
            self.i += 1
            expression = self.expression()
            if expression is None:
                self.i = start
                break
            stuff += (self.items[start], expression)
        return stuff

    def relation(self) -> Item | None:
        """Return a relation with its decorations; ``<`` and ``=`` may be one."""
        i = self.i
        item = self.items[i]
        if item.meaning in ("less-than", "greater-than") and self.roles[i] == "RELOP":
            if self.no_angles:
                return None
            if self.roles[i + 1] == "RELOP":
                following = self.items[i + 1]
                if following.meaning in (item.meaning, "equals"):
                    self.i += 2
                    return _read_two_part_relation(item, following)
        self.i += 1
        return self.decorated(item)

    def any_operator(self) -> Item | None:
        """Return any operator with its decorations."""
        i = self.i
        role = self.roles[i]
        if role in RELATIONS:
            return self.relation()
        if role in ("METARELOP", "MODIFIEROP"):
            self.i += 1
            return self.items[i]
        if role in SIGNS or role in PRODUCTS:
            self.i += 1
            return self.decorated(self.items[i])
        if role in BIG_OPERATORS or role == "OPERATOR":
            self.i += 1
            return self.scripted(self.items[i])
        return None


def _evaluate_at(base: Item, bar: Symbol, lower: Any, upper: Any) -> Item:
    """Return ``base |_lower^upper``."""
    drawing: Item = Row([base, bar.with_role("CLOSE")])
    args = [base]
    for mark in (lower, upper):
        if mark is not None:
            drawing = attach_script(drawing, mark)
            args.append(mark.script)
    return Dual(App(EVALUATED_AT, args), drawing)


def _read_two_part_relation(first: Item, second: Item) -> Symbol:
    """Return ``<=`` and ``>>`` typed as two characters."""
    if first.meaning == second.meaning:
        meaning = f"much-{first.meaning}"
    else:
        meaning = f"{first.meaning}-or-{second.meaning}"
    return Symbol("RELOP", first.text + second.text, meaning)
