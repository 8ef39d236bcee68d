"""Topics of ARQMath, the tables of their formulas, and clean topics from both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from lxml import etree

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure, Formula, FormulaMention, Topic
from mathamr_kedro.corpus.delimiters import split_punctuation, strip_delimiters
from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.corpus.placeholders import (
    Disagreement,
    FormulaLookup,
    FormulaRow,
    find_disagreement,
    visual_id_of_latex,
)
from mathamr_kedro.corpus.raw import RawTopic, is_number, make_failure
from mathamr_kedro.corpus.scanning import unescape_latex
from mathamr_kedro.corpus.xml_records import read_xml
from mathamr_kedro.trec import TopicNotes, read_table

_COLUMNS = ("id", "topic_id", "type", "formula|opt|slt")
"""The last column is named after its family in 2020."""

EDITIONS = {2020: "ARQMath-1", 2021: "ARQMath-2", 2022: "ARQMath-3"}

_PUBLISHED = {
    2020: "Formula_topics_{lower}_V2.0.tsv",
    2021: "Topics_2021_Formulas_{name}_V1.1.tsv",
    2022: "Topics_Formulas_{name}.V0.1.tsv",
}
"""Ids of the formulas of topics, as the lab writes them."""

_FAMILIES = {"latex": "Latex", "slt": "SLT", "opt": "OPT"}
_FORMULA_WITH_ID = re.compile(r"\bmath-container\b[^<>]*\bid\s*=")


def year_of_topic(topic_id: str) -> int:
    """Return the year of an ARQMath topic, 0 for other topics.

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
            detail = "expected <Topic number=...>"
            yield make_failure(source, place, "topic_without_number", detail, "")
            continue
        yield _topic(element, topic_id, source)


def _topic(element: etree._Element, topic_id: str, source: str) -> RawTopic:
    def text(name: str) -> str:
        return (element.findtext(name) or "").strip()

    formula_id = text("Formula_Id") or None
    return RawTopic(
        source=source,
        topic_id=topic_id,
        task="task2" if formula_id else "task1",
        year=year_of_topic(topic_id),
        title=text("Title"),
        question=text("Question"),
        tags=tuple(tag.strip() for tag in text("Tags").split(",") if tag.strip()),
        formula_id=formula_id,
        latex=strip_delimiters(text("Latex")) or None,
    )


def read_topic_formulas(
    files: Mapping[str, list[Path]],
) -> Iterator[Formula | Failure]:
    """Yield the formulas of the topics, one per (topic, formula id).

    The tables are small; ids restart every year, so the topic is part of the key.
    Formulas share a visual id if the files say exactly the same about them: then their
    trees are equal too.
    """
    texts: dict[tuple[str, str], dict[str, str]] = {}
    places: dict[tuple[str, str], str] = {}
    for family, paths in files.items():
        for path in paths:
            for found in read_table(path, _COLUMNS):
                if isinstance(found, Failure):
                    yield found
                    continue
                _, row = found
                key = (row[1], row[0])
                places.setdefault(key, row[2])
                texts.setdefault(key, {})[family] = row[3]
    for (topic_id, formula_id), cells in texts.items():
        latex = strip_delimiters(unescape_latex(cells.get("latex", "")))
        trees = [cells.get("slt", ""), cells.get("opt", "")]
        spelling = "\0".join([latex, *trees]) if any(trees) else latex
        yield Formula(
            formula_id=formula_id,
            post_id=topic_id,
            visual_id=visual_id_of_latex(spelling),
            place=places[topic_id, formula_id],
            latex=latex,
            presentation=trees[0],
            content=trees[1],
        )


class TopicFormulas:
    """The rows of the topics' formulas, found by topic and formula id.

    The formulas of a topic of Task 2 are under the topic of Task 1 with its number:
    ``B.7`` shows the question of ``A.7``.
    """

    def __init__(self, formulas: Iterable[Formula | Failure]) -> None:
        self._of_topic: dict[tuple[str, str], Formula] = {}
        self._of_number: dict[tuple[str, str], Formula] = {}
        self._of_year: dict[tuple[int, str], Formula] = {}
        for formula in formulas:
            if isinstance(formula, Failure):  # reported with the formulas
                continue
            topic, name = formula.post_id, formula.formula_id
            self._of_topic.setdefault((topic, name), formula)
            self._of_number.setdefault((_number_of(topic), name), formula)
            self._of_year.setdefault((year_of_topic(topic), name), formula)

    def __len__(self) -> int:
        return len(self._of_topic)

    def of_topic(self, topic_id: str) -> FormulaLookup:
        """Return a function that looks up the formulas of a topic."""
        number, year = _number_of(topic_id), year_of_topic(topic_id)

        def find_row(formula_id: str) -> FormulaRow | None:
            found = self._of_topic.get((topic_id, formula_id))
            found = found or self._of_number.get((number, formula_id))
            owner = topic_id
            if found is None and year:  # ids are counted through an edition
                found = self._of_year.get((year, formula_id))
                owner = "" if found is None else found.post_id
            if found is None:
                return None
            says_something = found.latex or found.presentation or found.content
            visual_id = found.visual_id if says_something else ""
            return FormulaRow(visual_id, found.latex, owner)

        return find_row


def check_topic_formulas(
    topic_files: Sequence[Path],
    formula_files: Mapping[str, Sequence[Path]],
    patterns: Mapping[str, Sequence[str]],
) -> None:
    """Check, edition by edition, that the files of the topics' formulas are there.

    Raises:
        MissingInputError: names the edition, the folder and the spelling expected.
    """
    known = {family: _list_numbers(files) for family, files in formula_files.items()}
    editions: dict[str, set[str]] = {}
    places: dict[str, tuple[int, Path]] = {}
    for file in topic_files:
        for topic in read_topics(file, file.name):
            if isinstance(topic, RawTopic) and _names_formulas(topic):
                # Topics of one's own have no year: a folder of them is an edition.
                edition = EDITIONS.get(topic.year, str(file.parent))
                places.setdefault(edition, (topic.year, file.parent))
                editions.setdefault(edition, set()).add(_number_of(topic.topic_id))
    for edition, numbers in editions.items():
        year, folder = places[edition]
        for family, found in known.items():
            if numbers.isdisjoint(found):
                name = _FAMILIES.get(family, family)
                published = _PUBLISHED.get(year, "Topics_Formulas_{name}.tsv")
                spelling = published.format(name=name, lower=name.lower())
                raise MissingInputError(
                    f"Expected the {name} formulas of the topics of {edition!r} in "
                    f"{str(folder)!r}, named e.g. {spelling!r}; none of the files at "
                    f"{list(patterns[family])!r} has them: put the file there, or give "
                    "an empty 'topic_formulas' to the dataset 'collection' "
                    "(conf/<env>/catalog.yml) to read only the LaTeX of the topics"
                )


def _list_numbers(files: Sequence[Path]) -> set[str]:
    rows = (row for file in files for row in read_table(file, ("topic_id",)))
    return {_number_of(row[1][0]) for row in rows if not isinstance(row, Failure)}


def _names_formulas(topic: RawTopic) -> bool:
    text = f"{topic.title} {topic.question}"
    return topic.formula_id is not None or bool(_FORMULA_WITH_ID.search(text))


def _number_of(topic_id: str) -> str:
    return topic_id.rpartition(".")[2]


def clean_topic(
    raw: RawTopic, notes: TopicNotes, formulas: TopicFormulas | None = None
) -> tuple[Topic, list[Failure]]:
    """Clean one topic; report a query formula that is not in its text."""
    find_row = None if formulas is None else formulas.of_topic(raw.topic_id)
    read = partial(clean_text, owner=raw.topic_id, find_row=find_row, markup=raw.markup)
    clean, marks = read(raw.title, raw.question)
    title, _ = read(raw.title, "")
    found = list(marks.disagreements)
    latex, formula_map = raw.latex, clean.formula_map
    if raw.formula_id is not None:
        row = find_row(raw.formula_id) if find_row is not None else None
        if row is None or row.owner != raw.topic_id:
            row = FormulaRow("", latex or "", raw.topic_id)
        other = find_disagreement(raw.formula_id, latex or "", raw.topic_id, row)
        if other is not None and latex:  # its element <Latex> against its row
            found.append(other)
        latex = row.latex or latex
        formula_map = _name_query(formula_map, raw.formula_id, row)
        if raw.formula_id not in {mention.formula_id for mention in formula_map}:
            detail = f"formula {raw.formula_id!r} is not in the question"
            reason = "query_formula_not_in_text"
            found.append(Disagreement(raw.formula_id, reason, detail))
    problems = [
        f.to_failure(raw.source, raw.place, raw.topic_id) for f in dict.fromkeys(found)
    ]
    note = notes.get(raw.topic_id, {})
    topic = Topic(
        topic_id=raw.topic_id,
        task=raw.task,
        year=raw.year,
        title=title.text,
        tags=raw.tags,
        text=clean.text,
        formula_map=formula_map,
        formula_id=raw.formula_id,
        latex=latex,
        category=note.get("category") or None,
        difficulty=note.get("difficulty") or None,
        dependency=note.get("dependency") or None,
    )
    return topic, problems


def _name_query(
    formula_map: tuple[FormulaMention, ...], formula_id: str, row: FormulaRow
) -> tuple[FormulaMention, ...]:
    """Give the id of the query formula to the formula that equals it, if none has it.

    Some spans of the topics have no id.
    """
    if not row.latex or any(m.formula_id == formula_id for m in formula_map):
        return formula_map
    wanted = visual_id_of_latex(split_punctuation(row.latex)[0])
    for place, mention in enumerate(formula_map):
        has_no_id = mention.formula_id == f"{row.owner}:{place}"
        if has_no_id and visual_id_of_latex(mention.latex) == wanted:
            visual_id = row.visual_id or mention.visual_id
            named = mention._replace(formula_id=formula_id, visual_id=visual_id)
            return (*formula_map[:place], named, *formula_map[place + 1 :])
    return formula_map
