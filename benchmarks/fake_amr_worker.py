"""A worker of the transition parser that parses nothing and fails as it is told.

It speaks the protocol of ``mathamr_kedro.amr.transition``. A sentence with a word
``FAULT:<kind>:<name>:<times>`` makes it fail on the first ``times`` meetings with that
sentence (``-1``: always); the meetings are counted in the folder $FAKE_WORKER_NOTES, so
that they survive the death of a worker:

    kill        the process kills itself
    hang        nothing happens any more, no heartbeats either
    stuck       heartbeats continue, but no answer comes
    garbage     a broken line in place of the answer
    malformed   the answer has too few parts
    memory      the batch is too large for the device
    error       the batch as a whole fails
    unreadable  the graph of this sentence is no PENMAN
    refused     the chunk of this sentence has no graph

With $FAKE_WORKER_START = exit, fatal, silent or protocol it does not start.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import signal
import sys
import threading
import time
from pathlib import Path

FAULT = re.compile(r"FAULT:(\w+):(\w+):(-?\d+)")
IN_A_BATCH = {"kill", "hang", "stuck", "garbage", "malformed", "memory", "error"}

lock = threading.Lock()
hearts = {"beating": True, "current": None, "last": None}


def send(**message: object) -> None:
    """Write one line."""
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def beat(seconds: float) -> None:
    """Send heartbeats until told otherwise."""
    while True:
        time.sleep(seconds)
        if hearts["beating"]:
            send(type="heartbeat", id=hearts["current"], last=hearts["last"])


def find_faults(sentence: str, kinds: set[str]) -> list[str]:
    """Return the kinds of the faults in a sentence that are due; note each."""
    notes = Path(os.environ["FAKE_WORKER_NOTES"])
    found = []
    for kind, name, times in FAULT.findall(sentence):
        met = len(list(notes.glob(f"{kind}-{name}-*")))
        if kind in kinds and (int(times) < 0 or met < int(times)):
            (notes / f"{kind}-{name}-{met:04d}-{os.getpid()}").touch()
            found.append(kind)
    return found


def make_graph(number: int, sentence: str) -> str:
    """Return a graph with a node for every placeholder of the sentence."""
    names = re.findall(r"FORMULA_\d+", sentence)
    parts = "".join(
        f" :ARG{n} (f{number}x{n} / {name})" for n, name in enumerate(names)
    )
    return f"(s{number} / say-01{parts})"


def answer_chunk(sentences: list[str]) -> dict[str, object]:
    """Return the answer for one chunk."""
    graphs = []
    for number, sentence in enumerate(sentences):
        faults = find_faults(sentence, {"unreadable", "refused"})
        if "refused" in faults:
            return {"error": "refused", "reason": "all_chunks_failed"}
        graph = make_graph(number, sentence)
        graphs.append("(s / say-01 :ARG0" if "unreadable" in faults else graph)
    if len(graphs) == 1:
        return {"graphs": graphs}
    inner = " ".join(f":snt{n} {graph}" for n, graph in enumerate(graphs, start=1))
    return {"graphs": [f"(d / document {inner})"]}


def fail(kind: str, number: int) -> bool:
    """Fail a batch in the given way; tell whether something was answered."""
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind in ("hang", "stuck"):
        hearts["beating"] = kind == "stuck"
        time.sleep(600)
    if kind == "garbage":
        with lock:
            sys.stdout.write('{"type": "result", "id": 1, "answ\ufffd\n')
            sys.stdout.flush()
    elif kind == "malformed":
        send(type="result", id=number, answers=[])
    else:
        kinds = {"memory": "out_of_memory", "error": "exception"}
        send(type="error", id=number, kind=kinds[kind], message=f"made up: {kind}")
    return True


def start(seconds: float) -> int | None:
    """Become ready, or fail to; return the exit code then."""
    how = os.environ.get("FAKE_WORKER_START", "")
    sys.stderr.write("fake worker starts\n")
    sys.stdout.write("Loading something, says a library\n")
    sys.stdout.flush()
    if how == "exit":
        return 5
    if how == "silent":
        time.sleep(600)
    if how == "fatal":
        send(type="fatal", kind="exception", message="no weights")
        return 1
    threading.Thread(target=beat, args=(seconds,), daemon=True).start()
    send(type="ready", protocol=99 if how == "protocol" else 1)
    return None


def read_requests(requests: queue.Queue[str]) -> None:
    """Read lines until the pipe closes, which ends the process whatever it does."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def main() -> int:
    """Answer requests until the pipe closes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--heartbeat-s", type=float, default=1.0)
    options, _ = parser.parse_known_args()
    code = start(options.heartbeat_s)
    if code is not None:
        return code
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=read_requests, args=(requests,), daemon=True).start()
    while True:
        request = json.loads(requests.get())
        number = hearts["current"] = request["id"]
        faults = [
            fault
            for chunk in request["chunks"]
            for sentence in chunk
            for fault in find_faults(sentence, IN_A_BATCH)
        ]
        if not faults or not fail(faults[0], number):
            answers = [answer_chunk(chunk) for chunk in request["chunks"]]
            send(type="result", id=number, answers=answers)
        hearts["last"], hearts["current"] = number, None


if __name__ == "__main__":
    sys.exit(main())
