"""Why a formula has no tree in strict mode.

```
FormulaError
└── TreeError
    ├── UnknownTagError       an element or csymbol that no rule covers
    ├── EmptyFormulaError     nothing is left to draw a tree of
    ├── SeveralRootsError     the formula has more than one element at the top
    ├── WrongArityError       an operator with too few or too many operands
    ├── MissingChildError     an element that must have a child has none
    ├── BrokenChainError      a part that vanished stands where a symbol is needed
    ├── IllFormedMarkupError  the text is not MathML, even after repair
    └── TooLargeError         longer or deeper than the limits of this project
```

``reference_class`` names the error that the published converters raise there, and
``reason`` is the short code by which total mode counts the same event.
"""

from __future__ import annotations

from typing import ClassVar

from mathamr_kedro.errors import FormulaError


class TreeError(FormulaError):
    """Parent of the errors of this package; carries the code to count by."""

    reason: ClassVar[str] = "failure"
    reference_class: ClassVar[str] = "Exception"


class UnknownTagError(TreeError):
    """An element or a csymbol that no rule covers."""

    reason = "unknown_tag"
    reference_class = "UnknownTagException"


class EmptyFormulaError(TreeError):
    """Nothing is left to draw a tree of."""

    reason = "empty"
    reference_class = "None"


class SeveralRootsError(TreeError):
    """The formula has more than one element at the top."""

    reason = "several_roots"


class WrongArityError(TreeError):
    """An operator has too few or too many operands."""

    reason = "wrong_arity"


class MissingChildError(TreeError):
    """An element that must have a child has none."""

    reason = "missing_child"
    reference_class = "IndexError"


class BrokenChainError(TreeError):
    """A part that vanished stands where a symbol is needed."""

    reason = "broken_chain"
    reference_class = "AttributeError"


class IllFormedMarkupError(TreeError):
    """The text is not MathML, even after repair."""

    reason = "ill_formed"
    reference_class = "ParseError"


class TooLargeError(TreeError):
    """The formula is longer or deeper than the limits of this project."""

    reason = "too_large"
    reference_class = "TooLargeError"
