r"""The grammar of formulas: a row of items becomes one item.

```
formulae    formula ((,|.) formula)*  |  formula (metarelation formula)*
formula     expression (, expression)* (relation expression)*
expression  [sign] term (sign term)*  [(mod n)]
term        factor ([*] factor)*
factor      atom scripts | function argument | ( ... ) | | ... | | sum term | ...
```

Choices are tried in order and the first that fits is kept, as in LaTeXML, whose trees
are the reference: there is no backtracking into a choice. ``None`` means that a rule
does not apply; the position is then unchanged. Factors are memoised by position, so
that trying several choices is cheap.

A row may also be one of the fragments that people write::

    = b      a relation without a left side        + -      only operators
    (mod n)  a remark without a formula            {}^a     scripts of nothing
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr_kedro.formula.latex.grammar.factors import FactorRules
from mathamr_kedro.formula.latex.grammar.formulas import (
    ATOMS,
    BIG_OPERATORS,
    END,
    FACTOR_SCRIPTS,
    FLOATS,
    FUNCTIONS,
    RELATIONS,
)
from mathamr_kedro.formula.latex.nodes import (
    App,
    Item,
    ScriptMark,
    attach_script,
    enumerate_items,
    fence,
)
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_COMMA, Symbol

__all__ = ["parse_row"]


class Grammar(FactorRules):
    """All rules: those of whole rows and scripts, and which rule reads a factor."""

    def factor(self) -> Item | None:
        """Return the factor that begins here."""
        i = self.i
        role = self.roles[i]
        if role in _PLAIN:
            self.i = i + 1
            if self.roles[i + 1] in FACTOR_SCRIPTS:
                return self.scripted(self.items[i])
            return self.items[i]
        rule = _RULES.get(role)
        if rule is None or (role == "RELOP" and not self.may_be_bracket()):
            return None
        return self._remembered(rule)

    def anything(self) -> Item | None:
        """Return a whole row, whatever it is."""
        result = self.formulae()
        if result is None:
            # Fragments only if the row is no formula, in the order of LaTeXML.
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
        if self.roles[self.i] not in RELATIONS:
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
        stuff = self._several(self.any_operator)
        return enumerate_items(stuff) if len(stuff) > 1 else None

    def _several(self, rule: Callable[[], Item | None]) -> list[Item]:
        """Return ``rule ([punct] rule)*``, nothing if there is none."""
        first = rule()
        stuff = [] if first is None else [first]
        while stuff and self.roles[self.i] is not END:
            start = self.i
            punct: Item = INVISIBLE_COMMA
            if self.roles[start] == "PUNCT":
                punct = self.items[start]
                self.i += 1
            following = rule()
            if following is None:
                self.i = start
                break
            stuff += (punct, following)
        return stuff

    def lone_scripts(self) -> Item | None:
        """Return scripts of nothing."""
        first = self.roles[0]
        if first not in FLOATS:
            return None
        base: Item = attach_script(ABSENT, self.items[0])
        self.i = 1
        pair = {first, self.roles[1]}
        if pair in (
            {"FLOATSUPERSCRIPT", "POSTSUBSCRIPT"},
            {"FLOATSUBSCRIPT", "POSTSUPERSCRIPT"},
        ):
            base = attach_script(base, self.items[1])
            self.i = 2
        return base

    def operator_and_expression(self) -> Item | None:
        """Return an operator over an expression, its left side missing."""
        op = self.any_operator()
        right = None if op is None else self.expression()
        if op is None or right is None:
            return None
        return App(op, [ABSENT, right])

    def subscript(self) -> Item | None:
        """Return what is below: formulas and operators in any order."""
        return self._script(self.one_subscript)

    def superscript(self) -> Item | None:
        """Return what is above: primes, formulas and operators in any order."""
        return self._script(self.one_superscript)

    def _script(self, rule: Callable[[], Item | None]) -> Item | None:
        stuff = self._several(rule)
        if stuff and self.roles[self.i] in ("PUNCT", "PERIOD"):
            stuff.append(self.items[self.i])
            self.i += 1
        is_whole = stuff and self.roles[self.i] is END
        return enumerate_items(stuff) if is_whole else None

    def one_superscript(self) -> Item | None:
        """Return primes, or what may be below too."""
        start = self.i
        while self.roles[self.i] == "SUPOP":
            self.i += 1
        if self.i > start:
            return _join_primes(self.items[start : self.i])
        return self.one_subscript(Grammar.one_superscript)

    def one_subscript(
        self, inner: Callable[[Grammar], Item | None] | None = None
    ) -> Item | None:
        """Return formulas, an operator and its right side, or an operator."""
        start = self.i
        result = self.formulae()
        if result is not None:
            return result
        self.i = start
        op = self.any_operator()
        if op is not None:
            after = self.i
            right = self.expression()
            if right is not None:
                return App(op, [ABSENT, right])
            self.i = after
            return op
        if self.roles[start] == "OPEN":
            self.i = start + 1
            result = (inner or Grammar.one_subscript)(self)
            if result is not None and self.roles[self.i] == "CLOSE":
                self.i += 1
                return fence([self.items[start], result, self.items[self.i - 1]])
        self.i = start
        return None


_PLAIN = ATOMS | {"NUMBER"}
_RULES: dict[str, Callable[[Grammar], Item | None]] = {
    "ARRAY": Grammar.array,
    **dict.fromkeys(FUNCTIONS, Grammar.function),
    **dict.fromkeys(FLOATS, Grammar.prescripted),
    "INTOP": Grammar.integral,
    **dict.fromkeys(BIG_OPERATORS - {"INTOP"}, Grammar.big_operator),
    "OPERATOR": Grammar.operator,
    "OPEN": Grammar.opened,
    "VERTBAR": Grammar.bar,
    "MIDDLE": Grammar.bar,
    "RELOP": Grammar.bracket,
}


def parse_row(items: Sequence[Item], rule: str = "anything") -> Item | None:
    """Return the one item that a row of items makes, or None if none does.

    Args:
        items: at least two items.
        rule: ``anything``, ``subscript`` or ``superscript``.

    Raises:
        LimitError: the row takes too many steps.
    """
    if len(items) == 2 and items[1].__class__ is ScriptMark:
        if items[0].role in _PLAIN and not items[1].floats:
            return attach_script(items[0], items[1])  # most rows of two are x^2
    # Brackets of quantum mechanics come first; if they lead nowhere, < and > are
    # relations. Deeper bars are ambiguous, so they are only tried for rows that cannot
    # be read otherwise.
    quantum, bars = True, 1
    grammar = Grammar(items, quantum, bars)
    result = getattr(grammar, rule)()
    if result is None and grammar.saw_quantum:
        quantum = False
        grammar = Grammar(items, quantum, bars)
        result = getattr(grammar, rule)()
    while result is None and grammar.saw_deep_bars and bars < 3:
        bars += 1
        grammar = Grammar(items, quantum, bars)
        result = getattr(grammar, rule)()
    return result


def _join_primes(primes: Sequence[Item]) -> Item:
    if len(primes) == 1:
        return primes[0]
    return Symbol("SUPOP", "".join(prime.text for prime in primes))
