"""Topics of ARQMath and the tables of their formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lxml import etree

from mathamr_kedro.corpus.formula_tables import is_utf8, read_tsv
from mathamr_kedro.corpus.placeholders import strip_delimiters, visual_id_of_latex
from mathamr_kedro.corpus.raw import RawTopic
from mathamr_kedro.corpus.xml_rows import open_binary
from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.records import Failure, Formula

_COLUMNS = ["id", "topic_id", "thread_id", "type"]
"""The fifth column is named ``formula``, or after the family in 2020."""


def year_of_topic(topic_id: str) -> int:
    """Return the year of an ARQMath topic, 0 for topics that are not the lab's.

    >>> year_of_topic("A.1"), year_of_topic("B.250"), year_of_topic("A.301")
    (2020, 2021, 2022)
    """
    number = topic_id.rpartition(".")[2]
    if not number.isdigit():
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
    with open_binary(path) as stream:
        try:
            root = etree.parse(stream).getroot()
        except etree.XMLSyntaxError as exc:
            raise MalformedInputError(
                f"{str(path)!r}, line {exc.lineno}: not well-formed XML ({exc.msg}); "
                "fetch the topics file again"
            ) from exc
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
    found: dict[tuple[str, str], dict[str, str]] = {}
    rows: dict[tuple[str, str], list[str]] = {}
    for family, paths in files.items():
        for path in paths:
            for row in _read_formula_rows(path):
                if isinstance(row, Failure):
                    yield row
                    continue
                key = (row[1], row[0])
                rows.setdefault(key, row)
                found.setdefault(key, {})[family] = row[4]
    for (topic_id, formula_id), cells in found.items():
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


def _read_formula_rows(path: Path) -> Iterator[list[str] | Failure]:
    rows = read_tsv(path)
    _, header = next(rows, (1, []))
    if header[:4] != _COLUMNS:
        raise MalformedInputError(
            f"{str(path)!r}, line 1: expected the header 'id topic_id thread_id type "
            f"formula', got {' '.join(header)[:200]!r}"
        )
    for number, cells in rows:
        if len(cells) >= 5 and is_utf8(cells):
            yield cells
        elif cells:
            reason = "too_few_columns" if len(cells) < 5 else "bad_encoding"
            detail = f"expected 5 UTF-8 columns, got {len(cells)}"
            yield Failure(
                "ingestion", path.name, f"line {number}", cells[0], reason, detail
            )
