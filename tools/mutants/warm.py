"""A Python that has imported the libraries once, and forks for every run of tests.

Of the seconds of a short test nearly all go to importing torch and its kind.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Self

_LIBRARIES = (
    "torch", "torch_geometric.nn", "scipy.stats", "pandas", "pyarrow", "numba", "spacy",
    "matplotlib.pyplot", "kedro.framework.session", "kedro.framework.cli", "sympy",
    "qdrant_client", "fastapi.testclient", "ir_measures", "hypothesis", "pytest",
)  # fmt: skip
_PAUSE = 0.02  # seconds


class WarmPython:
    """Runs pytest, each time in a new process that need not import the libraries."""

    def __init__(self) -> None:
        self._server = _start_server()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.communicate()  # the end of its input ends it

    def run(self, arguments: list[str], source: Path, seconds: float) -> int | None:
        """Return the exit code of pytest on a copy of the source.

        What it leaves running is killed. None: it took too long; -1: it has killed the
        process that it was forked from.
        """
        assert self._server.stdin is not None and self._server.stdout is not None
        request = {"arguments": arguments, "source": str(source), "seconds": seconds}
        print(json.dumps(request), file=self._server.stdin, flush=True)
        line = self._server.stdout.readline()
        if not line:
            self._server.communicate()
            self._server = _start_server()
        answer: int | None = json.loads(line or "-1")
        return answer


def _start_server() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tools.mutants.warm"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def serve() -> None:
    """Run what the lines of the standard input ask for, and print the exit codes."""
    for name in _LIBRARIES:
        with suppress(ImportError):  # some come with extras alone
            import_module(name)
    gc.freeze()  # what is never looked at again stays shared
    for line in sys.stdin:
        print(json.dumps(_run_in_fork(**json.loads(line))), flush=True)


def _run_in_fork(arguments: list[str], source: str, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    child = os.fork()
    if child == 0:
        _run_pytest(arguments, source)
    try:
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > deadline:
                return None
            time.sleep(_PAUSE)
        return os.waitstatus_to_exitcode(ended[1])
    finally:
        # Workers of a changed program may never end, and slow all others down.
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def _run_pytest(arguments: list[str], source: str) -> None:
    """Run tests on the copy, and end this process."""
    os.setsid()
    with open(os.devnull, "r+b") as nothing:
        for stream in range(3):
            os.dup2(nothing.fileno(), stream)
    os.environ["PYTHONPATH"] = f"{source}:{os.getenv('PYTHONPATH', '')}"
    sys.path.insert(0, source)
    import pytest

    sys.exit(pytest.main(arguments))


if __name__ == "__main__":
    serve()
