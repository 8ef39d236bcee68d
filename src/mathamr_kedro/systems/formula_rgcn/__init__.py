"""Formulas found by the nodes of their graphs (Amador & Zanibbi 2025).

::

    prepare   forest: trees as flat arrays, vocabularies
    train     training ──> network (Eq. 1), losses (Eq. 2, 3)
    index     search: vectors of all nodes, by representation
    rank      search (Eq. 4), fused; explanation: what matched what

``config`` has the parameters, ``system`` the four steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.systems.formula_rgcn.config import Config
    from mathamr_kedro.systems.formula_rgcn.explanation import NodeMatches
    from mathamr_kedro.systems.formula_rgcn.system import FormulaRgcn

__all__ = ["Config", "FormulaRgcn", "NodeMatches"]

__getattr__, __dir__ = load_lazily(__name__, __file__)
