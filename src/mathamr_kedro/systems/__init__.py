"""Systems: everything that ranks posts or formulas.

=============  ==============================================  ===============
system         what it compares                                finds
=============  ==============================================  ===============
mathamr_plus   vectors of graphs of text and formulas          posts, formulas
bm25 ...       terms (:mod:`~mathamr_kedro.systems.bm25`)      posts, formulas
minilm ...     vectors of texts                                posts, formulas
               (:mod:`~mathamr_kedro.systems.sentence`)
formula_rgcn   nodes of layout and operator graphs             formulas
ssemb          shared operator graphs, and the text around     formulas
marf           tokens of texts, fused with those of a formula  posts, formulas
mathamr        sentences of formulas: AMR, operator trees      formulas
adapter        vectors of texts by a model that learnt         posts, formulas
fusion         ranked lists of others                          as these
=============  ==============================================  ===============

Each implements :class:`System`. A system of your own is one class and one line of
configuration, ``systems: {mine: {class: "my_module:MySystem"}}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily
from mathamr_kedro.systems.base import Collection, Index, Rankings, System
from mathamr_kedro.systems.query import Query, ScorePart, Target, Term
from mathamr_kedro.systems.registry import (
    BASELINES,
    LEARNING,
    find_missing,
    learns,
    list_systems,
    make_baseline,
    read_system,
)

if TYPE_CHECKING:
    from mathamr_kedro.systems.fusion import Fusion, fuse_runs

__all__ = [
    "BASELINES",
    "LEARNING",
    "Collection",
    "Fusion",
    "Index",
    "Query",
    "Rankings",
    "ScorePart",
    "System",
    "Target",
    "Term",
    "find_missing",
    "fuse_runs",
    "learns",
    "list_systems",
    "make_baseline",
    "read_system",
]

# A machine that only trains has no metrics, which fusions need.
__getattr__, __dir__ = load_lazily(__name__, __file__)
