"""Prepared graphs of several collections, joined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import (
    GraphVariant,
    PreparedGraphs,
    ReleasedEncoder,
    Vocabularies,
    join_prepared,
)
from mathamr_kedro.graph.vocabulary import NodeVocabulary, RelationVocabulary
from tests.graph.test_prepared import PARAMETERS, POSTS, prepare

KNOWN = Vocabularies(
    NodeVocabulary.build({"set": 3, "map": 2}, 20, 5),
    RelationVocabulary.build({"mod": 2}),
)


@pytest.fixture
def two(tmp_path: Path) -> list[PreparedGraphs]:
    """The same posts in another order, so that the arrays number them otherwise."""
    ReleasedEncoder.write_vocabularies(tmp_path / "mine", KNOWN, GraphVariant())
    vocabulary = replace(PARAMETERS.vocabulary, source=str(tmp_path / "mine"))
    config = replace(PARAMETERS, vocabulary=vocabulary)
    orders = {"a": POSTS, "b": POSTS[::-1]}
    return [
        prepare(tmp_path / name, posts, config=config) for name, posts in orders.items()
    ]


def test_graphs_and_pairs_follow_one_another(two, tmp_path: Path) -> None:
    joined = join_prepared([part.folder for part in two], tmp_path / "joined")
    assert joined.posts.keys == [*two[0].posts.keys, *two[1].posts.keys]
    assert joined.post_type.tolist() == [0, 1, 2, 1, 1, 2, 1, 0]
    graphs = [part.posts.graph(n) for part in two for n in range(4)]
    assert [joined.posts.graph(n) for n in range(8)] == graphs
    for name in ("train_pairs", "validation_pairs"):
        one, other = (getattr(part, name) for part in two)
        assert np.array_equal(getattr(joined, name), [*one, *(other + 4)])
    assert joined.vocabularies.names == KNOWN.names
    assert joined.variant == two[0].variant
    joined.check()


def test_joined_graphs_keep_their_texts(two, tmp_path: Path) -> None:
    np.save(two[1].locate_texts("posts"), np.ones((4, 2), np.float16))
    joined = join_prepared([part.folder for part in two], tmp_path / "joined")
    assert joined.posts.texts.tolist() == [[0, 0]] * 4 + [[1, 1]] * 4


def test_the_same_graphs_are_joined_once(two, tmp_path: Path) -> None:
    folder, (one, other) = tmp_path / "joined", (part.folder for part in two)
    join_prepared([one, other], folder)
    before = (folder / "configuration.json").stat().st_mtime_ns
    join_prepared([one, other], folder)
    assert (folder / "configuration.json").stat().st_mtime_ns == before
    assert join_prepared([other, one], folder).posts.keys[0] == "13"


def test_other_vocabularies_are_refused(two, tmp_path: Path) -> None:
    plain = prepare(tmp_path / "plain")
    with pytest.raises(ConfigurationError, match=r"node types of .* too; prepare both"):
        join_prepared([two[0].folder, plain.folder], tmp_path / "joined")
    assert not (tmp_path / "joined").exists()
