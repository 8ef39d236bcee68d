"""The stages: eight packages, each with its nodes, wiring and parameters."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kedro.pipeline import Node, Pipeline

# A system is a namespace inside of each stage (indexing.bm25), and its datasets are
# named only after it (bm25.index): the same in all stages.
warnings.filterwarnings("ignore", "One or more dataset names contain", UserWarning)


def box(name: str, *nodes: Node) -> Pipeline:
    """Return the nodes of a system as one box of a stage."""
    from kedro.pipeline import Pipeline  # noqa: PLC0415 - checks need no Kedro

    return Pipeline([*nodes], namespace=name, prefix_datasets_with_namespace=False)
