"""Node of the ingestion stage: the one list of formulas that Task 2 may return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardItem, StartOfShards
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig


def list_returnable_formulas(
    formulas: ShardedTable,
    posts: ShardedTable,
    comments: ShardedTable,
    parameters: Mapping[str, Any],
) -> Iterator[ShardItem]:
    """List the formulas that Task 2 may return: of the index, or else of the texts."""
    rule = IngestionConfig.read(parameters).returnable
    has_index = bool(formulas.counts.get("written"))
    tables = (formulas,) if has_index else (posts, comments)
    sources = [table.checksum for table in tables]
    made_from = checksum("returnable", asdict(rule), *sources)
    start = StartOfShards(made_from)
    yield start
    columns = ("place", "issue", *FormulaInstance._fields)
    for source, table in enumerate(tables):
        for file in table.files():
            name = f"{source}-{file.stem}"
            if name in start.finished:
                continue
            if has_index:
                rows: Any = rule.choose(table.read_file(file, columns))
            else:
                rows = rule.choose_mentions(table.read_rows(file))
            yield Shard.of_rows(name, made_from, rows)
    yield EndOfShards(made_from)
