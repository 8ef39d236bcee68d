"""From raw topics to clean ones; formulas are those of the formula files."""

from __future__ import annotations

from functools import partial

from mathamr_kedro.base.records import Failure, FormulaMention, Topic
from mathamr_kedro.corpus.delimiters import split_punctuation
from mathamr_kedro.corpus.extraction import clean_text
from mathamr_kedro.corpus.formula_rows import (
    Disagreement,
    FormulaRow,
    find_disagreement,
)
from mathamr_kedro.corpus.placeholders import visual_id_of_latex
from mathamr_kedro.corpus.raw import RawTopic
from mathamr_kedro.corpus.topics import TopicFormulas
from mathamr_kedro.trec import TopicNotes


def clean_topic(
    raw: RawTopic, notes: TopicNotes, formulas: TopicFormulas | None = None
) -> tuple[Topic, list[Failure]]:
    """Clean one topic; a query formula that its text lacks is reported.

    Args:
        raw: the topic.
        notes: what the organisers noted, by topic.
        formulas: the rows of the topics' formulas, if there are some.
    """
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
    """Give the id of the query to the formula that is it, if no formula has it.

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
