"""What a worker process runs: batches from a pipe until it closes.

It is started by path with the numbers of two open files: the pipe for batches, and one
that closes when the parent ends. Nothing of the parent's main program is imported, so
scripts need no ``if __name__`` and notebooks can have workers.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection


def _serve(connection: Connection, parent: int, slot: int) -> None:
    """Take the search path and the function, then run batches."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_die_with_parent, args=(parent,), daemon=True).start()
    # Workers are the parallelism; threads inside them would fight for the same cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    logging.basicConfig(format=f"worker {slot}: %(message)s", level=logging.WARNING)
    try:
        sys.path[:] = connection.recv()
        _run_batches(connection, slot)
    except (EOFError, OSError):
        return


def _run_batches(connection: Connection, slot: int) -> None:
    # Only now does the path lead to this package.
    from mathamr_kedro.base.errors import WorkerError  # noqa: PLC0415
    from mathamr_kedro.base.workers.job import Event, Job  # noqa: PLC0415

    try:
        function = connection.recv()
    except (EOFError, OSError):
        raise
    except Exception as exc:
        problem = f"A worker cannot import the function ({type(exc).__name__}: {exc})"
        connection.send(Event("stopping", error=WorkerError(problem)))
        return
    job = Job(function, slot)
    connection.send(job.prepare())
    while True:
        event = job.call(connection.recv())
        try:
            connection.send(event)
        except (EOFError, OSError):
            raise
        except Exception as exc:
            connection.send(Event("raised", f"The results cannot travel: {exc}"))


def _die_with_parent(parent: int) -> None:
    # In a thread: a batch may be in native code that sees no signal.
    os.read(parent, 1)  # nothing is ever written: it returns at the end of the parent
    os._exit(1)


if __name__ == "__main__":
    batches, end, number = map(int, sys.argv[1:])
    _serve(Connection(batches), end, number)
