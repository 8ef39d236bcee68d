"""The XML files of the sample: a row per post, comment, link, tag, vote; the topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from tools.sample.rows import Collection, Row, SampleTopic

# A line break in an attribute must be written so, or a reader sees a blank.
_QUOTES = {'"': "&quot;", "\n": "&#xA;"}


def collection_files(collection: Collection) -> dict[str, str]:
    """Return the five files of a dump."""
    return {
        "Posts.V1.3.xml": _rows_file("posts", collection.posts),
        "Comments.V1.3.xml": _rows_file("comments", collection.comments),
        "PostLinks.V1.3.xml": _rows_file("postlinks", collection.links),
        "Tags.V1.3.xml": _rows_file("tags", collection.tags),
        "Votes.V1.3.xml": _rows_file("votes", collection.votes),
    }


def topic_files(collection: Collection) -> dict[str, str]:
    """Return the topics of both tasks."""
    with_formula = [topic for topic in collection.topics if topic.formula_id]
    return {
        "Topics/Task1/Topics_Task1_Sample.xml": _topics_file("A", collection.topics),
        "Topics/Task2/Topics_Task2_Sample.xml": _topics_file("B", with_formula),
    }


def _rows_file(name: str, rows: Iterable[Row]) -> str:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<{name}>"]
    for row in rows:
        attributes = " ".join(
            f'{key}="{escape(value, _QUOTES)}"' for key, value in row.items()
        )
        lines.append(f"   <row {attributes}/>")
    return "\n".join([*lines, f"</{name}>", ""])


def _topics_file(letter: str, topics: Iterable[SampleTopic]) -> str:
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<Topics>"]
    for topic in topics:
        lines.append(f'   <Topic number="{letter}.{topic.number}">')
        for element, text in _elements(letter, topic):
            lines.append(
                f"      <{element}>{escape(text, {chr(34): '&quot;'})}</{element}>"
            )
        lines.append("   </Topic>")
    return "\n".join([*lines, "</Topics>", ""])


def _elements(letter: str, topic: SampleTopic) -> Iterator[tuple[str, str]]:
    if letter == "B":
        yield "Formula_Id", topic.formula_id or ""
        yield "Latex", topic.latex or ""
    yield "Title", topic.title
    yield "Question", topic.question
    yield "Tags", ",".join(topic.source.tags)
