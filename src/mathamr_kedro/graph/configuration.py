"""Parameters of preprocessing: they say which graphs the later stages see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.graph.pairs import SplitConfig
from mathamr_kedro.graph.released import ReleasedEncoder
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import VocabularyConfig


@dataclass(frozen=True)
class PreprocessingConfig:
    """Parameters of the stage, ``conf/<env>/parameters/preprocessing.yml``.

    Other stages read it too, to find the graphs that were prepared with it.
    """

    graph: GraphVariant = field(default_factory=GraphVariant)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    pairs: SplitConfig = field(default_factory=SplitConfig)
    text_model: str | None = None
    """Sentence encoder whose vectors document nodes read (``training.model.text_dim``):
    a known name or a folder; ``None``: they read none."""
    workers: WorkerConfig = field(default_factory=WorkerConfig)
    """How the stage runs; never changes what it makes."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> PreprocessingConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="preprocessing")

    def check_fusion(self, mode: str) -> None:
        """Refuse trees that graphs of a fusion mode (``graph_fusion.mode``) lack.

        Raises:
            ConfigurationError: layout trees are asked for, and there are none.
        """
        if mode == "mathamr" and self.graph.formula_mode in ("slt", "both"):
            raise ConfigurationError(
                "Expected preprocessing.graph.formula_mode 'opt' or 'none' for graphs "
                "of graph_fusion.mode 'mathamr', which have no layout trees (got "
                f"{self.graph.formula_mode!r})"
            )

    def check_machine(self) -> None:
        """Refuse a released encoder that is not here, or is of other graphs."""
        if self.vocabulary.source is not None:
            ReleasedEncoder(self.vocabulary.source).load_vocabularies(self.graph)

    def describe(self) -> dict[str, Any]:
        """Return what the prepared graphs depend on, as plain values."""
        found: dict[str, Any] = {
            "graph": asdict(self.graph),
            "vocabulary": asdict(self.vocabulary),
            "pairs": asdict(self.pairs),
        }
        if self.text_model is not None:
            # A folder is known by its name, wherever it is.
            found["text_model"] = PurePath(self.text_model).name
        return found

    @property
    def variant_key(self) -> str:
        """The name of the folder of the blocks, which only depend on the variant."""
        return checksum(asdict(self.graph))

    @property
    def key(self) -> str:
        """The name of the folder of the prepared graphs."""
        return checksum(self.describe())
