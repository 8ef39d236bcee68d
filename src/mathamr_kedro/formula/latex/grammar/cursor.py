"""The place in a row that the grammar has reached, and what it may not read there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mathamr_kedro.formula.latex.composition import attach_script
from mathamr_kedro.formula.latex.limits import MAX_STEPS, LimitError
from mathamr_kedro.formula.latex.nodes import App, Item

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


class Cursor:
    """A row and the place reached in it.

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
        self.steps = MAX_STEPS + 20 * len(items)

    def factor(self) -> Item | None:
        """Return the factor that begins here; the whole grammar knows how."""
        raise NotImplementedError

    def at_close(self, opening: Item) -> bool:
        """Return whether the fence that closes ``opening`` comes next."""
        return self.roles[self.i] == "CLOSE" and _closes(opening, self.items[self.i])

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


def _closes(opening: Item, closing: Item) -> bool:
    """Return whether two fences belong together."""
    return _CLOSES.get(opening.text) == (closing.text or None)
