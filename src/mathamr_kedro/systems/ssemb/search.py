"""Building the index of SSEmb, and asking it for the formulas of topics."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.systems.base import Collection, Query
from mathamr_kedro.systems.ssemb.config import SSEmbConfig
from mathamr_kedro.systems.ssemb.contexts import Contexts
from mathamr_kedro.systems.ssemb.encoding import TextEncoder, TreeEncoder
from mathamr_kedro.systems.ssemb.index import (
    CONTEXTS,
    STRUCTURE,
    FormulaIndex,
    InstanceList,
    VectorFile,
)
from mathamr_kedro.systems.ssemb.ranking import TwoStageRanking
from mathamr_kedro.text import explain_absence

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree, FormulaTrees

logger = logging.getLogger(__name__)

_SHAPE = "shape.json"


def build_index(
    config: SSEmbConfig, sources: Collection, model: Path, folder: Path
) -> Mapping[str, Any]:
    """Encode a tree of each visual id and, where a text model is, all contexts.

    Args:
        config: of the system.
        sources: the collection.
        model: folder of the trained network.
        folder: gets the index.
    """
    instances = InstanceList()
    encoder = TreeEncoder(model, config.model)
    trees = _gather_trees(sources, instances)
    VectorFile.write(folder / STRUCTURE, encoder.encode(trees))
    width, absence = 0, explain_absence(config.search.text_model)
    if absence is None:
        texts = instances.read_contexts(sources.posts(), Contexts(config.search))
        found = TextEncoder(config.search.text_model).encode(texts)
        told = report_progress(found, "texts encoded for ssemb", len)
        width = VectorFile.write(folder / CONTEXTS, told)
    else:
        logger.warning("ssemb: structure alone, no texts. %s", absence)
    instances.save(folder)
    write_text(folder / _SHAPE, json.dumps({"text_dimension": width}))
    size = sum(file.stat().st_size for file in folder.iterdir())
    return {"instances": len(instances), "text_dimension": width, "bytes": size}


def _gather_trees(
    sources: Collection, instances: InstanceList
) -> Iterator[FormulaTree]:
    """Yield an operator tree of each visual id that has one; list the instances."""
    without: set[str] = set()
    formulas = report_progress(sources.formulas(), "formulas indexed by ssemb")
    for formula in formulas:
        if formula.visual_id in without:
            continue
        if formula.visual_id not in instances:
            tree = _find_tree(sources, formula)
            if tree is None:
                without.add(formula.visual_id)
                continue
            yield tree
        instances.add(formula)
    if without:
        logger.warning(
            "ssemb: %d visual ids without operator tree are never found", len(without)
        )


def _find_tree(sources: Collection, formula: FormulaInstance) -> FormulaTree | None:
    return _choose_tree(sources.trees_of(formula))


def _choose_tree(trees: FormulaTrees | None) -> FormulaTree | None:
    if trees is None or trees.opt is None or trees.opt.is_blank:
        return None
    return trees.opt


class _Query(NamedTuple):
    """A topic as vectors."""

    structure: NDArray[np.float32] | None
    """``None``: its formula has no operator tree."""
    text: NDArray[np.float32] | None


class FormulaSearch:
    """Ranks formulas for topics.

    Args:
        config: of the system.
        sources: where the trees of topics are.
        model: folder of the trained network.
        folder: of the index.
    """

    def __init__(
        self, config: SSEmbConfig, sources: Collection, model: Path, folder: Path
    ) -> None:
        self._config, self._sources = config, sources
        self._trees = TreeEncoder(model, config.model)
        shape = json.loads((folder / _SHAPE).read_text(encoding="utf-8"))
        width = shape["text_dimension"]
        self._index = FormulaIndex(folder, config.model.dimension, width)
        self._ranking = TwoStageRanking(self._index, config.search.candidates)
        self._contexts = Contexts(config.search)
        self._texts = self._open_texts(folder, width)
        self._known: dict[Query, _Query] = {}

    @property
    def has_texts(self) -> bool:
        """Whether texts are compared, too."""
        return self._texts is not None

    def rank(
        self, topics: Sequence[Query], depth: int, weight: float
    ) -> list[FormulaHits]:
        """Return the best formulas for each topic.

        Args:
            topics: each asks for a formula.
            depth: how many.
            weight: lambda of Eq. 3.
        """
        return [self._rank(self._encode(topic), depth, weight) for topic in topics]

    def _rank(self, query: _Query, depth: int, weight: float) -> FormulaHits:
        if query.structure is None:
            return FormulaHits([], np.zeros(0), [], [])
        (structure,) = self._index.structure.compare(query.structure)
        texts = None
        if query.text is not None:
            (texts,) = self._index.texts.compare(query.text)
        return self._ranking.rank(structure, texts, weight, depth)

    def _encode(self, topic: Query) -> _Query:
        if topic not in self._known:  # several rankers are asked the same
            tree = _choose_tree(topic.trees)
            vectors = next(self._trees.encode([tree])) if tree is not None else None
            text = None
            if self._texts is not None:
                known = dict(self._contexts.read(topic))
                begin = self._contexts.read_first(topic)
                context = known.get(topic.asked_formula.formula_id, begin)
                text = next(self._texts.encode([context]))
            self._known[topic] = _Query(vectors, text)
        return self._known[topic]

    def _open_texts(self, folder: Path, width: int) -> TextEncoder | None:
        name = self._config.search.text_model
        absence = explain_absence(name)
        if absence is None and not width:
            absence = (
                f"The index was built without {name}; to have them, delete "
                f"{str(folder)!r} and run the stage 'indexing'"
            )
        if absence is not None:
            logger.warning("ssemb: structure alone, no texts. %s", absence)
            return None
        return TextEncoder(name)
