"""What the systems of other papers make of formula trees.

==================  ====================================================  ==========
module              gives                                                 paper
==================  ====================================================  ==========
``backward_graph``  the tree and a labelled edge back for each edge       Amador &
                    (SLG, OPG); sub-expressions cut from it               Zanibbi
``shared_graph``    the tree with identical subtrees shared               SSEmb
``substitution``    a graph with random substructures as wildcards        SSEmb
``linearisation``   AMR text and depth-first strings                      MathAMR
``tuple_words``     tuples as words of single characters                  TangentCFT
==================  ====================================================  ==========

>>> from mathamr_kedro.formula import FormulaTree
>>> tree = FormulaTree.from_string("[U!plus,0[V!x],1[V!x]]")
>>> print(build_shared_graph(tree).to_text())
0 U!plus  0→1 0→1
1 V!x
"""

from __future__ import annotations

from mathamr_kedro.formula.graphs.backward_graph import (
    build_backward_graph,
    cut_subexpression,
)
from mathamr_kedro.formula.graphs.formula_graph import FormulaGraph
from mathamr_kedro.formula.graphs.linearisation import (
    format_amr,
    linearise,
    prepare_content,
    read_concept,
)
from mathamr_kedro.formula.graphs.shared_graph import build_shared_graph
from mathamr_kedro.formula.graphs.substitution import substitute_substructures
from mathamr_kedro.formula.graphs.tuple_words import TupleEncoder

__all__ = [
    "FormulaGraph",
    "TupleEncoder",
    "build_backward_graph",
    "build_shared_graph",
    "cut_subexpression",
    "format_amr",
    "linearise",
    "prepare_content",
    "read_concept",
    "substitute_substructures",
]
