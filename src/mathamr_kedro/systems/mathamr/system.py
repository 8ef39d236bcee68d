"""MathAMR as a system: prepare, train, index, open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.base.files import write_text
from mathamr_kedro.systems.base import Collection, Epochs, Ranker, Rankings, Target
from mathamr_kedro.systems.folds import deal_topics
from mathamr_kedro.systems.mathamr.config import MathAMRConfig

NAME = "mathamr"


class MathAMR:
    """Formulas by their sentences, as linearised AMR with operator trees.

    What is imported where it is used is not there on a machine that only trains.
    """

    Config: ClassVar[type] = MathAMRConfig
    READS: ClassVar[tuple[str, ...]] = (
        "formulas", "trees_of", "posts", "graphs", "topics", "topic_graphs",
        "judgments",
    )  # fmt: skip
    name = NAME
    finds: frozenset[Target] = frozenset({"formulas"})
    reads = READS

    def __init__(self, config: MathAMRConfig) -> None:
        self.config = config

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write judged triples, the folds of their topics, and the text model."""
        from mathamr_kedro.systems.mathamr import trainer  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.encoder import TextEncoder  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.judged import (  # noqa: PLC0415
            list_triples,
        )
        from mathamr_kedro.systems.mathamr.triples import TripleFile  # noqa: PLC0415
        from mathamr_kedro.text import find_text_model  # noqa: PLC0415

        model = self.config.model
        source = find_text_model(model.text_model)
        TextEncoder.copy(source, folder / trainer.BASE)
        triples = list_triples(model, sources) if model.epochs else []
        counts = TripleFile(folder / trainer.TRIPLES).write(triples)
        fold_of = deal_topics((t.topic_id for t in triples), model.folds)
        write_text(folder / trainer.FOLDS, json.dumps(fold_of, indent=1))
        return {"triples": len(triples), "topics": len(fold_of), **counts}

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Fine-tune a text model for each fold of topics, and one for all."""
        from mathamr_kedro.systems.mathamr.trainer import (  # noqa: PLC0415
            train_models,
        )

        return train_models(self.config.model, prepared, folder, seed)

    def index(
        self, sources: Collection, model: Path, folder: Path
    ) -> Mapping[str, Any]:
        """Write the contexts of formulas, and encode them by each model."""
        from mathamr_kedro.systems.mathamr.contexts import Contexts  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.encoder import TextEncoder  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.formula_vectors import (  # noqa: PLC0415
            FormulaTexts,
            FormulaVectors,
        )

        search = self.config.search
        contexts = Contexts(self.config.model, sources)
        chosen = FormulaTexts.choose(sources.formulas(), search.instances)

        def list_texts() -> Iterator[tuple[str, str]]:
            for found in contexts.of_posts():
                yield from found.items()
            for key, formula in chosen.items():  # those that have no context
                yield key, contexts.write_alone(formula)

        texts = FormulaTexts.collect(chosen, list_texts())
        size = texts.save(folder)
        names = sorted(path.parent.name for path in model.glob("*/config.json"))
        for name in names:
            encoder = TextEncoder(model / name, self.config.model.max_length)
            size += FormulaVectors.write(folder, name, encoder, search.batch_size)
        return {
            "formulas": len(texts.formulas),
            "texts": len(texts.texts),
            "models": len(names),
            "bytes": size,
        }

    def open(self, sources: Collection, model: Path, folder: Path) -> Rankings:
        """Return rankers of formulas: the best form, then its parts."""
        from mathamr_kedro.systems.mathamr import first_stages  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.contexts import Contexts  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.formula_vectors import (  # noqa: PLC0415
            FormulaVectors,
        )
        from mathamr_kedro.systems.mathamr.reranking import (  # noqa: PLC0415
            ContextSearch,
        )
        from mathamr_kedro.systems.mathamr.trainer import FOLDS  # noqa: PLC0415

        config = self.config
        search = ContextSearch(
            FormulaVectors(folder),
            Contexts(config.model, sources),
            json.loads((model / FOLDS).read_text(encoding="utf-8")),
            model,
            config.model.max_length,
        )
        depth = config.search.depth
        rankers: dict[str, Ranker] = {}
        stages = first_stages.open_first_stages(config.search, sources)
        for number, (name, first) in enumerate(stages.items()):
            is_own = number == 0 and config.search.first_stage != "none"
            suffix = "" if is_own else f"_{name}"
            rankers[NAME if is_own else f"{NAME}/rrf{suffix}"] = search.fuse(
                first, depth
            )
            rankers[f"{NAME}/rerank{suffix}"] = search.rerank(first, depth)
            rankers[f"{NAME}/{name}"] = first
        rankers[f"{NAME}/cosine" if NAME in rankers else NAME] = search.rank
        return Rankings({"formulas": rankers})
