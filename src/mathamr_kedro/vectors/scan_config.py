"""How the engine ``exact`` scans: with which numbers, and how many are scored again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.vectors.pooling import check_pooling

ScanType: TypeAlias = Literal["float32", "bfloat16", "int8", "principal", "binary"]
"""Numbers of the vectors that are scanned."""
_COARSE = ("principal", "binary")


@dataclass(frozen=True)
class ScanConfig:
    """What is scanned, and what of the result is looked at again.

    True scores always come from all vectors of a post as the store has them.
    """

    dtype: ScanType = "float32"
    rescore: int | None = None
    """How many of the best by the scan get their true scores, for each query; ``None``:
    as many as it takes to return the true ranking."""
    pooling: float | None = None
    """Cosine from which on vectors of a post are scanned as one."""

    def __post_init__(self) -> None:
        check_pooling(self.pooling)
        if self.rescore is not None and self.rescore < 1:
            raise ConfigurationError(
                f"Expected rescore of at least 1, or null (got {self.rescore!r})"
            )
        if self.rescore is None and (self.pooling or self.dtype in _COARSE):
            what = "pooling" if self.pooling else f"scan {self.dtype!r}"
            raise ConfigurationError(
                f"Expected a number for rescore with {what} (got null): its scores are "
                "too far from the true ones to prove a ranking; take 2000 "
                "(indexing.engine.rescore)"
            )

    def check_device(self, device: str) -> None:
        """Refuse a device that cannot scan like this.

        Raises:
            ConfigurationError: codes and pooled vectors are for CPUs.
        """
        is_plain = self.dtype in ("float32", "bfloat16") and self.pooling is None
        if device != "cpu" and not is_plain:
            raise ConfigurationError(
                f"Expected device 'cpu' for scan {self.dtype!r} with pooling "
                f"{self.pooling!r} (got {device!r}); a GPU scans the vectors as they "
                "are stored: take scan 'float32' and pooling null"
            )


PLAIN_SCAN = ScanConfig()
