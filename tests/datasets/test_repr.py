"""What a notebook shows of the objects that the catalog loads."""

from __future__ import annotations

import re

import pytest

from mathamr_kedro.corpus import OwnCollection, VisualIndex
from mathamr_kedro.datasets import RunFolder
from mathamr_kedro.experiments import CellStore
from tests.pipelines.search_world import build_index

SHOWN = {
    "posts": r"<ShardedTable of Post: 6 rows, in .*/02_intermediate/posts>",
    "formula_trees": r"<TreeStore: trees of 0 distinct formulas, in .*trees.sqlite>",
    "amr_graphs": r"<PenmanShards: 6 graphs, in .*/03_primary/amr_graphs>",
    "math_graphs": r"<MathGraphs: 6 graphs, in .*/03_primary/math_graphs>",
    "graph_arrays": r"<GraphFolder: 6 graphs, [\d,]{2,} nodes, in .*/\w+/posts>",
    "mathamr_plus.prepared": r"<PreparedGraphs: 6 graphs, [\d,]{2,} nodes, in .*>",
    "mathamr_plus.model": r"<Encoder: vectors of 8 numbers, in .*/mathamr_plus/\w+>",
    "mathamr_plus.index": r"<BuiltIndex of mathamr_plus, in .*/indexes/\w+>",
    "experiment_cells": r"<CellStore: 0 finished cells, in .*/experiment_cells>",
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return build_index(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("name", SHOWN)
def test_objects_say_what_they_hold_and_where(catalog, name):
    assert re.fullmatch(SHOWN[name], repr(catalog.load(name)))


def test_runs_that_are_not_there_are_none(tmp_path):
    assert repr(RunFolder(tmp_path)) == (
        f"<RunFolder: 0 runs of 0 systems on 0 topic sets, in {tmp_path}>"
    )
    assert repr(CellStore(tmp_path)).startswith("<CellStore: 0 finished cells")
    assert repr(VisualIndex.build([])) == "<VisualIndex: 0 formulas>"


def test_a_collection_counts_its_files(tmp_path):
    (tmp_path / "a.md").write_text("# A")
    assert repr(OwnCollection(tmp_path)) == f"<OwnCollection: 1 file, in {tmp_path}>"
