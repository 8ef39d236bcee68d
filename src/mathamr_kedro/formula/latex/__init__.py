r"""LaTeX to both formula trees, in pure Python.

```
LaTeX ──> macros, tokens ──> reader, commands/ ──> boxes: rows of items (nodes, symbols)
                                                     │
SLT <── layout_tree <─────────────┐                  v
                                  ├── one item <── grammar/; or fragments
OPT <── operator_tree <───────────┘

LaTeX ──> macros, tokens ──> display_reader ──> display_mathml

what people type ──> typed ──> LaTeX
```

>>> trees = trees_from_latex(r"\frac{a}{2}")
>>> trees.slt.to_string(), trees.opt.to_string()
('[O!divide,o[V!a],u[N!2]]', '[O!divide,0[V!𝑎],1[N!2]]')
>>> trees_from_latex(r"\foo + 1").problems
{'undefined:foo': 1}

Total mode keeps names that the published trees lose:

>>> trees_from_latex(r"\text{Supp}(s)").opt.to_string()
'[U!times,0[W!],1[V!𝑠]]'
>>> trees_from_latex(r"\text{Supp}(s)", mode="total").opt.to_string()
'[U!times,0[T!Supp],1[V!𝑠]]'
"""

from __future__ import annotations

import logging
from typing import Literal

from mathamr_kedro.formula.latex.commands import list_entries
from mathamr_kedro.formula.latex.layout_tree import build_slt
from mathamr_kedro.formula.latex.limits import MAX_CHARACTERS, LimitError
from mathamr_kedro.formula.latex.nodes import Item
from mathamr_kedro.formula.latex.operator_tree import build_opt
from mathamr_kedro.formula.latex.reader import Reader
from mathamr_kedro.formula.latex.tokens import END, split_tokens
from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees

_logger = logging.getLogger(__name__)

__all__ = ["trees_from_latex"]

_NOTHING = frozenset({END})


def trees_from_latex(
    latex: str, mode: Literal["strict", "total"] = "strict"
) -> FormulaTrees:
    r"""Return the Symbol Layout Tree and the Operator Tree of a formula.

    In strict mode the trees are those of LaTeXML 0.8.7 and the published converters,
    for formulas that both can read. As for MathML, total mode keeps what these lose:
    words in the operator tree (``T!Supp``, not ``W!``) and the names of undefined
    commands (``E!Spec``, not ``E!`` and ``W!``). Neither mode raises: what cannot be
    read becomes an error node, and formulas that are empty or too large have no trees;
    ``problems`` says why:

    ====================  ==========================================================
    ``undefined:name``    an undefined command; ``E!`` in the tree
    ``bad_arrow``         an arrow of a diagram that leads nowhere
    ``unparsed``          a row the grammar cannot parse; fragments in the tree
    ``unknown_environment``, ``missing_*``, ``stray_*``  repaired
    ``empty``, ``too_long``, ``too_deep``, ``too_large``, ``expansion_limit``  no trees
    ``work_limit``        a row given up as fragments after too many steps
    ``internal_error``    a defect of this reader; please report it
    ====================  ==========================================================

    Args:
        latex: a formula as people write it, with or without dollars.
        mode: ``"strict"`` or ``"total"``.
    """
    problems: dict[str, int] = {}
    try:
        item = _read(latex, problems, mode == "total")
        if item is not None:
            slt = build_slt(item)
            if slt is not None:
                opt = build_opt(item)
                return FormulaTrees(
                    FormulaTree("slt", slt), FormulaTree("opt", opt), problems
                )
            problems["empty"] = 1
    except LimitError as error:
        problems[error.reason] = 1
    except RecursionError:
        problems["too_deep"] = 1
    except Exception:
        # A defect here must not stop the reading of a whole collection.
        _logger.exception("Failed to read the formula %r", latex[:200])
        problems["internal_error"] = 1
    return FormulaTrees(None, None, problems)


def _read(latex: str, problems: dict[str, int], is_total: bool) -> Item | None:
    """Return the formula as one item; None, with the reason, if there is none."""
    if len(latex) > MAX_CHARACTERS:
        problems["too_long"] = 1
        return None
    tokens = split_tokens(latex, problems)
    # Definitions and nothing else are a formula, though one that shows nothing.
    if tokens == [END] and split_tokens(latex) == [END]:
        problems["empty"] = 1
        return None
    reader = Reader(tokens, list_entries, problems, is_total)
    boxes = reader.read_boxes(_NOTHING)
    return reader.make_item(boxes, punctuated=True)
