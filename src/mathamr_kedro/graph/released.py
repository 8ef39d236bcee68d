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

from mathamr_kedro.base.checksums import check_folder
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import Vocabularies

FOLDER = Path(__file__).parents[1] / "encoders"
VARIANT = "graph.json"
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

    def load_vocabularies(self, variant: GraphVariant) -> Vocabularies:
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
        return self.vocabularies

    @cached_property
    def variant(self) -> GraphVariant:
        """What it saw of the graphs that it was trained on."""
        values = json.loads((self.folder / VARIANT).read_text(encoding="utf-8"))
        return GraphVariant.of_record(values)

    @cached_property
    def vocabularies(self) -> Vocabularies:
        """Node types and forward relations of these graphs."""
        return Vocabularies.load(self.folder)

    def check(self, vocabularies: Vocabularies, variant: GraphVariant) -> None:
        """Refuse graphs whose numbers mean something else to the encoder.

        Raises:
            ConfigurationError: variant, node types or relations differ.
        """
        types, relations = expected = self.load_vocabularies(variant)
        if expected.names != vocabularies.names:
            raise ConfigurationError(
                "Expected graphs numbered by the vocabularies of the encoder "
                f"{self.name!r}, {len(types):,} node types and {len(relations):,} "
                f"relations (got {len(vocabularies.types):,} and "
                f"{len(vocabularies.relations):,} of their own); set "
                f"preprocessing.vocabulary.source to {self.name!r} and run the stage "
                "'preprocessing'"
            )

    @staticmethod
    def write_vocabularies(
        folder: Path, vocabularies: Vocabularies, variant: GraphVariant
    ) -> None:
        """Write what :meth:`load_vocabularies` reads."""
        folder.mkdir(parents=True, exist_ok=True)
        vocabularies.save(folder)
        text = json.dumps(asdict(variant), indent=2) + "\n"
        (folder / VARIANT).write_text(text, encoding="utf-8")
