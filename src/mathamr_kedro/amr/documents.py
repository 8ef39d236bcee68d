"""The text of a post to one graph, or to the reason of a failure.

```
texts ─> chunks of all texts ─ batches ─> parser ─> chunk graphs ─> one graph per text
                                 │  fails as a whole
                                 └─> halves, until only the bad chunk is left
```
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import Any, ClassVar, NamedTuple, Protocol

from mathamr_kedro.amr.chunking import MAX_CHUNK_TOKENS, Chunk, split_chunks
from mathamr_kedro.amr.graphs import (
    AMRGraph,
    ParseFailure,
    merge_graphs,
)
from mathamr_kedro.base.errors import (
    ConfigurationError,
    GraphError,
    MissingInputError,
    WorkerError,
)
from mathamr_kedro.base.workers import WorkerConfig, explain_error

logger = logging.getLogger(__name__)

_CHUNKS_PER_CALL = 64
MAX_SENTENCES = 2000
"""Sentences of a text: each has a vector, and an index accepts some thousands per
post."""


_WORD = re.compile(r"[^\W_]")
"""A sentence without one cannot be parsed."""


class AMRParser(Protocol):
    """A parser of chunks.

    ``parse_chunks`` returns one result per chunk, in order: a connected graph whose
    formula nodes have the placeholder as concept, or the failure of that chunk. It may
    raise when a whole batch fails; the caller then halves the batch
    (:func:`parse_isolating`). ``TimeoutError`` and
    ``WorkerError`` become the reasons ``timeout`` and ``worker_died``.

    The root of a chunk of several sentences is ``multi-sentence`` (or ``document``)
    with one sentence graph per ``:snt1, :snt2, ...``.
    """

    name: str

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch."""
        ...


class ParserSettings(ABC):
    """Parameters of a parser, its group of ``amr_parsing``: a frozen dataclass.

    It is sent to the workers, each of which opens the parser once.
    """

    name: ClassVar[str]

    @property
    def chunks_per_call(self) -> int:
        """Chunks of a batch, across texts."""
        return _CHUNKS_PER_CALL

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return ``{"parser": name, ...}``: all that the graphs depend on."""

    @abstractmethod
    def open(self) -> AMRParser:
        """Return the parser, its model loaded.

        Raises:
            ConfigurationError: what it needs is not installed.
        """

    def limit(self, workers: WorkerConfig) -> WorkerConfig:
        """Return the configuration of workers with the parser's own time limits."""
        return workers


class ParsedDocument(NamedTuple):
    """The graph of a text, with missing formulas and failed chunks."""

    graph: AMRGraph
    missing: tuple[str, ...]
    """Placeholders without a node; graph fusion attaches them to the root."""
    failures: tuple[ParseFailure, ...]
    """Chunks that could not be parsed, while others could."""


def parse_documents(
    texts: Sequence[str],
    parser: AMRParser,
    max_tokens: int = MAX_CHUNK_TOKENS,
    batch_size: int = _CHUNKS_PER_CALL,
) -> list[ParsedDocument | ParseFailure]:
    """Parse texts with formulas as ``FORMULA_n`` into document graphs.

    Returns:
        One result per text, in order. A text fails only if it has no words
        or if all of its chunks fail; then the reason is that of its chunks if they
        agree on a time-out, a dead worker or the like, else ``all_chunks_failed``.
        Of a text with more than :data:`MAX_SENTENCES` the first are parsed.
    """
    chunks: list[tuple[int, Chunk]] = []
    cut: dict[int, ParseFailure] = {}
    for n, text in enumerate(texts):
        every = split_chunks(text, max_tokens)
        first = _take_first(every)
        if len(first) < len(every):
            detail = f"only its first {MAX_SENTENCES:,} sentences are parsed"
            cut[n] = ParseFailure("text_cut", detail)
        chunks += [(n, chunk) for chunk in first]
    results: list[AMRGraph | ParseFailure] = []
    for start in range(0, len(chunks), batch_size):
        batch = [chunk for _, chunk in chunks[start : start + batch_size]]
        results.extend(parse_isolating(parser, batch))
    owners = (n for n, _ in chunks)
    by_text = {
        n: [result for _, result in group]
        for n, group in groupby(
            zip(owners, results, strict=True), key=lambda pair: pair[0]
        )
    }
    for n, failure in cut.items():
        by_text[n].append(failure)
    return [_assemble(text, by_text.get(n, [])) for n, text in enumerate(texts)]


def _take_first(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Return the first chunks, with :data:`MAX_SENTENCES` sentences in total."""
    total = accumulate(len(chunk.sentences) for chunk in chunks)
    return chunks[: sum(count <= MAX_SENTENCES for count in total)]


def parse_isolating(
    parser: AMRParser, chunks: Sequence[Chunk]
) -> list[AMRGraph | ParseFailure]:
    """Parse a batch; halve it while it fails as a whole, down to the bad chunk.

    Raises:
        ConfigurationError, MissingInputError: the parser cannot work at all, whatever
        the input.
    """
    if not chunks:
        return []
    try:
        results = parser.parse_chunks(chunks)
        if len(results) != len(chunks):
            raise WorkerError(
                f"Expected {len(chunks)} results from parser {parser.name!r} "
                f"(got {len(results)})"
            )
    except (ConfigurationError, MissingInputError):
        raise
    except Exception as exc:
        if len(chunks) == 1:
            return [_describe(exc)]
        logger.warning(
            "%s failed on %d chunks, halving: %s", parser.name, len(chunks), exc
        )
        middle = len(chunks) // 2
        return [
            *parse_isolating(parser, chunks[:middle]),
            *parse_isolating(parser, chunks[middle:]),
        ]
    return [_check(result) for result in results]


def _describe(exc: Exception) -> ParseFailure:
    detail = f"{type(exc).__name__}: {exc}"
    reason = explain_error(exc)
    if reason != "exception":
        return ParseFailure(reason, detail)
    if isinstance(exc, WorkerError):
        return ParseFailure("worker_died", detail)
    if isinstance(exc, GraphError):
        return ParseFailure("penman_error", detail)
    return ParseFailure("all_chunks_failed", detail)


def _check(result: AMRGraph | ParseFailure) -> AMRGraph | ParseFailure:
    if isinstance(result, AMRGraph) and not result.is_connected():
        detail = f"{len(result.nodes)} nodes are not connected"
        return ParseFailure("disconnected_graph", detail)
    return result


def _assemble(
    text: str, results: Sequence[AMRGraph | ParseFailure]
) -> ParsedDocument | ParseFailure:
    if not results:
        return ParseFailure("empty_text", "no words in the text")
    graphs = [r for r in results if isinstance(r, AMRGraph)]
    failures = tuple(r for r in results if isinstance(r, ParseFailure))
    if not graphs:
        reasons = {failure.reason for failure in failures}
        shared = reasons.pop() if len(reasons) == 1 else "all_chunks_failed"
        return ParseFailure(shared, "; ".join(f.detail for f in failures)[:500])
    graph = merge_graphs(graphs, keep_chunks=True)
    return ParsedDocument(graph, graph.find_missing_placeholders(text), failures)
