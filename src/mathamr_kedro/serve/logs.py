"""The log of a server: words for a person, JSON for a program."""

from __future__ import annotations

import json
import logging


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


def set_up_logs(as_json: bool) -> None:
    """Log to the standard error, in words or as JSON."""
    root = logging.getLogger()
    if not root.handlers:  # in a worker process
        logging.basicConfig(format="%(message)s")
        logging.getLogger("mathamr_kedro").setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.INFO if as_json else logging.WARNING)
    if as_json:
        for handler in root.handlers:
            handler.setFormatter(_JsonLines())
