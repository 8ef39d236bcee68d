"""Releasing an encoder: the model of a training with the vocabularies of its graphs.

::

    release_encoder(Path("encoders/mine"), Path("out/model"), PreparedGraphs(folder))

The folder can be used by name or path in ``preprocessing.vocabulary.source`` and
``training.start_from`` (see :mod:`mathamr_kedro.graph.released`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mathamr_kedro.base.checksums import write_checksums
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder
from mathamr_kedro.graph import (
    GraphVariant,
    PreparedGraphs,
    ReleasedEncoder,
    make_schema,
)
from mathamr_kedro.learning.card import Provenance
from mathamr_kedro.learning.checkpoints import HISTORY, MODEL
from mathamr_kedro.learning.trainer import FACTS
from mathamr_kedro.model import ComputeConfig, load_model, read_shape, save_model
from mathamr_kedro.model.weights import CONFIG

CARD = "README.md"


def release_encoder(
    folder: Path,
    model_dir: Path,
    graphs: PreparedGraphs,
    provenance: Provenance | None = None,
    overwrite: bool = False,
) -> None:
    """Write the folder of a released encoder atomically.

    Args:
        folder: to write; its name is the encoder's.
        model_dir: of a training, or the folder of the training itself. What is
            beside the model says what it was trained with.
        graphs: that it was trained on.
        provenance: what else the card shall tell.
        overwrite: replace an existing folder, with its card.

    Raises:
        ConfigurationError: the folder exists, or the graphs are not the model's.
    """
    if folder.exists() and not overwrite:
        raise ConfigurationError(
            f"Expected a new folder (there is {str(folder)!r}); its card may have been "
            "edited: choose another name, or replace it with --replace"
        )
    model_dir = find_model(model_dir)
    model = load_model(model_dir, ComputeConfig(device="cpu"))
    schema = make_schema(graphs.types, graphs.relations)
    if model.schema != schema:
        raise ConfigurationError(
            f"Expected a model of the graphs in {str(graphs.folder)!r}: {schema} (got "
            f"{model.schema} in {str(model_dir)!r}); choose the environment whose "
            "graphs it was trained on"
        )
    variant = GraphVariant.of_record(graphs.configuration["graph"])
    known = replace(
        provenance or Provenance(),
        facts=_read(model_dir.parent / FACTS, {}),
        history=_read(model_dir.parent / HISTORY, []),
    )
    with replace_folder(folder) as part:
        ReleasedEncoder.write_vocabularies(
            part, graphs.types, graphs.relations, variant
        )
        save_model(part, model, half=True)
        card = known.write_card(folder.name, model, variant)
        (part / CARD).write_text(card, encoding="utf-8")
        write_checksums(part, skip=(CARD,))


def find_model(folder: Path) -> Path:
    """Return the folder of the model, given it or the one of its training."""
    inner = Path(folder) / MODEL
    return inner if (inner / CONFIG).is_file() else Path(folder)


def has_same_weights(one: Path, two: Path) -> bool:
    """Whether two model folders hold the same weights, as far as float16 can tell."""
    if read_shape(one) != read_shape(two):
        return False
    cpu = ComputeConfig(device="cpu")
    first, second = (load_model(folder, cpu).state_dict() for folder in (one, two))
    return all(torch.equal(v.half(), second[n].half()) for n, v in first.items())


def _read(path: Path, default: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else default
