r"""Formulas: expressions, the relations between them, and lists of both.

```
a < b = c        expression (relation expression)*
a = b, c = d     formula ((,|.) formula)*
p \iff q         formula (metarelation formula)*
```
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.composition import (
    FORMULAE,
    MULTIRELATION,
    enumerate_items,
)
from mathamr_kedro.formula.latex.grammar.cursor import END, RELATIONS
from mathamr_kedro.formula.latex.grammar.terms import TermRules
from mathamr_kedro.formula.latex.nodes import App, Item
from mathamr_kedro.formula.latex.symbols import ABSENT


class FormulaRules(TermRules):
    """Rules from lists of formulas down to expressions."""

    def formulae(self) -> Item | None:
        """Return formulas separated by punctuation or by metarelations."""
        formula = self.formula()
        return None if formula is None else self.more_formulae(formula)

    def more_formulae(self, first: Item) -> Item:
        """Return ``first`` with the formulas after it."""
        role = self.roles[self.i]
        if role is END:
            return first
        stuff = [first]
        if role in ("PUNCT", "PERIOD"):
            while self.roles[self.i] in ("PUNCT", "PERIOD"):
                start = self.i
                self.i += 1
                formula = self.formula()
                if formula is None:
                    self.i = start
                    break
                stuff += (self.items[start], formula)
            return enumerate_items(stuff, FORMULAE)
        while self.roles[self.i] == "METARELOP":
            start = self.i
            self.i += 1
            formula = self.formula()
            if formula is None:
                if self.roles[start + 1] is not END:
                    self.i = start
                    break
                self.i = start + 1
                formula = ABSENT
            stuff += (self.items[start], formula)
        return _relate(stuff)

    def formula(self) -> Item | None:
        """Return expressions and the relations between them."""
        expression = self.expression()
        return None if expression is None else self.extend_formula(expression)

    def extend_formula(self, first: Item) -> Item:
        """Return ``first`` with the list or relation that it begins."""
        role = self.roles[self.i]
        if role is END:
            return first
        if role == "PUNCT":
            stuff = self.punctuated(first)
            if len(stuff) > 1:
                left = enumerate_items(stuff)
                return _relate([left, *self.relations()])
            return first
        if role in RELATIONS:
            start = self.i
            relation = self.relation()
            if relation is not None:
                right = self.expression()
                if right is not None:
                    return self.more_right_sides([first, relation, right])
                if self.roles[self.i] is END:
                    return _relate([first, relation, ABSENT])
                self.i = start
        return first

    def relations(self) -> list[Item]:
        """Return ``(relation expression)*``; the last expression may be missing."""
        stuff: list[Item] = []
        while self.roles[self.i] in RELATIONS:
            start = self.i
            relation = self.relation()
            if relation is None:
                break
            expression = self.expression()
            if expression is None:
                if self.roles[self.i] is not END:
                    self.i = start
                    break
                expression = ABSENT
            stuff += (relation, expression)
        return stuff

    def more_right_sides(self, stuff: list[Item]) -> Item:
        """Return ``x relation x`` with what follows: more relations, or a list.

        In ``a = b, c, d = e`` the list before the second relation is cut: its last
        item begins the next formula. Formulas so found nest to the right.
        """
        done: list[tuple[Item, Item]] = []
        while True:
            if self.roles[self.i] != "PUNCT":
                result = _relate([*stuff, *self.relations()])
                break
            start = self.i
            self.i += 1
            expression = self.expression()
            if expression is None:
                self.i = start
                result = _relate([*stuff, *self.relations()])
                break
            left, relation, *listed = stuff
            listed += (self.items[start], expression)
            following = self._read_listed(listed)
            if following is None:
                result = _relate([left, relation, enumerate_items(listed)])
                break
            done.append(
                (_relate([left, relation, enumerate_items(listed[:-2])]), listed[-2])
            )
            stuff = [listed[-1], *following]
        for formula, punct in reversed(done):
            result = enumerate_items([formula, punct, result], FORMULAE)
        return result

    def _read_listed(self, listed: list[Item]) -> list[Item] | None:
        """Extend a list; return the relation and expression that end it, if any."""
        while True:
            role = self.roles[self.i]
            start = self.i
            if role in RELATIONS:
                relation = self.relation()
                right = None if relation is None else self.expression()
                if relation is not None and right is not None:
                    return [relation, right]
                self.i = start
                return None
            if role != "PUNCT":
                return None
            self.i += 1
            expression = self.expression()
            if expression is None:
                self.i = start
                return None
            listed += (self.items[start], expression)

    def argument(self) -> Item | None:
        """Return an expression with the relations after it."""
        argument = self.expression()
        while argument is not None:
            role = self.roles[self.i]
            if role in RELATIONS:
                relations = self.relations()
                if not relations:
                    break
                argument = _relate([argument, *relations])
            elif role == "METARELOP":
                start = self.i
                self.i += 1
                formula = self.formula()
                if formula is None:
                    self.i = start
                    break
                argument = App(self.items[start], [argument, formula])
            else:
                break
        return argument


def _relate(stuff: list[Item]) -> Item:
    """Return ``x (relation x)*`` as one relation or a chain of them."""
    count = len(stuff)
    if count == 1:
        return stuff[0]
    if count == 3:
        return App(stuff[1], [stuff[0], stuff[2]])
    return App(MULTIRELATION, stuff)
