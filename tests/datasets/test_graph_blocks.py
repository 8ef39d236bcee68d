"""Blocks of graphs in the catalog, one folder per variant."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.graph_blocks import GraphBlocks, VariantShard
from mathamr_kedro.graph import (
    GraphBlock,
    GraphRecord,
    GraphVariant,
    RecordFile,
    build_graph_blocks,
)


def make_block(tmp_path: Path, name: str) -> GraphBlock:
    path = tmp_path / f"{name}.amr.txt"
    RecordFile(path).write([GraphRecord(name, "(s / set)")])
    return build_graph_blocks([path], GraphVariant())[0]


def test_save_and_load(tmp_path: Path) -> None:
    blocks = GraphBlocks(tmp_path / "blocks")
    for name in ("b", "a"):
        block = make_block(tmp_path, name)
        shard = Shard(name, "f", block, {"written": 1, "dropped": 0})
        blocks.save(VariantShard("v1", shard))
    blocks.save(VariantShard("v1", EndOfShards("f")))
    assert [block.keys for block in blocks.blocks("v1")] == [["a"], ["b"]]
    assert list(blocks.keys("v1")) == ["a", "b"]
    assert blocks.folder("v1").total("written") == 2
    assert blocks.folder("v1").finished("f") == {"a", "b"}
    assert blocks.folder("v1").finished("g") == frozenset()


def test_variants_share_nothing(tmp_path: Path) -> None:
    blocks = GraphBlocks(tmp_path / "blocks")
    shard = Shard("a", "f", make_block(tmp_path, "a"), {})
    blocks.save(VariantShard("v1", shard))
    blocks.save(VariantShard("v2", EndOfShards("f")))
    assert blocks.folder("v2").finished("f") == frozenset()
    assert list(blocks.keys("v2")) == []


def test_exists(tmp_path: Path) -> None:
    blocks = GraphBlocks(tmp_path / "blocks")
    assert not blocks.list()
    blocks.save(VariantShard("v1", EndOfShards("f")))
    assert len(blocks.list()) == 1


def test_load_missing_file(tmp_path: Path) -> None:
    blocks = GraphBlocks(tmp_path / "blocks")
    with pytest.raises(MissingInputError, match="missing; run the stage"):
        list(blocks.blocks("v1"))
