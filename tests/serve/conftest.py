"""A server over the demo: in the process for the API, on a port for the browser."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE


@pytest.fixture(scope="session")
def service(demo: Path) -> Iterator[Any]:
    """What answers, over the demo's index."""
    pytest.importorskip("fastapi", reason="the extra serve is missing")
    from mathamr_kedro.serve import SearchService, ServeConfig

    # Only while it opens: all other tests of this process run in the project.
    with contextlib.chdir(demo):
        found = SearchService(ServeConfig("demo"))
    yield found
    found.close()


@pytest.fixture(scope="session")
def address(service: Any) -> Iterator[str]:
    """A server on a port of this machine."""
    import uvicorn

    from mathamr_kedro.serve import ServeConfig, create_app

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        config = ServeConfig("demo", hosts=("127.0.0.1",), seconds=PATIENCE)
        app = create_app(config, service)
        # Another test closes the service at the end, not this server.
        server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, lifespan="off", access_log=False)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/"
        server.should_exit = True
        thread.join()
