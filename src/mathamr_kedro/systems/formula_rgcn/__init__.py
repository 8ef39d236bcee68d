"""Formulas found by the nodes of their graphs (Amador & Zanibbi 2025).

::

    system    the parameters, the four steps
    forest    trees as flat arrays, vocabularies
    training  pairs of graphs (Eq. 2, 3) ──> network (Eq. 1)
    search    vectors of all nodes, by representation; ranking (Eq. 4), fused; what
              matched what
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.systems.formula_rgcn.search import NodeMatches
    from mathamr_kedro.systems.formula_rgcn.system import FormulaRgcn, FormulaRgcnConfig

__all__ = ["FormulaRgcn", "FormulaRgcnConfig", "NodeMatches"]

__getattr__, __dir__ = load_lazily(__name__, __file__)
