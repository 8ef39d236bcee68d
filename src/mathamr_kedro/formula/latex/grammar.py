r"""The grammar of formulas: a row of items becomes one item.

```
formulae    formula ((,|.) formula)*  |  formula (metarelation formula)*
formula     expression (, expression)* (relation expression)*
expression  [sign] term (sign term)*  [(mod n)]
term        factor ([*] factor)*
factor      atom scripts | function argument | ( ... ) | | ... | | sum term | ...
```

Choices are tried in order and the first that fits is kept, as in LaTeXML, whose trees
are the reference: there is no going back into a choice once made. ``None`` means that
a rule does not fit; rules leave the position where it was in that case. Factors are
remembered by place, so that trying several choices costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr_kedro.formula.latex.composition import (
    ANNOTATED,
    LIMIT_FROM,
    attach_script,
    chain_terms,
    closes,
    decorate,
    enumerate_items,
    evaluate_at,
    fence,
    join_formulae,
    multiply,
    read_two_part_relation,
    relate,
)
from mathamr_kedro.formula.latex.nodes import App, Item
from mathamr_kedro.formula.latex.symbols import (
    ABSENT,
    INVISIBLE_COMMA,
    INVISIBLE_TIMES,
    Symbol,
    with_meaning,
)

END = "END"
BIG_OPERATORS = frozenset({"BIGOP", "SUMOP", "INTOP", "LIMITOP", "DIFFOP"})
_SIGNS = frozenset({"ADDOP", "BINOP"})
_PRODUCTS = frozenset({"MULOP", "BINOP"})
_RELATIONS = frozenset({"RELOP", "ARROW"})
_ISOLATORS = frozenset({END, "PUNCT", "CLOSE"})
_MODIFIERS = frozenset({"OPEN", "PUNCT", "MODIFIER", "MODIFIEROP"})
_SCRIPTS = frozenset({"POSTSUPERSCRIPT", "POSTSUBSCRIPT"})
_FACTOR_SCRIPTS = frozenset({*_SCRIPTS, "POSTFIX"})
_FLOATS = frozenset({"FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"})

MOST_STEPS = 20_000
"""Factors that may be tried per row (and twenty per item), before it is given up."""


class WorkLimitError(Exception):
    """A row takes more steps than :data:`MOST_STEPS`."""


class FormulaGrammar:
    """One row on its way through the rules from formulae down to terms.

    Args:
        items: the row.
        quantum: whether ``<a|b>`` is read as a bracket of quantum mechanics.
        bars: how deep ``|...|`` may nest.
    """

    def __init__(self, items: Sequence[Item], quantum: bool, bars: int) -> None:
        self.items = items
        self.roles = [item.role or "ATOM" for item in items]
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
        self.steps = MOST_STEPS + 20 * len(items)

    # What follows is one method per rule; ``factor`` is given by the subclass.

    def factor(self) -> Item | None:
        """Return a factor; see :mod:`mathamr_kedro.formula.latex.factors`."""
        raise NotImplementedError

    def anything(self) -> Item | None:
        """Return a whole row, whatever it is."""
        result = self.formulae()
        if result is None:
            for rule in (
                self.fenced_formulae,
                self.modifier_formulae,
                self.fenced_modifier,
                self.lone_modifier,
                self.lone_metarelation,
                self.operators,
                self.lone_scripts,
                self.operator_and_expression,
            ):
                self.i = 0
                result = rule()
                if result is not None:
                    break
        return result if self.roles[self.i] is END else None

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
            return join_formulae(stuff)
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
        return relate(stuff)

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
                return relate([left, *self.relations()])
            return first
        if role in _RELATIONS:
            start = self.i
            relation = self.relation()
            if relation is not None:
                right = self.expression()
                if right is not None:
                    return self.more_right_sides([first, relation, right])
                if self.roles[self.i] is END:
                    return relate([first, relation, ABSENT])
                self.i = start
        return first

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

    def relations(self) -> list[Item]:
        """Return ``(relation expression)*``; the last expression may be missing."""
        stuff: list[Item] = []
        while self.roles[self.i] in _RELATIONS:
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
                result = relate([*stuff, *self.relations()])
                break
            start = self.i
            self.i += 1
            expression = self.expression()
            if expression is None:
                self.i = start
                result = relate([*stuff, *self.relations()])
                break
            left, relation, *listed = stuff
            listed += (self.items[start], expression)
            following = self._read_listed(listed)
            if following is None:
                result = relate([left, relation, enumerate_items(listed)])
                break
            done.append(
                (relate([left, relation, enumerate_items(listed[:-2])]), listed[-2])
            )
            stuff = [listed[-1], *following]
        for formula, punct in reversed(done):
            result = join_formulae([formula, punct, result])
        return result

    def _read_listed(self, listed: list[Item]) -> list[Item] | None:
        """Extend a list; return the relation and expression that end it, if any."""
        while True:
            role = self.roles[self.i]
            start = self.i
            if role in _RELATIONS:
                relation = self.relation()
                right = None if relation is None else self.expression()
                if right is not None:
                    return [relation, right]  # type: ignore[list-item]
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
                    return read_two_part_relation(item, following)  # type: ignore[arg-type]
        self.i += 1
        return self.decorated(item)

    def decorated(self, op: Item) -> Item:
        """Return an operator with the scripts after it."""
        while self.roles[self.i] in _SCRIPTS:
            op = decorate(op, self.items[self.i])  # type: ignore[arg-type]
            self.i += 1
        return op

    def expression(self) -> Item | None:
        """Return a sum of terms, or an operator that stands alone."""
        start = self.i
        roles = self.roles
        sign = None
        if roles[start] in _SIGNS:
            self.i += 1
            sign = self.decorated(self.items[start])
        term = self.term()
        if term is None:
            self.i = start
            return self.isolated_operator()
        if sign is not None:
            term = App(sign, [term])
        role = roles[self.i]
        if role in _SIGNS:
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
        """Return ``first (sign term)*``; a last sign alone is a limit from one side."""
        terms = [first]
        while self.roles[self.i] in _SIGNS:
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
            op = self.relation() if role in _RELATIONS else None
        right = None if op is None else self.expression()
        if op is None or right is None or not self.at_close(opening):
            return None
        self.i += 1
        return fence([opening, App(op, [ABSENT, right]), self.items[self.i - 1]])

    def at_close(self, opening: Item) -> bool:
        """Return whether the fence that closes ``opening`` comes next."""
        return self.roles[self.i] == "CLOSE" and closes(opening, self.items[self.i])

    def term(self) -> Item | None:
        """Return a product of factors."""
        first = self.factor()
        return None if first is None else self.more_factors(first)

    def more_factors(self, first: Item) -> Item:
        """Return ``first ([*] factor)*``, or ``first`` evaluated or conditioned."""
        roles = self.roles
        result = first
        while roles[self.i] is not END:
            start = self.i
            if roles[start] in _PRODUCTS:
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
        if role != "VERTBAR" and not (role == "CLOSE" and _key(bar) == "|"):
            return None
        self.i += 1
        marks = self.evaluation_marks()
        if marks is not None:
            return evaluate_at(base, bar, *marks), True
        condition = self.without_bars(self.expressions)
        if condition is None:
            self.i = start
            return None
        op = with_meaning(bar, "MODIFIEROP", "conditional")
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

    def without_bars(self, rule: Callable[[], Item | None]) -> Item | None:
        """Apply a rule in which no bar may open or close anything."""
        saved = self.no_bars
        self.no_bars = True
        try:
            return rule()
        finally:
            self.no_bars = saved

    def scripted(self, base: Item) -> Item:
        """Return ``base`` with the scripts and postfix operators after it."""
        while True:
            role = self.roles[self.i]
            if role not in _FACTOR_SCRIPTS:
                return base
            item = self.items[self.i]
            self.i += 1
            if role == "POSTFIX":
                base = App(item, [base])
            else:
                base = attach_script(base, item)  # type: ignore[arg-type]

    def any_operator(self) -> Item | None:
        """Return any operator with its decorations."""
        i = self.i
        role = self.roles[i]
        if role in _RELATIONS:
            return self.relation()
        if role in ("METARELOP", "MODIFIEROP"):
            self.i += 1
            return self.items[i]
        if role in _SIGNS or role in _PRODUCTS:
            self.i += 1
            return self.decorated(self.items[i])
        if role in BIG_OPERATORS or role == "OPERATOR":
            self.i += 1
            return self.scripted(self.items[i])
        return None

    # Rows that are no formulas.

    def fenced_formulae(self) -> Item | None:
        """Return ``( formulae )`` with any two fences."""
        return self._fenced(self.formulae)

    def fenced_modifier(self) -> Item | None:
        """Return ``( = x )`` with any two fences."""
        return self._fenced(self.modifier_formula)

    def _fenced(self, rule: Callable[[], Item | None]) -> Item | None:
        if self.roles[0] != "OPEN":
            return None
        self.i = 1
        inner = rule()
        if inner is None or self.roles[self.i] != "CLOSE":
            return None
        self.i += 1
        return fence([self.items[0], inner, self.items[self.i - 1]])

    def modifier_formulae(self) -> Item | None:
        """Return a relation without a left side, and formulas after it."""
        formula = self.modifier_formula()
        return None if formula is None else self.more_formulae(formula)

    def modifier_formula(self) -> Item | None:
        """Return ``= x``."""
        if self.roles[self.i] not in _RELATIONS:
            return None
        relation = self.relation()
        right = None if relation is None else self.expression()
        if relation is None or right is None:
            return None
        return self.more_right_sides([ABSENT, relation, right])

    def lone_modifier(self) -> Item | None:
        """Return ``(mod n)`` or ``mod n`` without anything before it."""
        role = self.roles[0]
        if role not in ("MODIFIER", "MODIFIEROP"):
            return None
        self.i = 1
        if role == "MODIFIER":
            return self.items[0]
        right = self.expression()
        return None if right is None else App(self.items[0], [ABSENT, right])

    def lone_metarelation(self) -> Item | None:
        """Return ``iff x``."""
        if self.roles[0] != "METARELOP":
            return None
        self.i = 1
        right = self.formula()
        return None if right is None else App(self.items[0], [ABSENT, right])

    def operators(self) -> Item | None:
        """Return several operators, with or without punctuation."""
        first = self.any_operator()
        if first is None:
            return None
        stuff = [first]
        while True:
            start = self.i
            punct: Item = INVISIBLE_COMMA
            if self.roles[start] == "PUNCT":
                punct = self.items[start]
                self.i += 1
            op = self.any_operator()
            if op is None:
                self.i = start
                break
            stuff += (punct, op)
        return enumerate_items(stuff) if len(stuff) > 1 else None

    def lone_scripts(self) -> Item | None:
        """Return scripts of nothing."""
        first = self.roles[0]
        if first not in _FLOATS:
            return None
        base: Item = attach_script(ABSENT, self.items[0])  # type: ignore[arg-type]
        self.i = 1
        pair = {first, self.roles[1]}
        if pair in (
            {"FLOATSUPERSCRIPT", "POSTSUBSCRIPT"},
            {"FLOATSUBSCRIPT", "POSTSUPERSCRIPT"},
        ):
            base = attach_script(base, self.items[1])  # type: ignore[arg-type]
            self.i = 2
        return base

    def operator_and_expression(self) -> Item | None:
        """Return an operator over an expression, its left side missing."""
        op = self.any_operator()
        right = None if op is None else self.expression()
        if op is None or right is None:
            return None
        return App(op, [ABSENT, right])


def _key(item: Item) -> str:
    return item.key if item.__class__ is Symbol else ""  # type: ignore[union-attr]
