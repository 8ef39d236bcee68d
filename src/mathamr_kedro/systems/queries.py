"""Formulas that a query may find, and rankers of them by their terms.

Formulas that look the same are the same to most systems: one of them, that with the
first id, stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import FormulaInstance, FormulaMention, Topic
from mathamr_kedro.systems.protocol import TermSystem, TreeLookup
from mathamr_kedro.text import (
    TermIndex,
    list_ngrams,
    list_patterns,
    list_tuples,
    split_latex,
)
from mathamr_kedro.types import FormulaId, VisualId

FormulaRanker: TypeAlias = Callable[[Sequence[Topic], int], list[FormulaHits]]
"""Ranks formulas for topics, each visual id once, to a depth."""


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


def _order(formula: FormulaInstance) -> tuple[int, str]:
    return len(formula.formula_id), formula.formula_id


def build_term_ranker(
    system: TermSystem,
    chosen: Mapping[FormulaId, FormulaInstance],
    trees_of: TreeLookup,
) -> FormulaRanker:
    """Return what ranks formulas for topics of Task 2 by BM25.

    Args:
        system: whose terms.
        chosen: one formula of each visual id.
        trees_of: finds trees, for the systems that compare them.
    """
    terms = _formula_terms(system, trees_of)
    found = report_progress(
        chosen.items(), f"formulas read for {system}", total=len(chosen)
    )
    index = TermIndex((key, terms(formula)) for key, formula in found)
    return lambda topics, depth: [
        name_formulas(index.search(terms(find_query_formula(topic)), depth), chosen)
        for topic in topics
    ]


def _formula_terms(
    system: TermSystem, trees_of: TreeLookup
) -> Callable[[FormulaInstance], list[str]]:
    if system == "bm25":
        return lambda formula: split_latex(formula.latex)
    if system == "bm25_ngrams":
        return lambda formula: list_ngrams(formula.latex)

    def read(formula: FormulaInstance) -> list[str]:
        trees = trees_of(formula)
        if trees is None:
            return []
        if system == "bm25_slt":
            return list_patterns(trees.slt)
        if system == "bm25_opt":
            return list_patterns(trees.opt, window=2)
        return list_tuples(trees)

    return read


def name_formulas(
    hits: Hits, formulas: Mapping[FormulaId, FormulaInstance]
) -> FormulaHits:
    """Return hits of formulas with their visual ids and posts."""
    found = [formulas[key] for key in hits.ids]
    return FormulaHits(
        hits.ids,
        hits.scores,
        [f.visual_id for f in found],
        [f.post_id for f in found],
    )
