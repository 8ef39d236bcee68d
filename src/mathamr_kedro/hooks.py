"""Kedro hooks, one class per concern."""

from __future__ import annotations

import logging
import time
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.pipeline.node import Node

from mathamr_kedro.stages import check_stage_parameters

logger = logging.getLogger(__name__)


class ParameterHooks:
    """Refuse unknown or ill-typed parameters before anything runs."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Check every stage's parameters against its dataclass."""
        check_stage_parameters(context.params)


class TimingHooks:
    """Say how long each node took."""

    def __init__(self) -> None:
        self._started: dict[str, float] = {}

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """Note the time."""
        self._started[node.name] = time.perf_counter()

    @hook_impl
    def after_node_run(self, node: Node, outputs: dict[str, Any]) -> None:
        """Log the node's wall time."""
        seconds = time.perf_counter() - self._started.pop(node.name)
        logger.info("%s took %.1f s", node.name, seconds)
