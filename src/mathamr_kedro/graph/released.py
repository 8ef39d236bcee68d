"""Released encoders: folders with everything that other collections need of a training.

::

    encoders/mathamr_plus/
      model.json, weights.pt          the encoder, in float16
      types.json, relations.json      the vocabularies that number its graphs
      graph.json                      the variant of its graphs
      README.md                       its card: data, licence, figures, limits
      seals.json                      size and checksum of the others, the card aside

A released encoder is named by its folder below ``encoders`` of this package, or by the
path of a folder of your own.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mathamr_kedro.base.checksums import check_folder
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import NodeVocabulary, RelationVocabulary

if TYPE_CHECKING:
    from mathamr_kedro.graph.prepared import PreparedGraphs

FOLDER = Path(__file__).parents[1] / "encoders"
VARIANT = "graph.json"
TYPES, RELATIONS = "types.json", "relations.json"
REMEDY = "install the package, or release the encoder, again"


class ReleasedEncoder:
    """A released encoder, by name or folder.

    Raises:
        MissingInputError: there is none of that name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = self._find()

    def _find(self) -> Path:
        for folder in (FOLDER / self.name, Path(self.name)):
            if (folder / VARIANT).is_file():
                return folder
        known = sorted(f.parent.name for f in FOLDER.glob(f"*/{VARIANT}"))
        raise MissingInputError(
            f"Expected a released encoder (got {self.name!r}): one of {known}, or a "
            f"folder with {VARIANT}, written by `mathamr export release`"
        )

    def load_vocabularies(
        self, variant: GraphVariant
    ) -> tuple[NodeVocabulary, RelationVocabulary]:
        """Return the vocabularies for graphs of the encoder's variant.

        Raises:
            ConfigurationError: it was trained on graphs of another variant.
        """
        if self.variant != variant:
            raise ConfigurationError(
                f"Expected the graphs that the encoder {self.name!r} was trained on: "
                f"{asdict(self.variant)} (got {asdict(variant)}); change "
                "preprocessing.graph"
            )
        check_folder(self.folder, REMEDY, whole=True)
        return self.types, self.relations

    @cached_property
    def variant(self) -> GraphVariant:
        """What it saw of the graphs that it was trained on."""
        values = json.loads((self.folder / VARIANT).read_text(encoding="utf-8"))
        return GraphVariant.of_record(values)

    @cached_property
    def types(self) -> NodeVocabulary:
        """Node types of these graphs."""
        return NodeVocabulary.load(self.folder / TYPES)

    @cached_property
    def relations(self) -> RelationVocabulary:
        """Forward relations of these graphs."""
        return RelationVocabulary.load(self.folder / RELATIONS)

    def check(self, graphs: PreparedGraphs) -> None:
        """Refuse graphs whose numbers mean something else to the encoder.

        Raises:
            ConfigurationError: variant, node types or relations differ.
        """
        types, relations = self.load_vocabularies(graphs.variant)
        expected = (types.names, relations.names)
        if expected != (graphs.types.names, graphs.relations.names):
            raise ConfigurationError(
                "Expected graphs numbered by the vocabularies of the encoder "
                f"{self.name!r}, {len(types):,} node types and {len(relations):,} "
                f"relations (got {len(graphs.types):,} and {len(graphs.relations):,} "
                f"of their own); set preprocessing.vocabulary.source to {self.name!r} "
                "and run the stage 'preprocessing'"
            )

    @staticmethod
    def write_vocabularies(
        folder: Path,
        types: NodeVocabulary,
        relations: RelationVocabulary,
        variant: GraphVariant,
    ) -> None:
        """Write what :meth:`load_vocabularies` reads."""
        folder.mkdir(parents=True, exist_ok=True)
        types.save(folder / TYPES)
        relations.save(folder / RELATIONS)
        text = json.dumps(asdict(variant), indent=2) + "\n"
        (folder / VARIANT).write_text(text, encoding="utf-8")
