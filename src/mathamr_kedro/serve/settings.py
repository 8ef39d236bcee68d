"""Settings of a server: index, limits, permission to write, logs."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, dataclass, field

SETTINGS = "MATHAMR_SERVE"
"""Variable with the settings for worker processes."""
TOKEN = "MATHAMR_TOKEN"
"""Variable that holds the token for writing."""

MAX_QUERY, MAX_LATEX = 4000, 2000
"""Characters of a question, and of a formula."""
MAX_DEPTH = 50
"""Maximum depth of nested braces."""
MAX_RESULTS = 100
"""Posts of one answer."""
MAX_POSTS = 1000
"""Posts that may be added or deleted at once."""


@dataclass(frozen=True)
class ServeConfig:
    """Settings of a server; the token is read from its own variable."""

    env: str | None = None
    """Environment of ``conf/``."""
    data_root: str | None = None
    """Another folder for what the stages wrote."""
    system: str | None = None
    """Default system for posts."""
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    """Host names of the server that are accepted; ``*`` for any."""
    json_logs: bool = False
    """Log one JSON object per line instead of words."""
    max_body: int = 1_000_000
    """Maximum bytes of a request."""
    max_waiting: int = 16
    """Maximum requests at work or waiting: about two seconds of searches. The next one
    is refused at once."""
    seconds: float = 30.0
    """Maximum time of a request, waiting included."""
    token: str | None = field(default=None, repr=False)
    """Token that permits writing; ``None``: that of ``MATHAMR_TOKEN``; empty: nobody
    may."""

    def find_token(self) -> str:
        """Return the token for writing; empty if nobody may write."""
        return os.environ.get(TOKEN, "") if self.token is None else self.token

    def to_environment(self) -> None:
        """Write the settings, without the token, for worker processes."""
        os.environ[SETTINGS] = json.dumps({**asdict(self), "token": None})

    def set_up_logs(self) -> None:
        """Log to the standard error, in words or as JSON."""
        root, as_json = logging.getLogger(), self.json_logs
        if not root.handlers:  # in a worker process
            logging.basicConfig(format="%(message)s")
            logging.getLogger("mathamr_kedro").setLevel(logging.INFO)
        level = logging.INFO if as_json else logging.WARNING
        for name in ("uvicorn", "uvicorn.error"):
            logging.getLogger(name).setLevel(level)
        if as_json:
            for handler in root.handlers:
                handler.setFormatter(_JsonLines())

    @classmethod
    def from_environment(cls) -> ServeConfig:
        """Read the settings from the environment."""
        values = json.loads(os.environ.get(SETTINGS, "{}"))
        hosts = tuple(values.pop("hosts", cls.hosts))
        return cls(hosts=hosts, **values)


class _JsonLines(logging.Formatter):
    """One JSON object for each line of the log."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if message.startswith("{"):  # of a request: an object already
            return message
        entry = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)
