"""The ``transition`` parser: chunks in, graphs out, by a worker that may die."""

from __future__ import annotations

import logging
import os
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import AMRParser, ParserSettings, parse_isolating
from mathamr_kedro.amr.graphs import AMRGraph, ParseFailure
from mathamr_kedro.amr.merging import merge_graphs
from mathamr_kedro.amr.penman_io import read_graph
from mathamr_kedro.amr.placeholder_nodes import restore_placeholders
from mathamr_kedro.amr.transition.process import WorkerProcess
from mathamr_kedro.base.errors import ConfigurationError, GraphError, WorkerError
from mathamr_kedro.base.workers import WorkerConfig, current_slot

logger = logging.getLogger(__name__)

_WORKER = Path(__file__).with_name("worker.py")
_START_ATTEMPTS = 3
_FIXED = {"documents": True, "windows": [400, 100], "beam": 1, "fp16": False}
"""How ``worker.py`` calls the library, as graphs that were made record it."""


@dataclass(frozen=True)
class TransitionConfig(ParserSettings):
    """Parameters of ``parser: transition``."""

    name: ClassVar = "transition"

    python: str = ".venv-transition/bin/python"
    """Python of the environment that ``build_environment.sh`` makes."""
    worker: str | None = None
    """Another script that speaks the protocol; ``None``: our own."""
    model: str = "doc-sen-conll-amr-seed42"
    """The thesis' model (section 3.1)."""
    checkpoint: str | None = None
    """Weights of your own in place of ``model``; several joined by ``:``."""
    batch_size: int = 32
    """Chunks on the GPU at a time."""
    devices: tuple[str, ...] = ("cuda:0",)
    """One worker per device, e.g. ``[cuda:0, cuda:1]``, or ``[cpu]``."""
    start_timeout_s: float = 1800.0
    """The first start downloads the weights."""
    request_timeout_s: float = 900.0
    silence_timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if not self.devices:
            raise ConfigurationError("Expected at least one of 'devices' (got none)")
        for device in self.devices:
            _visible_devices(device, {})

    @property
    def is_installed(self) -> bool:
        """Whether the environment of the parser is installed."""
        return Path(self.python).exists()

    @property
    def chunks_per_call(self) -> int:
        """As many as fit on the GPU."""
        return self.batch_size

    def describe(self) -> dict[str, Any]:
        """Return what the graphs depend on."""
        return {
            "parser": self.name,
            "worker": self.worker,
            "model": self.checkpoint or self.model,
            **_FIXED,
        }

    def open(self) -> AMRParser:
        """Return the parser, its worker started."""
        parser = TransitionParser(self)
        parser.start()
        return parser

    def limit(self, workers: WorkerConfig) -> WorkerConfig:
        """Leave time limits to the parser, which watches a worker of its own."""
        start = self.start_timeout_s * 4
        return replace(workers, timeout_s=None, start_timeout_s=start)


class TransitionParser:
    """One worker process, started when it is needed and replaced when it fails.

    Its device is that of the slot in which this process runs, so ``workers: 4`` and
    four ``devices`` make four of them.
    """

    name = "transition"

    def __init__(self, config: TransitionConfig) -> None:
        self._config = config
        self._device = config.devices[current_slot() % len(config.devices)]
        self._process: WorkerProcess | None = None
        self._finalizer: weakref.finalize | None = None
        if not config.is_installed:
            raise ConfigurationError(
                f"Expected the Python of the parser's environment at "
                f"{config.python!r} ('amr_parsing.transition.python'); build it with "
                "src/mathamr_kedro/amr/transition/build_environment.sh"
            )

    def start(self) -> WorkerProcess:
        """Return the worker; start it if none runs.

        Raises:
            ConfigurationError: it does not start.
        """
        if self._process is None:
            self._process = self._start()
            self._finalizer = weakref.finalize(self, self._process.stop)
        return self._process

    def _start(self) -> WorkerProcess:
        command = _make_command(self._config)
        environment = make_environment(self._device, os.environ)
        attempts = 0
        while True:
            try:
                return WorkerProcess(
                    command,
                    environment,
                    start_s=self._config.start_timeout_s,
                    request_s=self._config.request_timeout_s,
                    silence_s=self._config.silence_timeout_s,
                )
            except (WorkerError, TimeoutError) as exc:
                attempts += 1
                if attempts == _START_ATTEMPTS:
                    raise ConfigurationError(
                        f"The transition worker on {self._device!r} did not start in "
                        f"{attempts} attempts: {exc}"
                    ) from exc
                logger.warning("transition worker did not start: %s", exc)
                time.sleep(attempts)  # a dead one may still hold the GPU's memory

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch; a bad chunk is tried again sentence by sentence.

        Raises:
            ConfigurationError: the worker does not start.
            WorkerError, TimeoutError, MemoryError, RuntimeError: the batch failed as a
                whole; smaller ones may not.
        """
        if not chunks:
            return []
        try:
            answers = self._ask(chunks)
        except (WorkerError, MemoryError, RuntimeError) as exc:
            if len(chunks) > 1 or len(chunks[0].sentences) == 1:
                raise
            return [self._parse_sentences(chunks[0], str(exc))]
        return [
            self._repair(chunk, _read_answer(answer))
            for chunk, answer in zip(chunks, answers, strict=True)
        ]

    def close(self) -> None:
        """End the worker."""
        self._process = None
        if self._finalizer is not None:
            self._finalizer()

    def _ask(self, chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
        """Ask the worker; a single chunk gets a second worker if the first dies."""
        attempts = 2 if len(chunks) == 1 else 1
        while True:
            process = self.start()
            try:
                return process.ask(chunks)
            except (WorkerError, TimeoutError) as exc:
                logger.warning("transition worker on %s: %s", self._device, exc)
                self.close()
                attempts -= 1
                if isinstance(exc, TimeoutError) or not attempts:
                    raise

    def _repair(
        self, chunk: Chunk, result: AMRGraph | ParseFailure
    ) -> AMRGraph | ParseFailure:
        if isinstance(result, AMRGraph) or result.reason == "empty_text":
            return result
        if len(chunk.sentences) == 1:
            return result
        return self._parse_sentences(chunk, result.detail)

    def _parse_sentences(self, chunk: Chunk, problem: str) -> AMRGraph | ParseFailure:
        """Parse the sentences of a failed chunk one by one; keep those that work.

        One sentence without a node can fail a whole document.
        """
        logger.warning("parsing sentence by sentence: %s", problem)
        singles = [Chunk((sentence,)) for sentence in chunk.sentences]
        results = parse_isolating(self, singles)
        graphs = [r for r in results if isinstance(r, AMRGraph)]
        if graphs:
            return merge_graphs(graphs)
        failures = [r for r in results if isinstance(r, ParseFailure)]
        return failures[0]


def _read_answer(answer: Mapping[str, Any]) -> AMRGraph | ParseFailure:
    """Return the graph of an answer, placeholders restored, or its failure."""
    if "graphs" not in answer:
        return ParseFailure(answer["reason"], answer["error"])
    try:
        graphs = [restore_placeholders(read_graph(text)) for text in answer["graphs"]]
    except GraphError as exc:
        return ParseFailure("penman_error", str(exc))
    return graphs[0] if len(graphs) == 1 else merge_graphs(graphs)


def _make_command(config: TransitionConfig) -> list[str]:
    """Return the command line of the worker."""
    heartbeat = min(5.0, config.silence_timeout_s / 4)
    options = {
        "--model": config.model,
        "--checkpoint": config.checkpoint,
        "--batch-size": config.batch_size,
        "--heartbeat-s": heartbeat,
    }
    command = [config.python, config.worker or str(_WORKER)]
    for name, value in options.items():
        if value is not None:
            command += [name, str(value)]
    return command


def make_environment(device: str, own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the worker: one device, none of our paths.

    >>> own = {"HOME": "/home/me", "PYTHONPATH": "src", "CUDA_VISIBLE_DEVICES": "4,6"}
    >>> made = make_environment("cuda:1", own)
    >>> made["CUDA_VISIBLE_DEVICES"], "PYTHONPATH" in made
    ('6', False)
    """
    ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    kept = {name: value for name, value in own.items() if name not in ours}
    return {**kept, "CUDA_VISIBLE_DEVICES": _visible_devices(device, own)}


def _visible_devices(device: str, own: Mapping[str, str]) -> str:
    """Return the worker's ``CUDA_VISIBLE_DEVICES``, counted within our own."""
    kind, _, number = device.partition(":")
    if device == "cpu":
        return ""
    if kind != "cuda" or not (number.isdigit() or device == "cuda"):
        raise ConfigurationError(
            f"Expected 'cpu' or 'cuda:<n>' for a device (got {device!r})"
        )
    visible = own.get("CUDA_VISIBLE_DEVICES", "")
    names = [name.strip() for name in visible.split(",") if name.strip()]
    index = int(number or 0)
    if names and index >= len(names):
        raise ConfigurationError(
            f"Expected a device among the {len(names)} visible ones "
            f"(got {device!r} with CUDA_VISIBLE_DEVICES={visible!r})"
        )
    return names[index] if names else str(index)
