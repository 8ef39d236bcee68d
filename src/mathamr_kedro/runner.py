"""The order in which ``kedro run`` runs the stages."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kedro.pipeline import Pipeline
from kedro.runner import SequentialRunner

from mathamr_kedro.stages import STAGES

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol
    from kedro.pipeline.node import Node
    from pluggy import PluginManager

logger = logging.getLogger(__name__)


class StageRunner(SequentialRunner):
    """Finishes one stage before the next begins.

    Kedro's own runners go by the distance from the raw data: texts would be parsed for
    hours before the pairs to train on are counted, and baselines would be searched
    before the report of the ingestion is written.
    """

    def __repr__(self) -> str:
        # Kedro-Viz follows runs of a runner that is written like this.
        kind = f"{SequentialRunner.__module__}.{SequentialRunner.__qualname__} object"
        return f"<{type(self).__name__}, a {kind}>"

    @property
    def _logger(self) -> logging.Logger:
        return logging.getLogger(SequentialRunner.__module__)

    def _run(
        self,
        pipeline: Pipeline,
        catalog: CatalogProtocol,
        hook_manager: PluginManager | None = None,
        run_id: str | None = None,
    ) -> None:
        super()._run(_Stages(pipeline.nodes), catalog, hook_manager, run_id)

    def _suggest_resume_scenario(
        self, pipeline: Pipeline, done_nodes: Iterable[Node], catalog: CatalogProtocol
    ) -> None:
        """Say that nothing is lost, where Kedro would name nodes to start from."""
        logger.warning("stopped; what is finished is kept, the same command goes on")


class _Stages(Pipeline):
    """A pipeline whose nodes are in the order of the stages.

    No stage reads what a later one makes. Nodes of no stage have no place in that
    order: with any of them, Kedro's own order stays.
    """

    @property
    def nodes(self) -> list[Node]:
        found: list[Node] = super().nodes
        if not {node.namespace for node in found} <= {*STAGES}:
            return found
        return sorted(found, key=lambda node: STAGES.index(node.namespace or ""))
