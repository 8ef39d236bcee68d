"""A bench for whole runs: disturbed ones are compared with an undisturbed one.

A small collection goes through all stages in child processes, which share what this one
has imported; :meth:`Bench.judge` applies the remedy that a stop names, and says what
came of it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

from mathamr_kedro.base.errors import find_cause
from mathamr_kedro.base.parameters import merge_parameters
from tests.official_collection import write_collection

PROJECT = Path(__file__).resolve().parents[1]
FORK = multiprocessing.get_context("fork")
ENVIRONMENT = "arqmath"
TINY: dict[str, Any] = {
    "ingestion": {"records_per_shard": 40, "formulas_per_shard": 300},
    "amr_parsing": {"posts_per_shard": 40, "workers": {"workers": 1}},
    "graph_fusion": {"workers": {"workers": 1}},
    "preprocessing": {
        "workers": {"workers": 1},
        "vocabulary": {"size": 500},
        "pairs": {"max_pairs": 20},
    },
    "training": {
        "num_epochs": 1,
        "batch_size": 4,
        "compute": {"device": "cpu"},
        "model": {"hidden_dim": 8, "projection_dim": 8, "num_layers": 1,
                  "num_bases": 2, "readout_dim": 0},
    },
    "indexing": {"encoding": {"posts_per_shard": 30}},
    "significance": {"tests": {"num_samples": 50}},
}  # fmt: skip
VERSION = re.compile(r"\d{4}-\d\d-\d\dT[\d.]+Z")
OUTPUTS = ("07_model_output/runs", "07_model_output/scores")


class End(NamedTuple):
    """How a run ended."""

    code: int
    """0: to its end, 1: stopped by our own error, 2: by another, negative: killed."""
    message: str


class Row(NamedTuple):
    """One disturbance and what came of it."""

    fault: str
    place: str
    outcome: str
    message: str = ""


class Bench:
    """Runs the stages in child processes that share what this one has imported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.raw = folder / "raw"
        write_collection(self.raw)
        os.environ["MATHAMR_ARQMATH"] = str(self.raw)
        bootstrap_project(PROJECT)
        self.clean = folder / "clean"
        self.renames: list[str] = []
        started = time.perf_counter()
        end = self.run(self.clean, count_renames(folder / "renames.txt"))
        self.seconds = time.perf_counter() - started
        if end.code:
            raise SystemExit(f"The undisturbed run failed: {end.message}")
        self.renames = (folder / "renames.txt").read_text().splitlines()
        self.expected = digest(self.clean)

    def run(
        self,
        root: Path,
        disturb: Callable[[], None] | None = None,
        limit: float | None = None,
        **changes: Any,
    ) -> End:
        """Run all stages on a data root in a child process.

        Args:
            root: the data root.
            disturb: called in the child before it starts.
            limit: seconds after which the child is killed.
            changes: parameters over those of the bench.
        """
        reader, writer = FORK.Pipe(duplex=False)
        child = FORK.Process(target=_work, args=(root, disturb, changes, writer))
        child.start()
        writer.close()
        child.join(limit)
        if child.is_alive():
            os.kill(child.pid or 0, signal.SIGKILL)
            child.join()
        try:
            message = reader.recv()
        except EOFError:
            message = ""
        return End(child.exitcode or 0, message)

    def copy(self) -> Path:
        """Return a copy of the data of the undisturbed run."""
        root = Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copytree(self.clean, root / "data")
        return root / "data"

    def empty(self) -> Path:
        """Return a new data root."""
        return Path(tempfile.mkdtemp(dir=self.folder)) / "data"

    def judge(self, fault: str, place: str, root: Path, end: End) -> Row:
        """Describe the outcome of a fault; apply a named remedy and resume."""
        message = end.message
        outcome = "same"
        for _ in range(4):  # remedies may uncover one another
            if end.code == 0:
                break
            if end.code != 1:
                return Row(fault, place, "crash", end.message)
            outcome = "stopped"
            if not self._apply_remedy(root, end.message):
                return Row(fault, place, "crash", end.message)
            end = self.run(root)
        if end.code:
            return Row(fault, place, "lost", end.message)
        if digest(root) != self.expected:
            return Row(fault, place, "silent" if outcome == "same" else "lost", message)
        shutil.rmtree(root.parent, ignore_errors=True)
        return Row(fault, place, outcome, message)

    def _apply_remedy(self, root: Path, message: str) -> bool:
        """Do what a message says: delete what it names, or run again."""
        named = [Path(p) for p in re.findall(r"'([^']+)'", message)]
        inside = [p for p in named if p.is_relative_to(root) and p.exists()]
        if re.search(r"\b(delete|remove)\b", message, re.IGNORECASE) and inside:
            target = inside[0]
            shutil.rmtree(target) if target.is_dir() else target.unlink()
            return True
        return "again" in message


def _work(
    root: Path,
    disturb: Callable[[], None] | None,
    changes: Mapping[str, Any],
    writer: Any,
) -> None:
    logging.disable(logging.CRITICAL)
    sys.stdout = sys.stderr = io.StringIO()
    try:
        if disturb is not None:
            disturb()
        values = merge_parameters(TINY, changes) | {"data_root": str(root)}
        with KedroSession.create(
            PROJECT, env=ENVIRONMENT, runtime_params=values
        ) as session:
            session.run()
    except BaseException as exc:
        cause = find_cause(exc)
        writer.send(str(cause or f"{type(exc).__name__}: {exc}"))
        os._exit(1 if cause else 2)
    os._exit(0)


def digest(root: Path) -> str:
    """Return a checksum of what a run is for: result lists and scores, the newest."""
    files: dict[str, Path] = {}
    for file in (f for name in OUTPUTS for f in (root / name).rglob("*")):
        if file.is_file() and not file.name.startswith((".", "_")):
            kind = VERSION.sub("VERSION", file.relative_to(root).as_posix())
            known = files.get(kind)
            if known is None or known.stat().st_mtime_ns < file.stat().st_mtime_ns:
                files[kind] = file
    found = hashlib.blake2b()
    for kind, file in sorted(files.items()):
        found.update(kind.encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def count_renames(file: Path) -> Callable[[], None]:
    """Write down every rename of a run."""

    def disturb() -> None:
        def note(source: Any, target: Any) -> None:
            with file.open("a") as stream:
                stream.write(f"{target}\n")

        patch_renames(before=note)

    return disturb


def patch_renames(
    before: Callable[[Any, Any], None] | None = None,
    after: Callable[[Any, Any], None] | None = None,
) -> None:
    """Call something before and after every rename of this process."""

    def wrap(rename: Callable[..., Any]) -> Callable[..., Any]:
        def renamed(source: Any, target: Any, **options: Any) -> Any:
            if before:
                before(source, target)
            done = rename(source, target, **options)
            if after:
                after(source, target)
            return done

        return renamed

    # pathlib takes them from the module at each call.
    os.rename, os.replace = wrap(os.rename), wrap(os.replace)
