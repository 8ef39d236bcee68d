"""Other tools: their classes over our data.

::

    MathGraphDataset    graphs as a dataset of PyTorch Geometric     pyg_dataset
    to_pyg, from_pyg    a graph as its ``Data``, and back            pyg_dataset
    MathAmrRetriever    a transformer of PyTerrier                   terrier
    open_dataset        a collection as a dataset of ir_datasets     ir_collection

Runs need no class: ranx, ir_measures and trec_eval read our run files, and
:func:`mathamr_kedro.trec.read_run` reads theirs. Each module imports the package that
it is for, so names are loaded when they are first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.integrations.ir_collection import open_dataset
    from mathamr_kedro.integrations.pyg_dataset import (
        MathGraphDataset,
        from_pyg,
        to_pyg,
    )
    from mathamr_kedro.integrations.terrier import MathAmrRetriever

__all__ = [
    "MathAmrRetriever",
    "MathGraphDataset",
    "from_pyg",
    "open_dataset",
    "to_pyg",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
