r"""What the parser and its worker say to each other: one JSON object per line.

```
parser                                worker
                                  <-  {"type": "ready", "protocol": 1, ...}
{"id": 7, "chunks": [             ->
   ["Let FORMULA_0 be even.",
    "Prove it."], ...]}
                                  <-  {"type": "heartbeat", "id": 7, "last": 6}
                                  <-  {"type": "result", "id": 7, "answers": [
                                         {"graphs": ["(d / document ...)"]},
                                         {"error": "no words", "reason": "empty_text"}]}
```

- A chunk is a list of sentences; its answer holds one plain PENMAN graph (a document),
  or one per sentence, or an error with one of the reasons of
  :data:`mathamr_kedro.amr.graphs.REASONS`.
- ``{"type": "error", "id": 7, "kind": "out_of_memory" | "exception", "message": ...}``
  in place of a result: the batch as a whole failed, the worker lives.
- ``{"type": "fatal", "kind": ..., "message": ...}`` in place of ``ready``: it cannot
  start, and ends.
- Heartbeats come every few seconds; ``id`` is the request under
  way, ``last`` the last one answered.
- The end of the worker's standard input ends it at once. Its standard error is a log.

Lines that are none of these are kept for the log and otherwise ignored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mathamr_kedro.amr.graphs import REASONS
from mathamr_kedro.amr.parser import Chunk

PROTOCOL = 1
_FIELDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "ready": {"protocol": int},
    "heartbeat": {},
    "result": {"id": int, "answers": list},
    "error": {"id": int, "kind": str, "message": str},
    "fatal": {"kind": str, "message": str},
}


def format_request(number: int, chunks: Sequence[Chunk]) -> str:
    """Return the line that asks for a batch."""
    request = {"id": number, "chunks": [list(chunk.sentences) for chunk in chunks]}
    return json.dumps(request) + "\n"


def read_message(line: str) -> dict[str, Any] | None:
    """Return the message of a line, or ``None`` for garbage.

    >>> read_message('{"type": "ready", "protocol": 1}')
    {'type': 'ready', 'protocol': 1}
    >>> read_message("Downloading model ...") is None
    True
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    fields = _FIELDS.get(str(message.get("type")))
    if fields is None:
        return None
    is_whole = all(isinstance(message.get(name), kind) for name, kind in fields.items())
    return message if is_whole else None


def is_answer(answer: Any) -> bool:
    """Tell whether one answer of a result has the agreed form."""
    if not isinstance(answer, dict):
        return False
    graphs = answer.get("graphs")
    if graphs is not None:
        is_list = isinstance(graphs, list) and bool(graphs)
        return is_list and all(isinstance(graph, str) for graph in graphs)
    return isinstance(answer.get("error"), str) and answer.get("reason") in REASONS
