"""The FastAPI application: page, API, headers, limits and logs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mathamr_kedro import __version__
from mathamr_kedro.base.errors import (
    LockedError,
    MathAMRError,
    MissingInputError,
    StorageError,
)
from mathamr_kedro.project.hints import complete_commands
from mathamr_kedro.search.responses import ErrorResponse, HealthResponse
from mathamr_kedro.serve.gate import Gate
from mathamr_kedro.serve.metrics import CONTENT_TYPE, Metrics
from mathamr_kedro.serve.routes import build_router
from mathamr_kedro.serve.service import IndexUnavailableError, SearchService
from mathamr_kedro.serve.settings import ServeConfig

_logger = logging.getLogger(__name__)
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        "frame-ancestors 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every answer: nothing is loaded from elsewhere, no inline script runs."""

_WARM_UP_AFTER = 1.0
"""Seconds before warming up: an immediate first question does not wait for it."""

_NOT_NOW = (LockedError, StorageError, IndexUnavailableError)
"""Errors of the server, not of the request."""

_STATIC = files("mathamr_kedro.serve") / "static"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2",
}


def create_app(
    config: ServeConfig | None = None, service: SearchService | None = None
) -> FastAPI:
    """Return the application.

    Args:
        config: limits and the index; ``None``: settings from the environment.
        service: answers requests; ``None``: opened when the server starts.
    """
    settings = config or ServeConfig.from_environment()
    if config is None:
        settings.set_up_logs()
    held: list[SearchService] = [] if service is None else [service]
    metrics = Metrics()
    gate = Gate(settings.max_waiting, settings.seconds, metrics)

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        if not held:
            held.append(SearchService(settings))
        # In a thread of its own: in a large collection it takes longer than users wait.
        thread = threading.Thread(target=held[0].warm_up, daemon=True)
        warming = asyncio.get_running_loop().call_later(_WARM_UP_AFTER, thread.start)
        yield
        warming.cancel()
        gate.close()
        if thread.is_alive():
            thread.join()
        held[0].close()

    app = FastAPI(
        title="MathAMR+ search",
        version=__version__,
        description="Mathematical search: posts by question or formula, and why.",
        docs_url=None,  # its page loads scripts from elsewhere: static/api.html
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=live,
    )
    app.include_router(build_router(lambda: held[0], gate, settings))
    _add_status(app, held, gate, metrics)
    _add_pages(app)
    _add_errors(app, settings)
    if "*" not in settings.hosts:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts))
    app.add_middleware(_Watch, metrics=metrics, config=settings)
    return app


def _add_status(
    app: FastAPI, held: list[SearchService], gate: Gate, metrics: Metrics
) -> None:
    @app.get(
        "/health",
        summary="Tell whether the server can answer",
        responses={503: {"model": HealthResponse, "description": "It cannot."}},
    )
    async def tell_health(response: Response) -> HealthResponse:
        service = held[0]
        if not gate.waiting:  # else a request that is at work looks at the index
            with suppress(IndexUnavailableError, HTTPException):
                await gate.run(service.catch_up)
        response.status_code = 503 if service.problem else 200
        return HealthResponse(
            "failing" if service.problem else "ok",
            __version__,
            service.count_posts(),
            service.problem,
        )

    @app.get("/metrics", response_class=PlainTextResponse, summary="Counts and times")
    async def write_metrics() -> Response:
        text = metrics.write(held[0].count_posts())
        return Response(text, media_type=CONTENT_TYPE)


def _add_pages(app: FastAPI) -> None:
    """Serve the files of the page, read once; no path comes from a request."""
    for file in _STATIC.iterdir():
        kind = file.name.rpartition(".")[2]
        if kind in _TYPES:
            address = {"index.html": "/", "api.html": "/api"}.get(
                file.name, f"/static/{file.name}"
            )
            page = _make_page(file.read_bytes(), _TYPES[kind])
            app.add_api_route(
                address, page, methods=["GET", "HEAD"], include_in_schema=False
            )


def _make_page(content: bytes, media_type: str) -> Any:
    async def show() -> Response:  # never behind the threads that work
        headers = {"Cache-Control": "no-cache"}
        return Response(content, media_type=media_type, headers=headers)

    return show


def _add_errors(app: FastAPI, config: ServeConfig) -> None:
    missing = (_STATIC / "missing.html").read_text(encoding="utf-8")

    @app.exception_handler(404)
    async def show_missing(request: Request, exc: HTTPException) -> Response:
        """Answer people with a page, programs with JSON."""
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(missing, 404)
        return await http_exception_handler(request, exc)

    @app.exception_handler(MathAMRError)
    async def explain_error(request: Request, exc: MathAMRError) -> JSONResponse:
        """Answer with the error in one line."""
        status = 422
        if isinstance(exc, MissingInputError):
            status = 404
        elif isinstance(exc, _NOT_NOW):
            status = 503
        told = complete_commands(str(exc), config.env, config.data_root)
        answer = _refuse(status, told)
        if status == 503:
            answer.headers["Retry-After"] = "5"
        return answer

    @app.exception_handler(RequestValidationError)
    async def explain_request(
        request: Request, exc: RequestValidationError
    ) -> JSONResponse:
        """Name the field and what was expected, without repeating what was sent."""
        problems = [
            f"{'.'.join(map(str, error['loc'][1:])) or 'request'}: {error['msg']}"
            for error in exc.errors()
        ]
        return _refuse(422, "; ".join(problems[:5]))


def _refuse(status: int, detail: str) -> JSONResponse:
    return JSONResponse(asdict(ErrorResponse(detail)), status)


class _Watch:
    """Middleware around everything: size limits, headers, counts and logs."""

    def __init__(self, app: ASGIApp, metrics: Metrics, config: ServeConfig) -> None:
        self._app, self._metrics, self._config = app, metrics, config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500
        name = uuid.uuid4().hex[:12]

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {**HEADERS, "X-Request-Id": name}
                message["headers"] = [
                    *message["headers"],
                    *((k.lower().encode(), v.encode()) for k, v in own.items()),
                ]
            await send(message)

        try:
            await self._answer(scope, receive, send_on)
        except Exception:
            _logger.exception("Request %s failed", name)
            if status == 500:
                detail = f"The server failed; its log has more under {name}"
                await _refuse(500, detail)(scope, receive, send_on)
        finally:
            seconds = time.perf_counter() - started
            self._note(scope, name, status, seconds)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._config.max_body
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        body: list[bytes] = []
        size = int(announced) if announced.isdigit() and len(announced) < 19 else 0
        # Read before it is understood: what is too large is not kept.
        more = size <= limit
        while more:
            try:
                message = await asyncio.wait_for(receive(), self._config.seconds)
            except TimeoutError:
                detail = f"Expected the request within {self._config.seconds:g} seconds"
                await _refuse(408, detail)(scope, receive, send)
                return
            if message["type"] != "http.request":
                return
            body.append(message.get("body", b""))
            size = max(size, sum(map(len, body)))
            more = message.get("more_body", False) and size <= limit
        if size > limit:
            detail = f"Expected at most {limit} bytes (got {size} or more)"
            await _refuse(413, detail)(scope, receive, send)
            return
        whole = [{"type": "http.request", "body": b"".join(body), "more_body": False}]

        async def receive_again() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, receive_again, send)

    def _note(self, scope: Scope, name: str, status: int, seconds: float) -> None:
        """Count and log a request by its route; questions are private."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count(method, route, status, seconds)
        entry: Mapping[str, Any] = {
            "request": name, "process": os.getpid(), "method": method, "route": route,
            "status": status, "milliseconds": round(1000 * seconds, 1),
        }  # fmt: skip
        if self._config.json_logs:
            entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), **entry}
            _logger.info("%s", json.dumps(entry))
        else:
            _logger.info("%(method)s %(route)s %(status)s %(milliseconds)s ms", entry)


_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
