"""The topics of the sample: numbered, rendered, each with its query formula."""

from __future__ import annotations

from datetime import timedelta

from tools.sample.contents import FIRST_TOPIC, Contents, collapse_blanks
from tools.sample.markdown_html import math_span, render_body, render_line
from tools.sample.rows import Collection, SampleFormula, SampleTopic
from tools.sample.threads import AnswerTopic
from tools.sample.timeline import TOPIC_START, count_ids


def add_topics(contents: Contents, collection: Collection) -> None:
    """Render the topics and add them, ``A.1001`` first, to the collection."""
    formula_topics = {topic.topic: topic for topic in contents.formula_topics}
    days = [
        TOPIC_START + timedelta(days=9 * n) for n in range(len(contents.answer_topics))
    ]
    for place, (source, thread_id) in enumerate(
        zip(contents.answer_topics, count_ids(days), strict=True)
    ):
        number = FIRST_TOPIC + place
        formulas: list[SampleFormula] = []
        title, question = _render_topic(source, thread_id, collection, formulas)
        asked = formula_topics.get(source.key)
        match = next(
            (f for f in formulas if asked and f.latex == collapse_blanks(asked.latex)),
            None,
        )
        grades = asked.grades.items() if asked else ()
        collection.topic_formulas.extend(formulas)
        collection.topics.append(
            SampleTopic(
                number, thread_id, source, title, question,
                match.formula_id if match else None, match.latex if match else None,
                tuple((collapse_blanks(latex), grade) for latex, grade in grades),
            )
        )  # fmt: skip


def _render_topic(
    source: AnswerTopic,
    thread_id: int,
    collection: Collection,
    formulas: list[SampleFormula],
) -> tuple[str, str]:
    """Render title and question; spans of topics carry ``q_n`` and their dollars."""
    number = FIRST_TOPIC + len(collection.topics)

    def write(latex: str, display: bool) -> str:
        formula_id = f"q_{len(collection.topic_formulas) + len(formulas) + 1}"
        formulas.append(
            SampleFormula(formula_id, number, thread_id, place, None, latex)
        )
        return math_span(latex, formula_id, "$$" if display else "$")

    place = "title"
    title = render_line(source.title, write)
    place = "question"
    return title, render_body(source.question, write)
