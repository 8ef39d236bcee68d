"""Released encoders: folders with everything that other collections need of a training.

::

    encoders/mathamr_plus/
      model.json, weights.pt          the encoder
      types.json, relations.json      the vocabularies that number its graphs
      graph.json                      the variant of its graphs
      README.md                       its card: data, licence, figures, limits

A released encoder is named by its folder below ``encoders`` of this package, or by the
path of a folder of your own.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import NodeVocabulary, RelationVocabulary

FOLDER = Path(__file__).parents[1] / "encoders"
VARIANT = "graph.json"


def find_released(name: str) -> Path:
    """Return the folder of a released encoder.

    Raises:
        MissingInputError: there is none of that name.
    """
    folder = next((f for f in (FOLDER / name, Path(name)) if f.is_dir()), None)
    if folder is None:
        known = sorted(f.parent.name for f in FOLDER.glob(f"*/{VARIANT}"))
        raise MissingInputError(
            f"Expected a released encoder {name!r}: one of {known}, or a folder"
        )
    return folder


def load_vocabularies(
    name: str, variant: GraphVariant
) -> tuple[NodeVocabulary, RelationVocabulary]:
    """Return the vocabularies of a released encoder for graphs of its variant.

    Raises:
        ConfigurationError: the encoder was trained on graphs of another variant.
    """
    folder = find_released(name)
    trained = json.loads((folder / VARIANT).read_text(encoding="utf-8"))
    if trained != asdict(variant):
        raise ConfigurationError(
            f"Expected the graphs that the encoder {name!r} was trained on: {trained} "
            f"(got {asdict(variant)}); change preprocessing.graph"
        )
    types = NodeVocabulary.load(folder / "types.json")
    return types, RelationVocabulary.load(folder / "relations.json")


def release_vocabularies(
    folder: Path,
    types: NodeVocabulary,
    relations: RelationVocabulary,
    variant: GraphVariant,
) -> None:
    """Write what :func:`load_vocabularies` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    types.save(folder / "types.json")
    relations.save(folder / "relations.json")
    text = json.dumps(asdict(variant), indent=2) + "\n"
    (folder / VARIANT).write_text(text, encoding="utf-8")
