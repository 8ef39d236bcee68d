"""Prepared graphs of several collections, joined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph.prepared import PreparedGraphs, PreparedStore, join_prepared
from mathamr_kedro.graph.vocabulary import NodeVocabulary
from tests.graph.test_prepared import PARAMETERS, prepare


def write(tmp_path: Path, name: str) -> PreparedGraphs:
    """Prepare four posts, whose ids begin with ``name``."""
    preparation = prepare(tmp_path, made_from=name)
    split = preparation.split
    posts = [
        block._replace(keys=[name + key for key in block.keys])
        for block in preparation.posts
    ]
    pairs = [
        [(name + a, name + b) for a, b in part]
        for part in (split.train, split.validation)
    ]
    store = PreparedStore(tmp_path / name)
    store.save(replace(preparation, posts=posts, split=type(split)(*pairs)))
    return store.open(PARAMETERS)


def test_graphs_and_pairs_follow_one_another(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a"), write(tmp_path, "b")
    joined = join_prepared([one.folder, two.folder], tmp_path / "joined")
    assert joined.posts.keys == [*one.posts.keys, *two.posts.keys]
    assert joined.post_type.tolist() == [0, 1, 2, 1] * 2
    for part in (one, two):
        for name in ("train_pairs", "validation_pairs"):
            expected = [
                [part.posts.keys[i] for i in row] for row in getattr(part, name)
            ]
            found = [
                [joined.posts.keys[i] for i in row] for row in getattr(joined, name)
            ]
            assert all(row in found for row in expected)
        for place, key in enumerate(part.posts.keys):
            graph = joined.posts.graph(joined.posts.position(key))
            expected_graph = part.posts.graph(place)
            assert np.array_equal(graph.node_type, expected_graph.node_type)
            assert np.array_equal(graph.source, expected_graph.source)
    assert joined.types.names == one.types.names
    assert joined.variant == one.variant


def test_the_same_graphs_are_joined_once(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a"), write(tmp_path, "b")
    folder = tmp_path / "joined"
    join_prepared([one.folder, two.folder], folder)
    before = (folder / "configuration.json").stat().st_mtime_ns
    join_prepared([one.folder, two.folder], folder)
    assert (folder / "configuration.json").stat().st_mtime_ns == before
    assert join_prepared([two.folder, one.folder], folder).posts.keys[0] == "b10"


def test_other_vocabularies_are_refused(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a"), write(tmp_path, "b")
    types = two.types.names
    NodeVocabulary([*types[:-1], "other"]).save(two.folder / "types.json")
    (two.folder / "seals.json").unlink()
    with pytest.raises(ConfigurationError, match=r"node types of .* too; prepare both"):
        join_prepared([one.folder, two.folder], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()
