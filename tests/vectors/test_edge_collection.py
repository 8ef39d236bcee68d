"""Folders that the embedded engine cannot open."""

from __future__ import annotations

import pytest
import qdrant_edge as qe

from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.vectors.edge_collection import EdgeCollection
from mathamr_kedro.vectors.protocol import HnswConfig


class PanicException(BaseException):
    """What a panic of Rust is raised as."""


def fail_with(error):
    def load(path):
        raise error

    return load


def test_a_folder_without_an_index_is_named(tmp_path):
    with pytest.raises(DamagedFileError, match=f"'{tmp_path}'.*delete that folder"):
        EdgeCollection.open(tmp_path)


def test_a_panic_of_the_engine_is_damage_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr(qe.EdgeShard, "load", fail_with(PanicException("at line 3")))
    with pytest.raises(DamagedFileError, match="at line 3"):
        EdgeCollection.open(tmp_path)


def test_who_stops_the_program_has_not_damaged_the_index(tmp_path, monkeypatch):
    monkeypatch.setattr(qe.EdgeShard, "load", fail_with(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        EdgeCollection.open(tmp_path)


def test_a_closed_collection_answers_no_more(tmp_path):
    collection = EdgeCollection.create(tmp_path / "posts", "posts", 4, HnswConfig())
    assert collection.count() == 0
    collection.close()
    with pytest.raises(Exception, match="not initialized"):
        collection.count()
    EdgeCollection.open(tmp_path / "posts").close()
