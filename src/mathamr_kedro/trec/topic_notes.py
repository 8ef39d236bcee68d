"""What kind of question a topic is: the organisers' notes about topics.

```
Topic,...,Dependency,Difficulty,Category,...
A.201,...,Text,Low,Proof,...
```

One rule for every reader:

- A CSV or TSV file with a header; columns are found by name, in any order and case.
- It needs a column of topics and at least one of :data:`DIMENSIONS`.
- Empty rows do not count; a row without a topic, or with fewer cells than the header,
  cannot be read.
- *Calculation*, as the category is called in 2021, is the *Computation* of the other
  years.
- A Task 2 topic ``B.x`` is in the question of ``A.x`` and shares its notes.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.trec.files import read_text

TopicNotes = dict[TopicId, dict[str, str]]
"""Value of each dimension by topic, e.g. ``{"A.201": {"category": "Proof"}}``."""

DIMENSIONS = ("category", "difficulty", "dependency", "multi-part")
"""Columns that are looked for, in the order of the reports."""

_TOPIC_NAMES = ("topic", "topic_id", "topic id", "topic number", "number")
_SAME = {"calculation": "Computation"}


def read_topic_notes(path: Path | str) -> TopicNotes:
    """Read the notes of a file, plain or gzip.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it has no column of topics or none of the dimensions, or a
            row cannot be read; the message names file and line.
    """
    path = Path(path)
    text = read_text(path)
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = [name.strip().lower() for name in next(reader, [])]
    topic_column = next((header.index(n) for n in _TOPIC_NAMES if n in header), None)
    columns = {name: header.index(name) for name in DIMENSIONS if name in header}
    if topic_column is None or not columns:
        raise MalformedInputError(
            f"Expected a column 'Topic' and one of {list(DIMENSIONS)} "
            f"(got {header!r}) ({path.name}, line 1)"
        )
    notes: TopicNotes = {}
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < len(header) or not row[topic_column].strip():
            raise MalformedInputError(
                f"Expected a topic and {len(header)} columns (got {row!r}) "
                f"({path.name}, line {reader.line_num})"
            )
        notes[row[topic_column].strip()] = {
            name: _SAME.get(row[place].strip().lower(), row[place].strip())
            for name, place in columns.items()
        }
    shared = {
        "B." + topic.removeprefix("A."): values
        for topic, values in notes.items()
        if topic.startswith("A.")
    }
    return shared | notes
