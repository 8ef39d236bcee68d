"""A query without its formulas or without its words, to see what each contributes.

::

    all         Let FORMULA_0 be even. Is FORMULA_1 rational?
    formulas    FORMULA_0. FORMULA_1.
    words       Let be even. Is rational?

A part is a text of its own: the parser and the graph builder do not see the rest. Each
formula is a sentence of its own, as in a query for one formula; the words keep their
order, even if sentences are incomplete without the formulas.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from mathamr_kedro.base.records import CleanText, FormulaMention
from mathamr_kedro.base.types import TopicId

QueryPart: TypeAlias = Literal["formulas", "words"]
QueryParts: TypeAlias = Literal["all", "formulas", "words"]

_PLACEHOLDER = re.compile(r"\bFORMULA_\d+\b")
_MARKS = ".,;:?!"
_TIDY = (
    (re.compile(r"\(\s*\)|\[\s*\]"), ""),  # brackets around formulas only
    (re.compile(rf"[ \t]+(?=[{_MARKS})\]])"), ""),
    (re.compile(rf"([{_MARKS}])(?:[ \t]*[{_MARKS}])+"), r"\1"),
    (re.compile(r"^\W+$", re.MULTILINE), ""),
    (re.compile(rf"^[{_MARKS}\s]+"), ""),
    (re.compile(r"[ \t]{2,}"), " "),
    (re.compile(r"\s*\n\s*"), "\n"),
)


def name_part(topic_id: TopicId, parts: QueryParts) -> str:
    """Return the id of a part of a topic among graphs and vectors.

    >>> name_part("A.1", "words"), name_part("A.1", "all")
    ('A.1:words', 'A.1')
    """
    return topic_id if parts == "all" else f"{topic_id}:{parts}"


def take_part(query: CleanText, part: QueryPart) -> CleanText:
    """Return one part of a query; empty if the query has no such part.

    >>> mention = FormulaMention("FORMULA_0", "7", "3", "p", 4, 13)
    >>> take_part(CleanText("Let FORMULA_0 be prime.", (mention,)), "words").text
    'Let be prime.'
    """
    return _take_words(query) if part == "words" else _take_formulas(query)


def _take_words(query: CleanText) -> CleanText:
    text = _PLACEHOLDER.sub("", query.text)
    for pattern, replacement in _TIDY:
        text = pattern.sub(replacement, text)
    return CleanText(text.strip(), ())


def _take_formulas(query: CleanText) -> CleanText:
    mentions: list[FormulaMention] = []
    text = ""
    for mention in {m.placeholder: m for m in query.formula_map}.values():
        start = len(text) + bool(text)
        end = start + len(mention.placeholder)
        mentions.append(mention._replace(start=start, end=end))
        text += f"{' ' if text else ''}{mention.placeholder}."
    return CleanText(text, tuple(mentions))
