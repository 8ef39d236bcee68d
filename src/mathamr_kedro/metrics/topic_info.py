"""What kind of question a topic is: the organisers' topic information.

```
Topic,...,Dependency,Difficulty,Category,...
A.201,...,Text,Low,Proof,...
```
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.metrics.text_files import read_text
from mathamr_kedro.types import TopicId

TopicInfo = Mapping[TopicId, Mapping[str, str]]
"""Value of each dimension by topic, e.g. ``{"A.201": {"category": "Proof"}}``."""

DIMENSIONS = ("category", "difficulty", "dependency", "multi-part")
"""Columns that are looked for, in the order of the reports."""

_TOPIC_NAMES = ("topic", "topic_id", "topic id", "topic number", "number")
_SAME = {"calculation": "Computation"}  # its name in 2021 and in the other years


def read_topic_info(path: Path | str) -> TopicInfo:
    """Read a CSV or TSV file with a header.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: it has no column of topics, or none of the dimensions.
    """
    path = Path(path)
    text = read_text(path)
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    header = [name.strip().lower() for name in rows[0]] if rows else []
    topic_column = next((header.index(n) for n in _TOPIC_NAMES if n in header), None)
    found = {name: header.index(name) for name in DIMENSIONS if name in header}
    if topic_column is None or not found:
        raise MalformedInputError(
            f"Expected a column 'Topic' and one of {list(DIMENSIONS)} "
            f"(got {header!r}) ({path.name}, line 1)"
        )
    return {
        row[topic_column].strip(): {
            name: _SAME.get(row[place].strip().lower(), row[place].strip())
            for name, place in found.items()
            if place < len(row)
        }
        for row in rows[1:]
        if len(row) > topic_column and row[topic_column].strip()
    }


def info_of(topic: TopicId, info: TopicInfo) -> Mapping[str, str]:
    """Return what is known of a topic; ``B.x`` stands in the question of ``A.x``.

    >>> info_of("B.201", {"A.201": {"category": "Proof"}})
    {'category': 'Proof'}
    """
    if topic in info:
        return info[topic]
    return info.get("A." + topic.removeprefix("B."), {})
