"""MathML to trees, in two modes.

```
text ──> markup: elements, repaired if need be ──┬─> slt ──> SLT
                                                 └─> opt ──> OPT
rules   one walk over the elements      opt_labels   which element gets which label
```

``strict`` gives the tree of the published converters (Tangent-S and its descendants) or
raises the error of the same class. ``total`` gives a tree for every formula that is not
empty, and counts by reason each place where it deviated from a rule.

>>> slt_from_mathml("<math><msup><mi>x</mi><mn>2</mn></msup></math>")
FormulaTree('slt', '[V!x,a[N!2]]')
>>> opt_from_mathml("<math><apply><plus/><ci>a</ci><ci>b</ci></apply></math>")
FormulaTree('opt', '[U!plus,0[V!a],1[V!b]]')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.formula.mathml.markup import Branch, TreeError, read_branch
from mathamr_kedro.formula.mathml.opt import build_opt
from mathamr_kedro.formula.mathml.rules import Mode, Reader
from mathamr_kedro.formula.mathml.slt import build_slt
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.tree import FormulaTree, TreeKind

__all__ = ["TreeError", "opt_from_mathml", "slt_from_mathml"]

_COMPATS = ("none", "arqmath")
_MODES = ("strict", "total")
_BRANCHES: Mapping[TreeKind, tuple[Branch, Callable[..., Node]]] = {
    "slt": ("MathML-Presentation", build_slt),
    "opt": ("MathML-Content", build_opt),
}


def slt_from_mathml(
    text: str,
    mode: Mode = "total",
    *,
    compat: str = "none",
    counter: Counter[str] | None = None,
) -> FormulaTree | None:
    """Return the Symbol Layout Tree of Presentation MathML.

    Args:
        text: a ``math`` element, parallel markup, or bare content of ``math``.
        mode: ``"strict"`` or ``"total"``.
        compat: ``"arqmath"`` writes minus and norm bars as the published files do.
        counter: gets one count per deviation, by reason (total mode).

    Returns:
        The tree; None in total mode if the formula is empty or beyond reading,
        with the reason in ``counter``.

    Raises:
        TreeError: strict mode, and the published converters fail on the formula.

    >>> reasons = Counter()
    >>> slt_from_mathml("<mrow><ms>if</ms><mi>x</mi></mrow>", counter=reasons)
    FormulaTree('slt', '[T!if[V!x]]')
    >>> reasons
    Counter({'unknown_tag:ms': 1})
    """
    return _convert(text, "slt", _make_reader(mode, compat), counter)


def opt_from_mathml(
    text: str,
    mode: Mode = "total",
    *,
    compat: str = "none",
    counter: Counter[str] | None = None,
) -> FormulaTree | None:
    """Return the Operator Tree of Content MathML.

    Args:
        text: a ``math`` element, parallel markup, or bare content of ``math``.
        mode: ``"strict"`` or ``"total"``.
        compat: ``"arqmath"`` writes minus and norm bars as the published files do.
        counter: gets one count per deviation, by reason (total mode).

    Returns:
        The tree; None in total mode if the formula is empty or beyond reading,
        with the reason in ``counter``.

    Raises:
        TreeError: strict mode, and the published converters fail on the formula.
    """
    return _convert(text, "opt", _make_reader(mode, compat), counter)


def _make_reader(mode: str, compat: str) -> Reader:
    _check_choice("mode", mode, _MODES)
    _check_choice("compat", compat, _COMPATS)
    return Reader(strict=mode == "strict", compat=compat == "arqmath")


def _convert(
    text: str, kind: TreeKind, reader: Reader, counter: Counter[str] | None
) -> FormulaTree | None:
    branch, build = _BRANCHES[kind]
    try:
        noted = None if reader.strict else reader.deviations
        return FormulaTree(kind, build(read_branch(text, branch, noted), reader))
    except TreeError as error:
        if reader.strict:
            raise
        reader.deviations.append(error.reason)
        return None
    finally:
        if counter is not None:
            counter.update(reader.deviations)


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ConfigurationError(
            f"Expected one of {list(choices)} for {name} (got {value!r})"
            f"{suggest(str(value), choices)}"
        )
