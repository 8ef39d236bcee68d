"""Connections that are closed if no request comes, as each takes a file descriptor."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

SECONDS = 10.0
"""Time for the head of a request."""

_Protocol: Any = AutoHTTPProtocol


class BoundedConnection(_Protocol):
    """Closes a connection that is silent or sends its request too slowly.

    uvicorn closes connections that idle after an answer, not those before one.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Start watching a connection."""
        super().connection_made(transport)
        self.loop.call_later(SECONDS, self._watch, None)

    def _watch(self, before: Any) -> None:
        """Close it if there was no new request since the last look."""
        if self.transport.is_closing():
            return
        if self.cycle is before and (before is None or before.response_complete):
            self.transport.close()
        else:
            self.loop.call_later(SECONDS, self._watch, self.cycle)
