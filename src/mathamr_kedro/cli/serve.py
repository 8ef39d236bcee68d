"""``mathamr serve``: search in the browser, and an API for programs."""

from __future__ import annotations

import gc
import os
import socket
import tempfile
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.cli._options import in_environment

if TYPE_CHECKING:
    from mathamr_kedro.serve import SearchService, ServeConfig

_CONNECTIONS = "mathamr_kedro.serve.connections"
_ANYWHERE = ("0.0.0.0", "::")
_NEEDED = ("fastapi", "uvicorn", "prometheus_client")


@click.command(name="serve")
@in_environment
@click.option("--host", default="127.0.0.1", show_default=True, help="Address.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes over one index; each loads parser and encoder.",
)
@click.option("--system", metavar="NAME", help="How posts are found by default.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 3600),
    default=30.0,
    show_default=True,
    help="Time that a request may take, waiting included.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Name by which browsers may call the server; may be repeated.",
)
@click.option("--json-logs", is_flag=True, help="Log one JSON object a line.")
def command(
    host: str,
    port: int,
    workers: int,
    hosts: tuple[str, ...],
    **settings: Any,
) -> None:
    r"""Open the search page over the index of an environment.

    Posts can be added and deleted through the API if MATHAMR_TOKEN holds a token.

    \b
      mathamr serve --env demo
      mathamr serve --env pool --workers 2 --json-logs
    """
    if not all(map(find_spec, _NEEDED)):
        raise ConfigurationError(
            f"The server needs {', '.join(_NEEDED)}: pip install 'mathamr-kedro[serve]'"
        )
    port = _find_port(host, port)
    started = time.perf_counter()
    names = (*hosts, host, "localhost", "127.0.0.1", "[::1]")
    settings["hosts"] = ("*",) if host in _ANYWHERE and not hosts else names
    # What is loaded stays: looking for garbage among it takes a tenth of the time.
    gc.disable()
    try:
        # Loaded here: wrong options are refused at once.
        import uvicorn  # noqa: PLC0415

        from mathamr_kedro.serve import create_app  # noqa: PLC0415

        config, service = _load(settings, is_here=workers == 1)
        gc.freeze()
    finally:
        gc.enable()
    app = "mathamr_kedro.serve.app:create_app"
    options = {
        "host": host, "port": port, "log_config": None, "access_log": False,
        "server_header": False, "http": f"{_CONNECTIONS}:BoundedConnection",
        "timeout_graceful_shutdown": int(config.seconds) + 1,
    }  # fmt: skip
    shown = f"[{host}]" if ":" in host else host
    if service is None:
        click.echo(f"Starting {workers} processes for http://{shown}:{port}")
        with tempfile.TemporaryDirectory(prefix="mathamr-metrics-") as folder:
            # The processes inherit it and share their counts there.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            uvicorn.run(app, factory=True, workers=workers, **options)  # type: ignore[arg-type]
        return
    took = time.perf_counter() - started
    click.echo(f"Open http://{shown}:{port} (ready after {took:.1f} s; Ctrl+C stops)")
    uvicorn.run(create_app(config, service), **options)  # type: ignore[arg-type]


def _find_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0; raise if it cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family) as listening:
            return int(listening.getsockname()[1])
    except OSError as exc:
        raise ConfigurationError(
            f"Cannot listen at {host!r}, port {port}: {exc.strerror}; end what runs "
            f"there, or choose another: `mathamr serve --port {(port + 1) % 65536}`"
        ) from exc


def _load(
    settings: dict[str, Any], is_here: bool
) -> tuple[ServeConfig, SearchService | None]:
    """Set up logs and settings, and open the index if this process answers."""
    from mathamr_kedro.serve import SearchService, ServeConfig  # noqa: PLC0415

    config = ServeConfig(**settings)
    config.set_up_logs()
    config.to_environment()
    if not is_here:
        return config, None
    click.echo("Loading parser, encoder and index ...", err=True)
    return config, SearchService(config)
