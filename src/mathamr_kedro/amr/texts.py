"""Texts to PENMAN, as a function that workers run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, NamedTuple

from mathamr_kedro.amr.builtin_adapter import BuiltinConfig
from mathamr_kedro.amr.chunking import MAX_CHUNK_TOKENS
from mathamr_kedro.amr.documents import (
    AMRParser,
    ParsedDocument,
    ParserSettings,
    parse_documents,
)
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.amr.penman_io import format_graph
from mathamr_kedro.base.errors import GraphError


class ParsedText(NamedTuple):
    """The graph of a text as PENMAN."""

    graph: str
    missing: tuple[str, ...]
    """Placeholders of the text without a node."""
    failures: tuple[ParseFailure, ...]
    """Chunks that could not be parsed, while others could."""


@dataclass(frozen=True)
class ParseTexts:
    """From clean texts to graphs, one result per text.

    Only the settings travel to workers; each process opens its parser once.
    """

    VERSION: ClassVar = 1
    """Of chunking and merging; another one rebuilds the graphs."""

    parser: ParserSettings = field(default_factory=BuiltinConfig)
    max_tokens: int = MAX_CHUNK_TOKENS

    def prepare(self) -> None:
        """Load the parser."""
        _open(self.parser)

    def __call__(self, texts: Sequence[str]) -> list[ParsedText | ParseFailure]:
        """Parse a batch of texts.

        Raises:
            ConfigurationError, MissingInputError: the parser can parse nothing at all.
        """
        size = self.parser.chunks_per_call
        results = parse_documents(texts, _open(self.parser), self.max_tokens, size)
        return [_format_result(result) for result in results]


@cache
def _open(settings: ParserSettings) -> AMRParser:
    return settings.open()


def _format_result(result: ParsedDocument | ParseFailure) -> ParsedText | ParseFailure:
    """Write the graph; a graph that cannot be written is a failure."""
    if isinstance(result, ParseFailure):
        return ParseFailure(result.reason, make_printable(result.detail))
    try:
        text = format_graph(result.graph)
        text.encode("utf-8")
    except (GraphError, UnicodeEncodeError) as exc:
        return ParseFailure("penman_error", make_printable(str(exc)))
    failures = tuple(
        ParseFailure(reason, make_printable(detail))
        for reason, detail in result.failures
    )
    return ParsedText(text, result.missing, failures)


def make_printable(text: str) -> str:
    r"""Escape what UTF-8 cannot write.

    >>> make_printable("a\ud800b")
    'a\\ud800b'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
