"""Rankers of formulas by their terms (BM25): baselines, and first stages of systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance, Topic
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.systems.protocol import TermSystem, TreeLookup
from mathamr_kedro.systems.queries import find_query_formula, name_formulas
from mathamr_kedro.text import (
    TermIndex,
    list_ngrams,
    list_patterns,
    list_tuples,
    split_latex,
)

FormulaRanker: TypeAlias = Callable[[Sequence[Topic], int], list[FormulaHits]]
"""Ranks formulas for topics, each visual id once, to a depth."""


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
