"""AMR parsing: clean texts to one graph per post, or the reason why there is none."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from mathamr_kedro.amr import (
    AUTO,
    MAX_CHUNK_TOKENS,
    Parsers,
    ParserSettings,
    ParseTexts,
)
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import StageParameters, check_range
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.corpus import QueryPart

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AmrParsingConfig(Parsers, StageParameters):
    """Parameters of the stage, ``conf/<env>/parameters/amr_parsing.yml``."""

    STAGE: ClassVar = "amr_parsing"

    parser: str
    """``auto``: the thesis' parser if it is installed, otherwise our own."""
    posts_per_shard: int
    """A killed run loses at most the shards that were under way."""
    query_parts: tuple[QueryPart, ...] = ()
    """Parts of the topics of Task 1 that are parsed as queries of their own."""
    discard: bool = False
    """Whether graphs of another parser are discarded, however long they took."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)

    def __post_init__(self) -> None:
        if self.parser != AUTO:
            self.find(self.parser)
        if len({*self.query_parts}) < len(self.query_parts):
            raise ConfigurationError(
                f"Expected each of query_parts once (got {list(self.query_parts)!r})"
            )
        check_range(self, "posts_per_shard", least=1)

    def check_machine(self) -> None:
        """Warn of a parser that is not installed; existing graphs need none."""
        if self.parser == "transition" and not self.transition.is_installed:
            logger.warning(
                "amr_parsing.parser is 'transition', but there is no %s "
                "(amr_parsing.transition.python): texts without a graph cannot be "
                "parsed",
                self.transition.python,
            )

    def resolve(self, known: Mapping[str, Any]) -> AmrParsingConfig:
        """Return the same with one parser.

        Args:
            known: what is recorded about the parser of existing graphs, if any exist.
        """
        return replace(self, parser=self.choose(self.parser, known.get("parser")))

    @property
    def parser_settings(self) -> ParserSettings:
        """Which parser, and how."""
        return self.find(self.choose(self.parser))

    def describe_shards(self) -> dict[str, Any]:
        """Return what the shards depend on, apart from the texts."""
        return {**self.describe_graphs(), "posts_per_shard": self.posts_per_shard}

    def describe_graphs(self) -> dict[str, Any]:
        """Return what the graph of a text depends on."""
        version = ParseTexts.VERSION
        return {
            **self.parser_settings.describe(),
            "sentences": "by_chunk",  # graphs made before had them all below the root
            "max_chunk_tokens": MAX_CHUNK_TOKENS,
            # The first version is that of graphs from before there were versions.
            **({"chunking": version} if version > 1 else {}),
        }
