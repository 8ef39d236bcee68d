"""Prepared graphs of several collections as one, to learn from all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mathamr_kedro.base.checksums import checksum, write_checksums
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.files import replace_folder, write_text
from mathamr_kedro.graph.preparation import CONFIGURATION
from mathamr_kedro.graph.prepared import PreparedGraphs
from mathamr_kedro.graph.shards.layout import VERSION
from mathamr_kedro.graph.shards.writer import join_shards

_PAIRS = ("train_pairs", "validation_pairs")


def join_prepared(folders: Sequence[Path], folder: Path) -> PreparedGraphs:
    """Write the posts and pairs of prepared graphs to one folder, in their order.

    Topics and single formulas stay behind: nothing is learnt from them. A folder that
    was joined from the same graphs is left as it is.

    Args:
        folders: of graphs of one variant, numbered by the same vocabularies.
        folder: to write.

    Raises:
        ConfigurationError: the same numbers mean different things in two of them.
    """
    parts = [PreparedGraphs(path) for path in folders]
    made_from = checksum([part.made_from for part in parts])
    if (folder / CONFIGURATION).is_file():
        found = PreparedGraphs(folder)
        if found.made_from == made_from:
            return found
    first, *others = parts
    for part in others:
        _refuse_differences(first, part)
    starts = np.cumsum([0, *(len(part.posts) for part in parts)])[:-1].tolist()
    with replace_folder(folder) as written:
        join_shards([part.folder / "posts" for part in parts], written / "posts")
        for name in _PAIRS:
            rows = [
                getattr(part, name) + start
                for part, start in zip(parts, starts, strict=True)
            ]
            np.save(written / f"{name}.npy", np.concatenate(rows))
        post_types = np.concatenate([part.post_type for part in parts])
        np.save(written / "post_type.npy", post_types)
        first.types.save(written / "types.json")
        first.relations.save(written / "relations.json")
        write_checksums(written)
        content = {
            "configuration": first.configuration,
            "version": VERSION,
            "made_from": made_from,
            "report": {"joined": len(parts)},
        }
        write_text(written / CONFIGURATION, json.dumps(content, indent=2) + "\n")
    return PreparedGraphs(folder)


def _refuse_differences(first: PreparedGraphs, other: PreparedGraphs) -> None:
    one, two = (
        (graphs.variant, graphs.types.names, graphs.relations.names)
        for graphs in (first, other)
    )
    names = ("variant", "node types", "relations")
    for name, expected, found in zip(names, one, two, strict=True):
        if found != expected:
            raise ConfigurationError(
                f"Expected the {name} of {str(first.folder)!r} in "
                f"{str(other.folder)!r} too; prepare both with the same "
                "preprocessing.vocabulary.source and preprocessing.graph"
            )
