"""``mathamr serve``: search in the browser, and an API for programs."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import click

from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.errors import ConfigurationError

_ANYWHERE = ("0.0.0.0", "::")


@click.command(name="serve")
@ENV
@DATA_ROOT
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

    Posts can be added and deleted through the API where MATHAMR_TOKEN holds a token.

    \b
      mathamr serve --env demo
      mathamr serve --env pool --workers 2 --json-logs
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise ConfigurationError(
            "The server needs FastAPI and uvicorn: pip install 'mathamr-kedro[serve]'"
        )
    # Loaded here: wrong options are refused at once.
    import uvicorn  # noqa: PLC0415

    from mathamr_kedro.serve import (  # noqa: PLC0415
        SearchService,
        ServeConfig,
        create_app,
    )

    names = (*hosts, host, "localhost", "127.0.0.1", "[::1]")
    config = ServeConfig(
        hosts=("*",) if host in _ANYWHERE and not hosts else names,
        **settings,
    )
    config.set_up_logs()
    config.hand_on()
    started = time.perf_counter()
    app = "mathamr_kedro.serve.app:create_app"
    options = {
        "host": host, "port": port, "log_config": None, "access_log": False,
        "server_header": False, "timeout_graceful_shutdown": int(config.seconds) + 1,
    }  # fmt: skip
    shown = f"[{host}]" if ":" in host else host
    if workers > 1:
        click.echo(f"Starting {workers} processes for http://{shown}:{port}")
        uvicorn.run(app, factory=True, workers=workers, **options)  # type: ignore[arg-type]
        return
    click.echo("Loading parser, encoder and index ...", err=True)
    service = SearchService(config)
    took = time.perf_counter() - started
    click.echo(f"Open http://{shown}:{port} (ready after {took:.1f} s; Ctrl+C stops)")
    uvicorn.run(create_app(config, service), **options)  # type: ignore[arg-type]
