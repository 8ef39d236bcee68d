"""Runs that are reranked: of BM25 over formulas, or from files of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import VisualId
from mathamr_kedro.evaluation.metrics import sort_as_trec_eval
from mathamr_kedro.systems.base import Collection, Query, choose_instances
from mathamr_kedro.systems.bm25 import FormulaTermIndex
from mathamr_kedro.systems.mathamr.config import SearchConfig
from mathamr_kedro.systems.mathamr.reranking import FirstStage
from mathamr_kedro.trec import Run, read_run


def open_first_stages(
    config: SearchConfig, sources: Collection
) -> dict[str, FirstStage]:
    """Return what ranks formulas first, by name; the own one before those of files.

    Raises:
        MissingInputError, MalformedInputError: a run file is not there, or holds no
            formula of the collection.
    """
    stages: dict[str, FirstStage] = {}
    if config.first_stage != "none":
        stages[config.first_stage] = _TermStage(config.first_stage, sources)
    if not config.runs:
        return stages
    by_visual = {f.visual_id: f for f in choose_instances(sources.formulas()).values()}
    for name, path in config.runs.items():
        run = read_run(path)
        visual_of = {visual: visual for visual in by_visual}
        if run.holds_instances:
            visual_of = {f.formula_id: f.visual_id for f in sources.formulas()}
        stages[name] = _FileStage(run, by_visual, visual_of, path)
    return stages


class _TermStage:
    """BM25; the collection is read when it is first asked."""

    def __init__(self, system: str, sources: Collection) -> None:
        self._system, self._sources = system, sources
        self._rank: FirstStage | None = None

    def __call__(self, topics: Sequence[Query], depth: int) -> Sequence[Hits]:
        if self._rank is None:
            self._rank = FormulaTermIndex.build(self._system, self._sources).rank
        return self._rank(topics, depth)


class _FileStage:
    """A run from a file; formulas that the collection lacks are passed over."""

    def __init__(
        self,
        run: Run,
        formulas: Mapping[VisualId, FormulaInstance],
        visual_of: Mapping[str, VisualId],
        path: str,
    ) -> None:
        self._formulas, self._lists = formulas, {}
        for topic, hits in run.lists.items():
            best: dict[VisualId, float] = {}
            for document, score in sort_as_trec_eval(Hits(hits.ids, hits.scores)):
                visual = visual_of.get(document)
                if visual is not None:
                    best.setdefault(visual, score)
            self._lists[topic] = best
        if not any(self._lists.values()):
            raise MalformedInputError(
                f"Expected formulas of this collection in the run {path!r}, by "
                "formula or visual id (got none) (systems.mathamr.search.runs)"
            )

    def __call__(self, topics: Sequence[Query], depth: int) -> list[Hits]:
        return [self._name(self._lists.get(t.key, {}), depth) for t in topics]

    def _name(self, best: Mapping[VisualId, float], depth: int) -> FormulaHits:
        visuals = list(best)[:depth]
        found = [self._formulas[visual] for visual in visuals]
        return FormulaHits(
            [f.formula_id for f in found],
            np.array([best[visual] for visual in visuals], dtype=np.float64),
            visuals,
            [f.post_id for f in found],
        )
