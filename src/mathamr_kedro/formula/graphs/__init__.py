"""What the systems of other papers make of formula trees.

==================  ====================================================  ==========
module              gives                                                 paper
==================  ====================================================  ==========
``shared_graph``    the tree with identical subtrees shared               SSEmb
``linearisation``   depth-first strings                                   MathAMR
==================  ====================================================  ==========

>>> from mathamr_kedro.formula import FormulaTree
>>> build_shared_graph(FormulaTree.from_string("[U!plus,0[V!x],1[V!x]]")).edges
((0, '0', 1), (0, '0', 1))
"""

from __future__ import annotations

from mathamr_kedro.formula.graphs.linearisation import linearise, read_concept
from mathamr_kedro.formula.graphs.shared_graph import FormulaGraph, build_shared_graph

__all__ = ["FormulaGraph", "build_shared_graph", "linearise", "read_concept"]
