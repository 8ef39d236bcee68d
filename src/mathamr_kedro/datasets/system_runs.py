"""What systems found for all topics, as a dataset."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.base.files import replace_file
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.datasets.paths import PathDataset
from mathamr_kedro.trec import Run


class SystemRunsDataset(PathDataset[Sequence[Run], list[Run]]):
    """Results of a system for all topics: its complete lists with their times.

    ::

        run   topic   rank   id   score   visual_id   post_id
    """

    def save(self, data: Sequence[Run]) -> None:
        """Write one row for each result; times and topics are kept beside them."""
        rows = [
            (number, topic, *row, None, None)[: len(_SCHEMA)]
            for number, run in enumerate(data)
            for topic, hits in run.lists.items()
            for row in zip(*vars(hits).values(), strict=True)
        ]
        columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
        facts = [
            {
                "name": run.name,
                "task": run.task,
                "topics": {t: isinstance(h, FormulaHits) for t, h in run.lists.items()},
                "seconds": run.seconds,
                "query_seconds": dict(run.query_seconds),
                "device": run.device,
            }
            for run in data
        ]
        schema = _SCHEMA.with_metadata({_FACTS: json.dumps(facts).encode()})
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self._path) as part:
            pq.write_table(pa.table(columns, schema=schema), part)

    def load(self) -> list[Run]:
        """Return the runs."""
        table = pq.read_table(self._path)
        found: dict[tuple[int, str], list[list[Any]]] = {}
        values = (table[name].to_pylist() for name in _SCHEMA.names)
        for number, topic, *row in zip(*values, strict=True):
            found.setdefault((number, topic), []).append(row)
        runs = []
        for number, facts in enumerate(json.loads(table.schema.metadata[_FACTS])):
            lists: dict[str, Hits] = {}
            for topic, is_formulas in facts.pop("topics").items():
                rows = found.get((number, topic), [])
                ids, scores, *named = ([row[c] for row in rows] for c in range(4))
                ranked = ids, np.array(scores, dtype=np.float64)
                lists[topic] = (
                    FormulaHits(*ranked, *named) if is_formulas else Hits(*ranked)
                )
            runs.append(Run(lists=lists, **facts))
        return runs


_FACTS = b"runs"
_SCHEMA = pa.schema(
    [
        ("run", pa.int32()),
        ("topic", pa.string()),
        ("id", pa.string()),
        ("score", pa.float64()),
        ("visual_id", pa.string()),
        ("post_id", pa.string()),
    ]
)
