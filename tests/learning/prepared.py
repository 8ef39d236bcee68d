"""What preprocessing leaves, as far as training reads it."""

from __future__ import annotations

import shutil
from dataclasses import asdict

import numpy as np

from mathamr_kedro.graph import GraphVariant
from mathamr_kedro.graph.prepared import write_configuration
from mathamr_kedro.graph.vocabulary import (
    SPECIAL_TYPES,
    NodeVocabulary,
    RelationVocabulary,
)

TEACHER_WIDTH = 64
"""Instead of 2,048 hashed patterns, whose eigenvectors take longer than a training."""


def write_prepared(shards, folder, held_out=5):
    """Write the graphs of shards with 20 pairs of them, the last ones held out."""
    shutil.copytree(shards.folder, folder / "posts")
    variant = {"graph": asdict(GraphVariant())}
    write_configuration(folder, variant, ".", "", {}, {})
    schema = shards.schema
    types = [f"V!{i}" for i in range(schema.num_node_types)]
    types[: len(SPECIAL_TYPES)] = SPECIAL_TYPES
    roles = ["slt", *"nab", *(f"ARG{i}" for i in range(schema.num_forward))]
    NodeVocabulary(types).save(folder / "types.json")
    RelationVocabulary(roles[: schema.num_forward]).save(folder / "relations.json")
    rows = np.arange(40).reshape(20, 2)
    np.save(folder / "train_pairs.npy", rows[: 20 - held_out])
    np.save(folder / "validation_pairs.npy", rows[20 - held_out :])
