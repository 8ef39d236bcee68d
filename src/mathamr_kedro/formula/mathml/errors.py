"""Why a formula has no tree in strict mode."""

from __future__ import annotations

from mathamr_kedro.base.errors import FormulaError

_REFERENCE_CLASSES = {
    "unknown_tag": "UnknownTagException",
    "empty": "None",
    "missing_child": "IndexError",
    "broken_chain": "AttributeError",
    "ill_formed": "ParseError",
    "too_large": "TooLargeError",
}


class TreeError(FormulaError):
    """A formula has no tree; total mode counts the same event by its reason.

    =================  ============================================================
    ``unknown_tag``    an element or csymbol that no rule covers
    ``empty``          nothing is left to draw a tree of
    ``several_roots``  the formula has more than one element at the top
    ``wrong_arity``    an operator with too few or too many operands
    ``missing_child``  an element that must have a child has none
    ``broken_chain``   a part that vanished is where a symbol is needed
    ``ill_formed``     the text is not MathML, even after repair
    ``too_large``      longer or deeper than the limits of this project
    =================  ============================================================

    Args:
        reason: one of these.
        message: what was found, and where.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason

    @property
    def reference_class(self) -> str:
        """Name of the error that the published converters raise there."""
        return _REFERENCE_CLASSES.get(self.reason, "Exception")

    def __str__(self) -> str:
        return str(self.args[1])
