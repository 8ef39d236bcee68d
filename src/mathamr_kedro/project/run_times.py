"""True times of nodes that stream, in the run view of Kedro-Viz."""

from __future__ import annotations

import json
import time
from inspect import isgeneratorfunction
from pathlib import Path

from kedro.framework.hooks import hook_impl
from kedro.pipeline.node import Node
from kedro_viz.constants import PIPELINE_EVENTS_FILENAME, VIZ_METADATA_DIR

from mathamr_kedro.base.files import write_text


class StreamTimes:
    """Times streaming nodes to their last chunk.

    Kedro calls a generator done when it is made, and works while its chunks are saved:
    Kedro-Viz would show 0 seconds for hours of parsing.
    """

    def __init__(self) -> None:
        self._started = 0.0
        self._began: dict[str, float] = {}
        self._seconds: dict[str, float] = {}

    @hook_impl
    def before_pipeline_run(self) -> None:
        """Forget the run before."""
        self._started = time.time()
        self._began.clear()
        self._seconds.clear()

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """Note when a node that streams begins."""
        if isgeneratorfunction(node.func):
            self._began[node.name] = time.perf_counter()

    @hook_impl
    def after_dataset_saved(self, node: Node) -> None:
        """Note when one of its chunks is written."""
        if node.name in self._began:
            self._seconds[node.name] = time.perf_counter() - self._began[node.name]

    @hook_impl(trylast=True)
    def after_pipeline_run(self) -> None:
        """Correct what Kedro-Viz has noted of this run, if it has."""
        file = Path.cwd() / VIZ_METADATA_DIR / PIPELINE_EVENTS_FILENAME
        # A run of a part of the nodes leaves the notes of the whole one before.
        if file.is_file() and file.stat().st_mtime >= self._started:
            events = json.loads(file.read_text(encoding="utf-8"))
            for event in events:
                if event["event"] == "after_node_run":
                    known = self._seconds.get(event["node"], event["duration"])
                    event["duration"] = known
            write_text(file, json.dumps(events, indent=2))
