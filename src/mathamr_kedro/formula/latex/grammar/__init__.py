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

from mathamr_kedro.formula.latex.composition import attach_script
from mathamr_kedro.formula.latex.grammar.cursor import (
    ATOMS,
    BIG_OPERATORS,
    FACTOR_SCRIPTS,
    FLOATS,
    FUNCTIONS,
    WorkLimitError,
)
from mathamr_kedro.formula.latex.grammar.rows import RowRules
from mathamr_kedro.formula.latex.nodes import Item, ScriptMark

__all__ = ["Grammar", "WorkLimitError", "parse_row"]


class Grammar(RowRules):
    """All rules together."""

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
        WorkLimitError: the row takes too many steps.
    """
    if len(items) == 2 and items[1].__class__ is ScriptMark:
        if items[0].role in _PLAIN and not items[1].floats:
            return attach_script(items[0], items[1])  # most rows of two are x^2
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
