"""From judgments to triples (query, candidate, score): the text of each judged formula.

A grade of 3 or 2 is a score of 1, 1 one of 0.5, 0 one of 0 (MathAMR, section 4).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mathamr_kedro.base.files import replace_file, write_text
from mathamr_kedro.base.records import FormulaInstance, Judgment
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.systems.base import Collection, choose_instances
from mathamr_kedro.systems.folds import deal_topics
from mathamr_kedro.systems.mathamr.config import ModelConfig, Representation
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.encoder import copy_model
from mathamr_kedro.systems.mathamr.training import BASE, FOLDS, TRIPLES, Triple
from mathamr_kedro.systems.query import Query
from mathamr_kedro.text import find_text_model

_BY_VISUAL, _BY_FORMULA = "task2", "task2_formulas"


def prepare_triples(
    config: ModelConfig, sources: Collection, folder: Path
) -> dict[str, int]:
    """Write judged triples, the folds of their topics, and the text model."""
    copy_model(find_text_model(config.text_model), folder / BASE)
    triples = list_triples(config.representation, sources) if config.epochs else []
    counts = write_triples(folder / TRIPLES, triples)
    fold_of = deal_topics((t.topic_id for t in triples), config.folds)
    write_text(folder / FOLDS, json.dumps(fold_of, indent=1))
    return {"triples": len(triples), "topics": len(fold_of), **counts}


def write_triples(path: Path, triples: Iterable[Triple]) -> dict[str, int]:
    """Write triples, a line of JSON each; return how many there are by grade."""
    counts: Counter[str] = Counter()
    with replace_file(path) as part, part.open("w", encoding="utf-8") as file:
        for triple in triples:
            file.write(json.dumps(triple._asdict()) + "\n")
            counts[f"grade_{triple.grade}"] += 1
    return dict(sorted(counts.items()))


def list_triples(representation: Representation, sources: Collection) -> list[Triple]:
    """Return a triple for each judged formula that the collection has.

    If the lab judged a formula in its post, that formula is taken. If it
    judged all that look the same, the formula with the first id is taken.
    """
    topics = {t.topic_id: t for t in sources.topics() if t.task == _BY_VISUAL}
    judged = [j for j in sources.judgments() if j.topic_id in topics]
    pairs = _choose_judged(judged, sources)
    formulas = {formula.formula_id for _, formula in pairs}
    contexts = Contexts(representation, sources)
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


def _choose_judged(
    judged: Iterable[Judgment], sources: Collection
) -> dict[tuple[TopicId, FormulaInstance], int]:
    """Return grades by topic and formula, those of single formulas first."""
    grades: dict[str, dict[tuple[TopicId, str], int]] = {
        _BY_FORMULA: {},
        _BY_VISUAL: {},
    }
    for j in judged:
        if j.task in grades:
            grades[j.task][j.topic_id, j.doc_id] = j.grade
    keys = {document for _, document in grades[_BY_FORMULA]}
    named = {f.formula_id: f for f in sources.formulas() if f.formula_id in keys}
    visuals = {document for _, document in grades[_BY_VISUAL]}
    alike = (f for f in sources.formulas() if f.visual_id in visuals)
    first = {f.visual_id: f for f in choose_instances(alike).values()}
    found = {
        (topic, named[key]): grade
        for (topic, key), grade in grades[_BY_FORMULA].items()
        if key in named
    }
    seen = {(topic, formula.visual_id) for topic, formula in found}
    for (topic, visual), grade in grades[_BY_VISUAL].items():
        if visual in first and (topic, visual) not in seen:
            found[topic, first[visual]] = grade
    return found
