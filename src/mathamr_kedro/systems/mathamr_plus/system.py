"""MathAMR+ as a system: posts by the vectors of their graphs."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mathamr_kedro.base.checksums import check_file, read_json
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.graph import PreparedGraphs, PreprocessingConfig, ReleasedEncoder
from mathamr_kedro.learning.checkpoints import MODEL
from mathamr_kedro.learning.distillation import FormulaSymbols
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.learning.trainer import train
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.model.weights import checksum_model, copy_model
from mathamr_kedro.systems.base import Collection, Epochs, LearningSystem
from mathamr_kedro.systems.mathamr_plus.encoder import FACTS, Encoder
from mathamr_kedro.systems.query import Target
from mathamr_kedro.systems.registry import OWN

if TYPE_CHECKING:
    from mathamr_kedro.systems.mathamr_plus.config import IndexingConfig
    from mathamr_kedro.systems.mathamr_plus.index import MathAMRPlusIndex
    from mathamr_kedro.systems.mathamr_plus.strategies import Strategy
    from mathamr_kedro.vectors import EngineConfig

logger = logging.getLogger(__name__)

_VECTORS, _ENGINE = "vectors.json", "engine"
"""Beside an index: which vectors it was built from; folder of its engine."""


@dataclass(frozen=True)
class MathAMRPlusConfig:
    """The parameters of its stages."""

    preprocessing: PreprocessingConfig = field(default_factory=PreprocessingConfig)
    training: TrainingStageConfig = field(default_factory=TrainingStageConfig)
    indexing: Mapping[str, Any] = field(default_factory=dict)
    """Read when something is indexed: a machine that only trains has no Qdrant."""
    rankings: Mapping[str, Any] = field(default_factory=dict)
    """Strategies by the names of their rankings; empty: that of ``indexing``."""


class MathAMRPlus(LearningSystem):
    """Graphs of text and formulas, encoded by an RGCN, ranked by MaxSim (the thesis).

    ::

        arrays of graphs ── prepare ──> vocabularies, pairs        graph.prepared
                         ── train ────> encoder                    learning
                         ── index ────> vectors, engine            encoding, vectors
                         ── open ─────> rankings by strategies     index, strategies
    """

    Config: ClassVar[type] = MathAMRPlusConfig
    name = OWN
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    index_reads = ("posts", "graphs", "topic_graphs", "formulas")

    def __init__(self, config: MathAMRPlusConfig) -> None:
        self.config = config

    @cached_property
    def indexing(self) -> IndexingConfig:
        """How it is indexed and searched."""
        from mathamr_kedro.systems.mathamr_plus.config import (  # noqa: PLC0415
            IndexingConfig,
        )

        return IndexingConfig.read(self.config.indexing)

    @property
    def rankings(self) -> Mapping[str, Strategy]:
        """The strategies that it is asked by."""
        from mathamr_kedro.systems.mathamr_plus.strategies import (  # noqa: PLC0415
            Strategy,
        )

        return {
            name: read_parameters(Strategy, values, where=f"rankings.{name}")
            for name, values in self.config.rankings.items()
        } or {OWN: self.indexing.strategy}

    def describe_training(self) -> Any:
        """Return what the weights depend on: an encoder to start from as it is now."""
        training = self.config.training
        start = training.start_from
        weights = (
            None if start is None else checksum_model(ReleasedEncoder(start).folder)
        )
        return training.describe_result(), weights

    def describe_index(self) -> Any:
        """Return what the index depends on; where it is made does not count."""
        return self.indexing.dtype, self.indexing.engine.describe_result()

    @property
    def training_reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """Pairs and formulas; texts too, if an encoder or a teacher reads them."""
        config, reads = self.config, ("pairs", "formulas")
        if config.preprocessing.text_model is not None:
            return (*reads, "posts", "topics")
        return (*reads, "posts") if config.training.makes_document_vectors else reads

    def prepare(self, data: Collection, folder: Path) -> Mapping[str, Any]:
        """Number the graphs of a collection by vocabularies, and split its pairs.

        The folder is that of all configurations, each of which names one in it: those
        that share graphs, vocabularies and pairs share theirs.
        """
        from mathamr_kedro.systems.mathamr_plus.preparation import (  # noqa: PLC0415
            prepare_collection,
        )

        config = self.config
        prepared = prepare_collection(
            folder, config.preprocessing, config.training, data
        )
        return {"folder": prepared.folder.name, **prepared.report}

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train, or resume; a released encoder without epochs is taken as it is."""
        config = replace(self.config.training, seed=seed)
        graphs = PreparedGraphs(prepared).check()
        self.config.preprocessing.refuse_others(graphs)
        facts: dict[str, Any] = {
            "prepared_graphs": prepared.name,
            "start_from": config.start_from,
        }
        start = self._find_start(graphs)
        if start is not None and config.num_epochs == 0:
            copy_model(start, folder / MODEL)
            facts |= {"best_epoch": 0, "best_loss": None, "stopped_early": False}
            facts |= {"training_pairs": 0, "validation_pairs": 0}
            write_text(folder / FACTS, json.dumps(facts, indent=2))
            return []
        if config.makes_document_vectors:
            vectors = prepared / config.document_vectors
            check_file(vectors, "delete it and run the stage 'preprocessing' again")
            teachers = replace(config.distillation, document_vectors=str(vectors))
            config = replace(config, distillation=teachers)
        curve = _open_curve(folder)
        rows, is_held_out = graphs.all_pairs()
        result = train(
            graphs.posts,
            TrainingPairs.of_rows(rows, graphs.posts, is_held_out),
            config,
            folder,
            curve.tell if curve is not None else None,
            start=start,
            symbols=FormulaSymbols.of_graphs(graphs),
        )
        if curve is not None:
            curve.end()
        facts |= {
            "best_epoch": result.best_epoch,
            "best_loss": result.best_loss,
            "stopped_early": result.stopped_early,
            "training_pairs": len(graphs.train_pairs),
            "validation_pairs": len(graphs.validation_pairs),
        }
        write_text(folder / FACTS, json.dumps(facts, indent=2))
        return [asdict(record) for record in result.history]

    def _find_start(self, graphs: PreparedGraphs) -> Path | None:
        """Return the folder of the released encoder whose weights come first."""
        if self.config.training.start_from is None:
            return None
        released = ReleasedEncoder(self.config.training.start_from)
        released.check(graphs.vocabularies, graphs.variant)
        return released.folder

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Encode all graphs that are not encoded yet, and build the index of vectors.

        The vectors are beside the model: several indexes share them, and a killed run
        goes on with them.
        """
        from mathamr_kedro.systems.mathamr_plus.encoding import (  # noqa: PLC0415
            describe_vectors,
            encode_graphs,
        )
        from mathamr_kedro.vectors import build_index, open_index  # noqa: PLC0415

        encoder, config = Encoder(model.parent, self._compute), self.indexing
        trained = encoder.facts["prepared_graphs"]
        if trained != self.config.preprocessing.key:
            raise ConfigurationError(
                "Expected an encoder trained on the graphs "
                f"{self.config.preprocessing.key!r} (got one trained on {trained!r}); "
                "run the stage 'training' with the same preprocessing parameters"
            )
        vectors = encode_graphs(encoder, config.encoding, config.dtype)
        place = encoder.vectors_folder.relative_to(encoder.folder).as_posix()
        noted = {"vectors": place, "engine": asdict(config.engine)}
        write_text(folder / _VECTORS, json.dumps(noted, indent=2) + "\n")
        (folder / _ENGINE).mkdir()
        build_index(config.engine, vectors.posts, folder / _ENGINE)
        with open_index(config.engine, vectors.posts, folder / _ENGINE) as index:
            return {
                "encoder": encoder.checksum,
                "vectors_folder": f"{encoder.folder.name}/{place}",
                "engine": config.engine.engine,
                **describe_vectors(vectors, index),
            }

    def open(self, data: Collection, model: Path, folder: Path) -> MathAMRPlusIndex:
        """Return the index, asked by its strategies."""
        from mathamr_kedro.systems.mathamr_plus.encoding import (  # noqa: PLC0415
            open_vectors,
        )
        from mathamr_kedro.systems.mathamr_plus.index import (  # noqa: PLC0415
            MathAMRPlusIndex,
        )
        from mathamr_kedro.vectors import open_index  # noqa: PLC0415

        noted = read_json(folder / _VECTORS, "run the stage 'indexing' again")
        vectors = open_vectors(model.parent / noted["vectors"])
        engine = self._choose_engine(noted)
        return MathAMRPlusIndex(
            open_index(engine, vectors.posts, folder / _ENGINE),
            self.rankings,
            data.parents,
            vectors.topics,
            device=engine.searches_on,
        )

    def _choose_engine(self, noted: Mapping[str, Any]) -> EngineConfig:
        """Return the engine of the parameters, or that which built an index."""
        from mathamr_kedro.vectors import EngineConfig  # noqa: PLC0415

        wanted = self.indexing.engine
        built = read_parameters(EngineConfig, noted.get("engine", {}), "engine")
        is_there = wanted.describe_result() == built.describe_result()
        # A scan needs no files of its own.
        return wanted if is_there or wanted.engine == "exact" else built

    @property
    def _compute(self) -> ComputeConfig:
        return self.indexing.encoding.compute


def _open_curve(folder: Path) -> Any:
    """Return what draws the losses; a machine that only trains may lack matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    from mathamr_kedro.systems.mathamr_plus.report import (  # noqa: PLC0415
        TrainingCurve,
    )

    return TrainingCurve(folder / "curve.png")
