"""Parameters of the AMR parsing stage."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mathamr_kedro.amr import (
    AmrlibConfig,
    ParserChoice,
    ParserConfig,
    ParseTexts,
    TransitionConfig,
    choose_parser,
)
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.corpus import QueryPart

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class AmrParsingConfig:
    """What the stage reads from ``conf/<env>/parameters/amr_parsing.yml``."""

    parser: ParserChoice
    """``auto``: the thesis' parser where it is installed, otherwise our own."""
    max_chunk_tokens: int
    """Limit of a chunk (thesis, section 3.1)."""
    posts_per_shard: int
    """A killed run loses at most the shards that were under way."""
    comment_formulas: Literal["alone", "context"] = "alone"
    """``context``: comments with formulas are parsed too, so that their formulas are
    encoded where they stand; ``alone``: each is encoded by itself."""
    query_parts: tuple[QueryPart, ...] = ()
    """Parts of the topics of Task 1 that are parsed as queries of their own."""
    discard: bool = False
    """Whether graphs of another parser are thrown away, however long they took."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)
    transition: TransitionConfig = field(default_factory=TransitionConfig)
    amrlib: AmrlibConfig = field(default_factory=AmrlibConfig)

    def __post_init__(self) -> None:
        if len({*self.query_parts}) < len(self.query_parts):
            raise ConfigurationError(
                f"Expected each of query_parts once (got {list(self.query_parts)!r})"
            )
        for name in ("max_chunk_tokens", "posts_per_shard"):
            if getattr(self, name) < 1:
                raise ConfigurationError(
                    f"Expected at least 1 for {name!r} (got {getattr(self, name)!r})"
                )

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> AmrParsingConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="amr_parsing")

    def check_machine(self) -> None:
        """Warn of a parser that is not here; graphs that are there need none."""
        if self.parser == "transition" and not self.transition.is_installed:
            logger.warning(
                "amr_parsing.parser is 'transition', but there is no %s "
                "(amr_parsing.transition.python): texts without a graph cannot be "
                "parsed",
                self.transition.python,
            )

    def settle(self, known: Mapping[str, Any]) -> AmrParsingConfig:
        """Return the same with one parser.

        Args:
            known: what is noted about the parser of graphs that are there, if any are.
        """
        name = choose_parser(self.parser, self.transition, known.get("parser"))
        return dataclasses.replace(self, parser=name)

    @property
    def parser_settings(self) -> ParserConfig:
        """Which parser, and how."""
        name = choose_parser(self.parser, self.transition)
        return ParserConfig(name, self.transition, self.amrlib)

    @property
    def runner_settings(self) -> WorkerConfig:
        """How to run it; a parser that watches a worker of its own keeps the time."""
        if self.parser_settings.parser != "transition":
            return self.workers
        start = self.transition.start_timeout_s * 4
        return dataclasses.replace(self.workers, timeout_s=None, start_timeout_s=start)

    def identity(self) -> dict[str, Any]:
        """Return what the shards depend on, the texts aside."""
        return {**self.parser_identity(), "posts_per_shard": self.posts_per_shard}

    def parser_identity(self) -> dict[str, Any]:
        """Return what the graph of a text depends on."""
        version = ParseTexts.VERSION
        return {
            **self.parser_settings.identity(),
            "sentences": "by_chunk",  # graphs made before had them all below the root
            "max_chunk_tokens": self.max_chunk_tokens,
            # The first version is that of graphs from before there were versions.
            **({"chunking": version} if version > 1 else {}),
        }
