"""Topics of ARQMath and the tables of their formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from mathamr_kedro.corpus.placeholders import strip_delimiters, visual_id_of_latex
from mathamr_kedro.corpus.raw import RawTopic, is_number
from mathamr_kedro.corpus.xml_rows import read_xml
from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.records import Failure, Formula
from mathamr_kedro.trec import read_table

_COLUMNS = ("id", "topic_id", "thread_id", "type", "formula|opt|slt")
"""The last column is named after its family in 2020."""


def year_of_topic(topic_id: str) -> int:
    """Return the year of an ARQMath topic, 0 for topics that are not the lab's.

    >>> year_of_topic("A.1"), year_of_topic("B.250"), year_of_topic("A.301")
    (2020, 2021, 2022)
    """
    number = topic_id.rpartition(".")[2]
    if not is_number(number):
        return 0
    for year, first, last in ((2020, 1, 100), (2021, 201, 300), (2022, 301, 400)):
        if first <= int(number) <= last:
            return year
    return 0


def read_topics(path: Path, source: str) -> Iterator[RawTopic | Failure]:
    """Yield the topics of a Task 1 or Task 2 file.

    Raises:
        MalformedInputError: the file is not a topics file.
    """
    root = read_xml(path)
    if root.tag != "Topics":
        raise MalformedInputError(
            f"{str(path)!r}: expected the root element 'Topics' (got {root.tag!r}); is "
            "this a topics file?"
        )
    for element in root:
        if not isinstance(element.tag, str):
            continue
        topic_id = element.get("number")
        if not topic_id:
            place = f"line {element.sourceline}"
            yield Failure(
                "ingestion", source, place, "", "topic_without_number",
                "expected <Topic number=...>",
            )  # fmt: skip
            continue
        yield _topic(element, topic_id, source)


def _topic(element: etree._Element, topic_id: str, source: str) -> RawTopic:
    def text(name: str) -> str:
        return (element.findtext(name) or "").strip()

    formula_id = text("Formula_Id") or None
    return RawTopic(
        source,
        topic_id,
        "task2" if formula_id else "task1",
        year_of_topic(topic_id),
        text("Title"),
        text("Question"),
        tuple(tag.strip() for tag in text("Tags").split(",") if tag.strip()),
        formula_id,
        strip_delimiters(text("Latex")) or None,
    )


def read_topic_formulas(
    files: Mapping[str, list[Path]],
) -> Iterator[Formula | Failure]:
    """Yield the formulas of the topics, one per (topic, formula id).

    The tables are small; ids restart every year, so the topic is part of the key.
    """
    texts: dict[tuple[str, str], dict[str, str]] = {}
    rows: dict[tuple[str, str], list[str]] = {}
    for family, paths in files.items():
        for path in paths:
            for found in read_table(path, _COLUMNS):
                if isinstance(found, Failure):
                    yield found
                    continue
                _, row = found
                key = (row[1], row[0])
                rows.setdefault(key, row)
                texts.setdefault(key, {})[family] = row[4]
    for (topic_id, formula_id), cells in texts.items():
        _, _, thread_id, place, *_ = rows[topic_id, formula_id]
        latex = strip_delimiters(cells.get("latex", ""))
        yield Formula(
            formula_id,
            topic_id,
            thread_id,
            place,
            None,
            None,
            visual_id_of_latex(latex),
            "",
            latex,
            cells.get("slt", ""),
            cells.get("opt", ""),
        )
