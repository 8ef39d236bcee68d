"""Folders for tools that know nothing of this project: Parquet with a card.

::

    README.md                     card with the list of tables (Hugging Face)
    corpus/part-00000.parquet     id, type, thread_id, title, text, tags
    queries/part-00000.parquet    id, task, text
    qrels/part-00000.parquet      query_id, document_id, grade, task
    graphs/part-00000.parquet     id, type, graph (PENMAN)
    runs/part-00000.parquet       system, task, query_id, document_id, rank, score

Tables come in parts of so many rows that one fits into memory however large the
collection is.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.base.records import Judgment, Post, Topic, restore_latex
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.search.explanation import restore_formulas
from mathamr_kedro.trec import Run

T = TypeVar("T")
_ROWS = 50_000
"""Of a part of a table; a part of long posts takes some 100 MB."""
_TEXT = pa.string()
_TABLES: Mapping[str, Mapping[str, pa.DataType]] = {
    "corpus": {
        "id": _TEXT, "type": _TEXT, "thread_id": _TEXT, "title": _TEXT, "text": _TEXT,
        "tags": pa.list_(_TEXT),
    },
    "queries": {"id": _TEXT, "task": _TEXT, "text": _TEXT},
    "qrels": {
        "query_id": _TEXT, "document_id": _TEXT, "grade": pa.int64(), "task": _TEXT,
    },
    "graphs": {"id": _TEXT, "type": _TEXT, "graph": _TEXT},
    "runs": {
        "system": _TEXT, "task": _TEXT, "query_id": _TEXT, "document_id": _TEXT,
        "rank": pa.int64(), "score": pa.float64(),
    },
}  # fmt: skip
_CARD = """---
pretty_name: {title}
tags: [mathematics, information-retrieval, amr]
configs:
{configs}
---

# {title}

Written by `mathamr export huggingface`. Formulas are LaTeX between dollars.

| table | rows |
|---|---:|
{rows}

```python
from datasets import load_dataset

load_dataset("{folder}", "{first}", split="train")
```

What you may do with the texts is decided by the licence of the collection that they
come from (Math Stack Exchange: CC BY-SA; the embedded sample: CC0). Name it here before
you pass the folder on.
"""


class ExportFolder:
    """Writes tables; each of them and the card is atomic."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts: dict[str, int] = {}
        """Rows of the tables that were written."""

    def write_corpus(self, posts: Iterable[Post]) -> int:
        """Write texts; return how many."""
        rows = (
            {
                "id": p.post_id, "type": p.post_type, "thread_id": p.thread_id,
                "title": restore_formulas(p.title, p.formula_map),
                "text": restore_latex(p.text, p.formula_map),
                "tags": list(p.tags),
            }
            for p in posts
        )  # fmt: skip
        return self._write("corpus", rows)

    def write_queries(self, topics: Iterable[Topic]) -> int:
        """Write topics, those of Task 2 as their formula; return how many."""
        rows = (
            {
                "id": t.topic_id, "task": t.task,
                "text": f"${t.latex}$" if t.formula_id is not None
                else restore_latex(t.text, t.formula_map),
            }
            for t in topics
        )  # fmt: skip
        return self._write("queries", rows)

    def write_qrels(self, judgments: Iterable[Judgment]) -> int:
        """Write judgments; return how many."""
        rows = (
            {
                "query_id": j.topic_id, "document_id": j.doc_id, "grade": j.grade,
                "task": j.task,
            }
            for j in judgments
        )  # fmt: skip
        return self._write("qrels", rows)

    def write_graphs(self, graphs: Iterable[GraphRecord]) -> int:
        """Write math graphs in PENMAN notation; return how many."""
        rows = (
            {"id": g.graph_id, "type": g.post_type, "graph": g.graph} for g in graphs
        )
        return self._write("graphs", rows)

    def write_runs(self, runs: Iterable[Run]) -> int:
        """Write what systems returned; return the number of results."""
        rows = (
            {
                "system": run.name, "task": f"task{run.task}", "query_id": topic,
                "document_id": document, "rank": rank, "score": float(score),
            }
            for run in runs
            for topic in run.lists
            for rank, (document, score) in enumerate(run.documents(topic), start=1)
        )  # fmt: skip
        return self._write("runs", rows)

    def write_card(self, title: str) -> None:
        """Write what Hugging Face's ``datasets`` reads first."""
        names = [name for name in _TABLES if self.counts.get(name)]
        if not names:
            raise ConfigurationError(f"No table to describe in {str(self.folder)!r}")
        configs = "\n".join(
            f"  - config_name: {name}\n    data_files: {name}/*.parquet"
            for name in names
        )
        rows = "\n".join(f"| {name} | {self.counts[name]:,} |" for name in names)
        card = _CARD.format(
            title=title, configs=configs, rows=rows, folder=self.folder.name,
            first=names[0],
        )  # fmt: skip
        write_text(self.folder / "README.md", card)

    def __str__(self) -> str:
        told = (f"{name} {count:,}" for name, count in self.counts.items() if count)
        return f"{self.folder}: {', '.join(told)}"

    def _write(self, name: str, rows: Iterable[dict[str, Any]]) -> int:
        """Write a table in parts; one without rows is removed."""
        schema, count = pa.schema(list(_TABLES[name].items())), 0
        with replace_folder(self.folder / name) as part:
            for number, batch in enumerate(_split(rows, _ROWS)):
                table = pa.Table.from_pylist(batch, schema=schema)
                pq.write_table(table, part / f"part-{number:05d}.parquet")
                count += len(batch)
        if not count:
            shutil.rmtree(self.folder / name)
        self.counts[name] = count
        return count


def _split(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
