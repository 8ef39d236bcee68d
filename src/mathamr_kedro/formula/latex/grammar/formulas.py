r"""Formulas down to terms: relations between expressions, sums of products.

```
a = b, c = d             formula ((,|.) formula)*
p \iff q                 formula (metarelation formula)*
a < b = c                expression (relation expression)*
-a + 2b c \cdot d        [sign] term (sign term)*,  factor ([*] factor)*
b \pmod n   f(x)|_{x=0}  an expression with a remark, a product evaluated
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mathamr_kedro.formula.latex.limits import MAX_STEPS, LimitError
from mathamr_kedro.formula.latex.nodes import (
    ANNOTATED,
    EVALUATED_AT,
    FORMULAE,
    LIMIT_FROM,
    MULTIRELATION,
    App,
    Dual,
    Item,
    Row,
    attach_script,
    chain_terms,
    enumerate_items,
    fence,
    multiply,
)
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_TIMES, Symbol

END = "END"
"""Role of what follows the last item."""

BIG_OPERATORS = frozenset({"BIGOP", "SUMOP", "INTOP", "LIMITOP", "DIFFOP"})
SIGNS = frozenset({"ADDOP", "BINOP"})
PRODUCTS = frozenset({"MULOP", "BINOP"})
RELATIONS = frozenset({"RELOP", "ARROW"})
ATOMS = frozenset({"ATOM", "ID", "UNKNOWN"})
FUNCTIONS = frozenset({"FUNCTION", "OPFUNCTION", "TRIGFUNCTION"})
SCRIPTS = frozenset({"POSTSUPERSCRIPT", "POSTSUBSCRIPT"})
FACTOR_SCRIPTS = frozenset({*SCRIPTS, "POSTFIX"})
FLOATS = frozenset({"FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"})

_CLOSES = {
    "(": ")",
    "[": "]",
    "{": "}",
    "|": "|",
    "‖": "‖",
    "⦀": "⦀",
    "⌊": "⌋",
    "⌈": "⌉",
    "⟨": "⟩",
    "∥": "∥",
}
_TERM_ENDS = frozenset(
    {END, "ADDOP", "ARROW", "METARELOP", "PUNCT", "PERIOD", "MODIFIER", "MODIFIEROP"}
)
_PUNCT = frozenset({"PUNCT"})
_STOPS = frozenset({"PUNCT", "PERIOD"})
_ISOLATORS = frozenset({END, "PUNCT", "CLOSE"})
_MODIFIERS = frozenset({"OPEN", "PUNCT", "MODIFIER", "MODIFIEROP"})


class FormulaRules:
    """A row, the place reached in it, and the rules from formulas down to factors.

    Args:
        items: the row.
        quantum: whether ``<a|b>`` is read as a bracket of quantum mechanics.
        bars: how deep ``|...|`` may nest.
    """

    def __init__(self, items: Sequence[Item], quantum: bool, bars: int) -> None:
        self.items = items
        self.roles = [item.role or "ATOM" for item in items]
        # A sentinel: rules look at the next role without asking for the length.
        self.roles.append(END)
        self.i = 0
        self.quantum = quantum
        self.bars = bars
        self.saw_quantum = False
        self.saw_deep_bars = False
        self.no_bars = False
        self.no_angles = False
        self.no_evaluation = False
        self.has_big_operators = not BIG_OPERATORS.isdisjoint(self.roles)
        self.last_bracket_end: int | None = None
        self.factors: dict[int, tuple[Item | None, int]] = {}
        # Only factors that are not remembered count: their number bounds the work.
        self.steps = MAX_STEPS + 20 * len(items)

    def factor(self) -> Item | None:
        """Return the factor that begins here; the whole grammar knows how."""
        raise NotImplementedError

    def at_close(self, opening: Item) -> bool:
        """Return whether the fence that closes ``opening`` comes next."""
        if self.roles[self.i] != "CLOSE":
            return False
        return _CLOSES.get(opening.text) == (self.items[self.i].text or None)

    def decorated(self, op: Item) -> Item:
        """Return an operator with the scripts after it."""
        while self.roles[self.i] in SCRIPTS:
            script = attach_script(op, self.items[self.i])
            script.role = op.role  # still an operator
            op = script
            self.i += 1
        return op

    def scripted(self, base: Item) -> Item:
        """Return ``base`` with the scripts and postfix operators after it."""
        while True:
            role = self.roles[self.i]
            if role not in FACTOR_SCRIPTS:
                return base
            item = self.items[self.i]
            self.i += 1
            if role == "POSTFIX":
                base = App(item, [base])
            else:
                base = attach_script(base, item)

    def without_bars(self, rule: Callable[[], Item | None]) -> Item | None:
        """Apply a rule in which no bar may open or close anything."""
        saved = self.no_bars
        self.no_bars = True
        try:
            return rule()
        finally:
            self.no_bars = saved

    def _remembered(self, rule: Callable[[Any], Item | None]) -> Item | None:
        """Apply a rule, once for each place and each set of prohibitions."""
        start = self.i
        # What a factor is depends on the place and on what is forbidden there; one
        # integer hashes faster than a tuple.
        key = start << 5 | self.bars << 3
        key |= self.no_bars | self.no_angles << 1 | self.no_evaluation << 2
        found = self.factors.get(key)
        if found is None:
            self.steps -= 1
            if self.steps < 0:
                raise LimitError("work_limit")
            result = rule(self)
            if result is None:
                self.i = start
            self.factors[key] = (result, self.i)
            return result
        result, self.i = found
        return result

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
                # As in x \to 0+.
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
        return self._listed(first, _PUNCT, self.expression)

    def _listed(
        self, first: Item, marks: frozenset[str], rule: Callable[[], Item | None]
    ) -> list[Item]:
        """Return ``first (mark rule)*``."""
        stuff = [first]
        while self.roles[self.i] in marks:
            start = self.i
            self.i += 1
            item = rule()
            if item is None:
                self.i = start
                break
            stuff += (self.items[start], item)
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

    def formulae(self) -> Item | None:
        """Return formulas separated by punctuation or by metarelations."""
        formula = self.formula()
        return None if formula is None else self.more_formulae(formula)

    def more_formulae(self, first: Item) -> Item:
        """Return ``first`` with the formulas after it."""
        role = self.roles[self.i]
        if role is END:
            return first
        if role in _STOPS:
            stuff = self._listed(first, _STOPS, self.formula)
            return enumerate_items(stuff, FORMULAE)
        stuff = [first]
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


def _relate(stuff: list[Item]) -> Item:
    """Return ``x (relation x)*`` as one relation or a chain of them."""
    count = len(stuff)
    if count == 1:
        return stuff[0]
    if count == 3:
        return App(stuff[1], [stuff[0], stuff[2]])
    return App(MULTIRELATION, stuff)
