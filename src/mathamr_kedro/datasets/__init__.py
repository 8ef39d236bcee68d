"""Kedro datasets: the only place where files and Kedro meet.

A catalog entry names the dataset; a node gets what it loads.

=========================  =====================  ================================
dataset                    loads                  holds
=========================  =====================  ================================
``CollectionDataset``      ``Collection``         raw files of a test collection
``ShardedTableDataset``    ``ShardedTable``       a table in Parquet shards
``OptionalJSONDataset``    a mapping              facts that need not be there
``VisualIndexDataset``     ``VisualIndex``        visual ids of formulas
``FormulaTreesDataset``    ``TreeStore``          trees of formulas
``PenmanShardsDataset``    ``PenmanShards``       AMR graphs as PENMAN text in shards
``MathGraphsDataset``      ``MathGraphs``         the same with the trees of formulas
``StoreDataset``           ``CellStore``          recorded evaluations
``ArtefactDataset``        ``GraphFolder``        graphs as arrays, by variant
``ArtefactDataset``        ``Prepared``           what a system learns from
``ArtefactDataset``        ``Training``           a model, e.g. MathAMR+'s ``Encoder``
``ArtefactDataset``        ``BuiltIndex``         the index of a system, to be asked
``SystemRunsDataset``      a list of runs         what a system found for all topics
``RunFolderDataset``       ``RunFolder``          run files of systems
=========================  =====================  ================================

Pages, figures, scores and facts of stages are Kedro's own datasets: text, Matplotlib,
Parquet and JSON.

Names are imported when they are first used: some need torch, and a catalog that reads
tables should not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.datasets.artefact import BuiltIndex
    from mathamr_kedro.datasets.formula_trees import StartOfTrees
    from mathamr_kedro.datasets.math_graphs import MathGraphs, StartOfFusion
    from mathamr_kedro.datasets.penman_shards import PenmanShards
    from mathamr_kedro.datasets.run_folder import RunEntry, RunFolder
    from mathamr_kedro.datasets.sharded_table import RowFinder, ShardedTable

__all__ = [
    "BuiltIndex",
    "MathGraphs",
    "PenmanShards",
    "RowFinder",
    "RunEntry",
    "RunFolder",
    "ShardedTable",
    "StartOfFusion",
    "StartOfTrees",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
