"""The page, the JSON API and the tool for assistants, over the index of an environment.

::

    browser ──> static/ ──> /api/...                     assistant (stdio)
                               │                               │
    app        create_app: headers, limits, metrics, logs      │
      routes     the endpoints below /api                      │ assistant
      gate       a queue of work, with its limits              │
      metrics    counts and times for Prometheus               │
                               └───────────┐   ┌───────────────┘
    service    one warm Searcher in a process: search, compare, add, delete
    settings   addresses, limits, the token for writing, the log

FastAPI and uvicorn come with the extra ``serve``, the package ``mcp`` with ``mcp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.serve.app import create_app
    from mathamr_kedro.serve.assistant import create_assistant
    from mathamr_kedro.serve.service import SearchService
    from mathamr_kedro.serve.settings import ServeConfig


__all__ = ["SearchService", "ServeConfig", "create_app", "create_assistant"]

__getattr__, __dir__ = load_lazily(__name__, __file__)
