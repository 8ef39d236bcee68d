"""What formula systems ask for and return: one instance of each visual id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaInstance, FormulaMention, Topic
from mathamr_kedro.base.types import FormulaId, VisualId


def find_query_formula(topic: Topic) -> FormulaInstance:
    """Return the formula that a topic of Task 2 asks for.

    Raises:
        ConfigurationError: it asks for none.
    """
    mentions: Mapping[FormulaId, FormulaMention] = {
        m.formula_id: m for m in topic.formula_map
    }
    if topic.formula_id is None:
        raise ConfigurationError(
            f"Expected a query formula in topic {topic.topic_id!r} (got none); topics "
            "of Task 1 ask for posts"
        )
    mention = mentions.get(topic.formula_id)
    visual = mention.visual_id if mention is not None else ""
    latex = topic.latex or (mention.latex if mention is not None else "")
    return FormulaInstance(topic.formula_id, visual, topic.topic_id, latex)


def choose_instances(
    formulas: Iterable[FormulaInstance],
) -> dict[FormulaId, FormulaInstance]:
    """Keep the instance of each visual id that has the first formula id."""
    first: dict[VisualId, FormulaInstance] = {}
    for formula in formulas:
        known = first.setdefault(formula.visual_id, formula)
        if _order(formula) < _order(known):
            first[formula.visual_id] = formula
    return {f.formula_id: f for f in first.values()}


def name_formulas(
    hits: Hits, formulas: Mapping[FormulaId, FormulaInstance]
) -> FormulaHits:
    """Return hits by formula id with the visual ids and posts of the formulas."""
    found = [formulas[key] for key in hits.ids]
    return FormulaHits(
        hits.ids,
        hits.scores,
        [f.visual_id for f in found],
        [f.post_id for f in found],
    )


def _order(formula: FormulaInstance) -> tuple[int, str]:
    return len(formula.formula_id), formula.formula_id
