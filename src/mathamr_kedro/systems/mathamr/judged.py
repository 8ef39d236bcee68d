"""From judgments to triples: which text stands for what was judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from mathamr_kedro.base.records import FormulaInstance, Judgment
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.systems.base import Collection, Query, choose_instances
from mathamr_kedro.systems.mathamr.config import ModelConfig
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.triples import Triple

_BY_VISUAL, _BY_FORMULA = "task2", "task2_formulas"


def list_triples(config: ModelConfig, sources: Collection) -> list[Triple]:
    """Return a triple for each judged formula that the collection has.

    Where the lab judged a formula in its post, that formula stands for itself. Where it
    judged all that look the same, the formula with the first id stands for them.
    """
    topics = {t.topic_id: t for t in sources.topics() if t.task == _BY_VISUAL}
    judged = [j for j in sources.judgments() if j.topic_id in topics]
    pairs = dict(_choose_instances(judged, sources.formulas))
    formulas = {formula.formula_id: formula for _, formula in pairs}
    contexts = Contexts(config, sources)
    texts = {
        key: text
        for found in contexts.of_posts()
        for key, text in found.items()
        if key in formulas
    }
    asked: dict[TopicId, str] = {}
    triples: list[Triple] = []
    for (topic_id, formula), grade in pairs.items():
        if topic_id not in asked:
            asked[topic_id] = contexts.write_query(Query.of_topic(topics[topic_id]))
        candidate = texts.get(formula.formula_id) or contexts.write_alone(formula)
        triples.append(Triple(topic_id, asked[topic_id], candidate, grade))
    return triples


def _choose_instances(
    judged: Iterable[Judgment], read: Callable[[], Iterable[FormulaInstance]]
) -> Iterator[tuple[tuple[TopicId, FormulaInstance], int]]:
    """Yield topics with the formulas that were judged for them, and the grades."""
    grades = {(j.task, j.topic_id, j.doc_id): j.grade for j in judged}
    wanted: Mapping[str, set[str]] = {
        task: {document for kind, _, document in grades if kind == task}
        for task in (_BY_FORMULA, _BY_VISUAL)
    }
    named = {f.formula_id: f for f in read() if f.formula_id in wanted[_BY_FORMULA]}
    alike = (f for f in read() if f.visual_id in wanted[_BY_VISUAL])
    first = {f.visual_id: f for f in choose_instances(alike).values()}
    seen: set[tuple[TopicId, str]] = set()
    for (task, topic, document), grade in grades.items():
        if task == _BY_FORMULA and document in named:
            formula = named[document]
            seen.add((topic, formula.visual_id))
            yield (topic, formula), grade
    for (task, topic, document), grade in grades.items():
        if task == _BY_VISUAL and (topic, document) not in seen and document in first:
            yield (topic, first[document]), grade
