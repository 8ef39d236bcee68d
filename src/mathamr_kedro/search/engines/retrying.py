"""Calls over a network, tried again after a growing wait."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mathamr_kedro.errors import ConfigurationError, WorkerError

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Retry:
    """How often to try, and how long to wait: 0.5, 1, 2, ... seconds, a bit shorter.

    Waits are shortened by chance, so that many writers do not come back at once.
    """

    attempts: int = 6
    first_wait: float = 0.5
    is_temporary: Callable[[Exception], bool] = lambda error: True
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigurationError(
                f"Expected attempts of at least 1 (got {self.attempts!r})"
            )

    def __call__(self, what: str, call: Callable[[], T]) -> T:
        """Call until it works.

        Raises:
            WorkerError: it never did; the cause is chained. Errors that are not
                temporary are raised as they come.
        """
        for attempt in range(self.attempts):
            try:
                return call()
            except Exception as exc:
                if not self.is_temporary(exc):
                    raise
                if attempt + 1 == self.attempts:
                    raise WorkerError(
                        f"{what} failed {self.attempts} times ({exc}); is the server "
                        "up, and are its URL and key right?"
                    ) from exc
                wait = self.first_wait * 2**attempt * random.uniform(0.5, 1.0)
                logger.warning("%s failed (%s); again in %.1f s", what, exc, wait)
                self.sleep(wait)
        raise AssertionError  # pragma: no cover
