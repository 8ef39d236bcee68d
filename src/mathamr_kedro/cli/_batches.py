"""Batch search: a file of queries to a run file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import Failure
from mathamr_kedro.corpus.json_records import read_benchmark_rows, read_records
from mathamr_kedro.trec import Run, read_table, write_run

if TYPE_CHECKING:
    from mathamr_kedro.search import Searcher

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Batch:
    """Queries of a file, and the run file to write.

    The file is JSONL (``{"_id": "1", "text": "..."}``, as BEIR has it) or TSV (id and
    text, with or without the header ``id text``), plain or gzip.
    """

    queries: Path
    output: Path
    top: int
    post_types: Sequence[str] | None

    def search(self, load: Callable[[], Searcher]) -> None:
        """Write the run; a query that cannot be read is logged and has no results.

        Raises:
            MissingInputError: there is no such file.
            MalformedInputError: a line is not a query, or an id is repeated.
        """
        queries = self._read()
        searcher = load()
        lists: dict[str, Hits] = {}
        try:
            for name, text in report_progress(queries.items(), "queries"):
                hits = self._ask(searcher, name, text)
                if hits is not None:
                    lists[name] = hits
        finally:
            searcher.close()
        stem = self.output.name.removesuffix(".gz").partition(".")[0]
        write_run(self.output, Run("_".join(stem.split()), lists), depth=None)
        found = sum(map(len, lists.values()))
        click.echo(
            f"Wrote {self.output}: {len(lists):,} of {len(queries):,} queries, "
            f"{count_nouns(found, 'result')}"
        )

    def _ask(self, searcher: Searcher, name: str, text: str) -> Hits | None:
        try:
            # One more: a query that is a document does not find itself.
            hits, warnings = searcher.rank(text, self.top + 1, self.post_types)
        except MalformedInputError as problem:
            logger.warning("query %s has no results: %s", name, problem)
            return None
        for warning in warnings:
            logger.warning("query %s: %s", name, warning)
        others = [place for place, i in enumerate(hits.ids) if i != name]
        return hits.take(others).top(self.top)

    def _read(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for place, name, text in self._rows():
            if name in found:
                raise MalformedInputError(
                    f"{str(self.queries)!r}, {place}: query {name!r} was read before; "
                    "give each an id of its own"
                )
            found[name] = text
        if not found:
            raise MalformedInputError(f"No queries in {str(self.queries)!r}")
        return found

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield place, id and text of each query."""
        if self.queries.name.removesuffix(".gz").endswith(".jsonl"):
            source = str(self.queries)
            records = read_records(self.queries, source)
            for row in read_benchmark_rows(records, source, "text"):
                if isinstance(row, Failure):
                    raise self._refuse(row)
                yield row.place, row.post_id, f"{row.title} {row.body}".strip()
            return
        columns = ("id|_id|query-id|topic", "text|query|question")
        for found in read_table(self.queries, columns, needs_header=False):
            if isinstance(found, Failure):
                raise self._refuse(found)
            line, (query, text) = found
            yield f"line {line}", query.strip(), text

    def _refuse(self, row: Failure) -> MalformedInputError:
        return MalformedInputError(
            f"{str(self.queries)!r}, {row.place}: {row.detail}; fix the line"
        )
