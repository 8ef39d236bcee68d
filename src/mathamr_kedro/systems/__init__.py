"""Systems of the papers that MathAMR+ grew from and is compared with.

=============  ==============================================  ===============
system         what it compares                                finds
=============  ==============================================  ===============
formula_rgcn   nodes of layout and operator graphs             formulas
ssemb          shared operator graphs, and the text around     formulas
marf           tokens of texts, fused with those of a formula  posts, formulas
mathamr        sentences of formulas: AMR, operator trees      formulas
=============  ==============================================  ===============

Each is a package of its own with the steps of :class:`PaperSystem`; its parameters
stand below ``systems.NAME``. Whoever adds one names it in :data:`SYSTEMS`.
"""

from mathamr_kedro.systems.protocol import (
    Epochs,
    PaperSystem,
    Ranker,
    SystemSources,
    TreeLookup,
)
from mathamr_kedro.systems.registry import SYSTEMS, read_system
from mathamr_kedro.systems.training import SystemFolder

__all__ = [
    "SYSTEMS",
    "Epochs",
    "PaperSystem",
    "Ranker",
    "SystemFolder",
    "SystemSources",
    "TreeLookup",
    "read_system",
]
