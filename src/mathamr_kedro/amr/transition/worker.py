#!/usr/bin/env python3
"""The worker of the ``transition`` parser: runs in an environment of its own.

It imports nothing of this project, reads on Python 3.8 and is
started by path with the Python of the environment that ``build_environment.sh`` makes.
It speaks one JSON object per line over its standard input and output; the module
``process`` beside it holds the description. ``check_environment.py`` checks the
environment without any weights.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import queue
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

_PROTOCOL = 1
_EMPTY_CONCEPTS = ("amr-empty", "document")
# Tokens of a window and of its overlap with the next: as the model was trained.
_WINDOW, _OVERLAP = 400, 100
_HOW = {"fp16": False, "beam": 1}  # the library's own beam is wider


class _Channel:
    """The pipes to the parent, hidden from all libraries in this process.

    Libraries print to standard output, and a debugger that one of them opens would
    read standard input: both get something harmless instead.
    """

    def __init__(self) -> None:
        self._requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self.requests: queue.Queue = queue.Queue()

    def start_reading(self) -> None:
        """Read requests in the background; the end of the pipe ends the process."""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._requests:
            with contextlib.suppress(ValueError):
                self.requests.put(json.loads(line))
        # The parent is gone, or has no more work: a batch under way is of no use.
        os._exit(0)

    def send(self, **message: Any) -> None:
        """Write one message as one line."""
        line = json.dumps(message) + "\n"
        with self._lock:
            try:
                self._replies.write(line)
                self._replies.flush()
            except OSError:
                os._exit(0)


class _Heart:
    """Tells the parent every few seconds that the process is alive."""

    def __init__(self, channel: _Channel, seconds: float) -> None:
        self._channel = channel
        self._seconds = seconds
        self.current: int | None = None
        self.last: int | None = None
        threading.Thread(target=self._beat, daemon=True).start()

    def _beat(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._seconds):
            self._channel.send(type="heartbeat", id=self.current, last=self.last)


class Engine:
    """The parser itself, behind one method."""

    def __init__(self, options: argparse.Namespace, parser: Any = None) -> None:
        self._options = options
        _mend_machine()
        self._parser = parser or self._load()

    def _load(self) -> Any:
        from transition_amr_parser.parse import AMRParser  # noqa: PLC0415

        with _lock_cache():
            if self._options.checkpoint:
                return AMRParser.from_checkpoint(self._options.checkpoint, **_HOW)
            return AMRParser.from_pretrained(self._options.model, **_HOW)

    def parse(self, chunks: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
        """Return one answer per chunk of sentences, in order."""
        documents = [_tokenise_chunk(self._parser, chunk) for chunk in chunks]
        filled = [n for n, document in enumerate(documents) if document]
        answers = [{"error": "no words", "reason": "empty_text"} for _ in documents]
        if filled:
            parsed = self._annotate([documents[n] for n in filled])
            for position, n in enumerate(filled):
                answers[n] = _describe(parsed[position])
        return answers

    @staticmethod
    def list_versions() -> dict[str, str]:
        """Return the versions of the relevant packages, for the log."""
        found = {"python": sys.version.split()[0]}
        for name in ("torch", "fairseq", "penman"):
            module = sys.modules.get(name)
            found[name] = str(getattr(module, "__version__", "-"))
        torch: Any = sys.modules.get("torch")
        has_gpu = torch is not None and torch.cuda.is_available()
        found["device"] = torch.cuda.get_device_name(0) if has_gpu else "cpu"
        return found

    def _annotate(self, documents: list[list[list[str]]]) -> list[str]:
        """Return the annotation of each document."""
        size = self._options.batch_size
        # The second value repeats the last document's machine: never use it.
        annotations, _ = self._parser.parse_docs(
            documents,
            window_size=_WINDOW,
            window_overlap=_OVERLAP,
            batch_size=size,
            roberta_batch_size=size,
        )
        return annotations


def _mend_machine() -> None:
    """Continue a document without a sentence that has no node.

    The library gives such a sentence the root ``None`` and then fails on the whole
    batch while it connects the sentences.
    """
    from transition_amr_parser.amr_machine import AMRStateMachine  # noqa: PLC0415

    def connect_sentences(machine: Any, root_id: int) -> None:
        roots = [root for root in machine.sentence_roots if root is not None]
        for number, root in enumerate(roots, start=1):
            machine.edges.append((root_id, ":snt" + str(number), root))

    AMRStateMachine.connect_sentences = connect_sentences


@contextlib.contextmanager
def _lock_cache() -> Iterator[None]:
    """Let one worker of this machine at a time load, so that only one downloads."""
    import torch  # noqa: PLC0415

    try:
        import fcntl  # noqa: PLC0415
    except ImportError:
        yield
        return
    home = torch.hub._get_torch_home()
    os.makedirs(home, exist_ok=True)
    with open(os.path.join(home, "mathamr-worker.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _normalise(text: str) -> str:
    r"""Unify blanks and drop invisible characters: both break the library.

    >>> _normalise("FORMULA_0\u00a0is\u200b \x00 even")
    'FORMULA_0 is even'
    """
    text = re.sub(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]", "", text)
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", " ", text)
    return " ".join(text.split())


def _tokenise_chunk(parser: Any, sentences: Sequence[str]) -> list[list[str]]:
    """Return the tokens of each sentence that has a word."""
    documents = []
    for sentence in sentences:
        tokens = [t for t in parser.tokenize(_normalise(sentence))[0] if t.strip()]
        if any(c.isalnum() for token in tokens for c in token):
            documents.append(tokens)
    return documents


def _describe(annotation: str) -> dict[str, Any]:
    """Return the answer for one chunk: its plain graph, or why there is none."""
    try:
        graph = _to_plain_penman(annotation)
    except Exception as exc:
        return {"error": _name_error(exc), "reason": "penman_error"}
    if not graph:
        return {"error": "no node in the graph", "reason": "all_chunks_failed"}
    return {"graphs": [graph]}


def _to_plain_penman(annotation: str) -> str:
    """Return the graph of an annotation without comments and alignments.

    An empty string is a graph without content.
    """
    import penman  # noqa: PLC0415
    from penman.surface import Alignment, RoleAlignment  # noqa: PLC0415

    graph = penman.decode(annotation)
    graph.metadata.clear()
    for marks in graph.epidata.values():
        marks[:] = [m for m in marks if not isinstance(m, (Alignment, RoleAlignment))]
    instances = graph.instances()
    is_empty = len(instances) == 1 and instances[0].target in _EMPTY_CONCEPTS
    return "" if is_empty else penman.encode(graph)


def _name_error(exc: BaseException) -> str:
    """Return kind and message of an error in one line."""
    return " ".join((type(exc).__name__ + ": " + str(exc)).split())[:500]


def _kind_of(exc: BaseException) -> str:
    """Distinguish lack of memory from other errors: a smaller batch may help."""
    text = str(exc).lower()
    is_memory = isinstance(exc, MemoryError) or "out of memory" in text
    return "out_of_memory" if is_memory else "exception"


def _free_memory() -> None:
    """Release unused GPU memory."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _die_with_parent() -> None:
    """Ask Linux to end this process with its parent, even if no thread can run."""
    with contextlib.suppress(OSError, AttributeError):
        set_death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _serve(options: argparse.Namespace) -> int:
    """Load, then answer requests until the pipe closes."""
    _die_with_parent()
    channel = _Channel()
    heart = _Heart(channel, options.heartbeat_s)
    channel.start_reading()
    try:
        engine = Engine(options)
    except Exception as exc:
        traceback.print_exc()
        channel.send(type="fatal", kind=_kind_of(exc), message=_name_error(exc))
        return 1
    channel.send(type="ready", protocol=_PROTOCOL, versions=engine.list_versions())
    while True:
        request = channel.requests.get()
        number = request.get("id")
        heart.current = number
        try:
            answers = engine.parse(request["chunks"])
            channel.send(type="result", id=number, answers=answers)
        except Exception as exc:
            traceback.print_exc()
            _free_memory()
            kind = _kind_of(exc)
            channel.send(type="error", id=number, kind=kind, message=_name_error(exc))
        heart.last, heart.current = number, None


def _read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model", default="doc-sen-conll-amr-seed42")
    parser.add_argument("--checkpoint", help="path, or several joined by ':'")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--heartbeat-s", type=float, default=5.0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(_serve(_read_options()))
