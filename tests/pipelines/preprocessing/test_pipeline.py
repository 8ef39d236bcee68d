"""The preprocessing stage on a tiny collection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kedro.io import DatasetError

from mathamr_kedro.graph import (
    ArrayBuilder,
    FusedRecord,
    StoredTrees,
    VocabularyNumbering,
)
from mathamr_kedro.integrations import from_pyg, to_pyg
from tests.pipelines.graph_world import (
    FIRST,
    TOPIC,
    kill_stage,
    open_catalog,
    run_stage,
    write_inputs,
)

HALF = {"pairs": {"train_share": 0.5}, "vocabulary": {"rare_numbers_below": 1}}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    run_stage(folder, "graph_fusion")
    return folder


@pytest.fixture(scope="module")
def catalog(data: Path):
    return run_stage(data, "preprocessing", preprocessing=HALF)


@pytest.fixture(scope="module")
def prepared(catalog):
    return catalog.load("mathamr_plus.prepared")


def test_every_graph_is_there(prepared) -> None:
    assert prepared.posts.keys == ["1", "2", "3", "4"]
    assert prepared.topics.keys == ["A.1"]
    assert prepared.post_type.tolist() == [0, 1, 0, 1]


def test_pairs_are_restricted_to_graphs_that_exist(prepared) -> None:
    pairs = [*prepared.train_pairs.tolist(), *prepared.validation_pairs.tolist()]
    assert sorted(pairs) == [[0, 1], [2, 3]]
    assert len(prepared.train_pairs) == 1
    assert prepared.report["pairs_without_graph"] == 2


def test_the_vocabulary_knows_training_graphs_alone(prepared) -> None:
    seen = {prepared.posts.keys[n] for n in prepared.train_pairs[0]}
    words = {"1": "even-01", "3": "function"}
    for key, word in words.items():
        assert (word in prepared.types.names) == (key in seen)


def test_graphs_hold_the_hierarchy(prepared) -> None:
    graph = prepared.posts.graph(0)
    # even-01, FORMULA_0 with 3 + 2 nodes, FORMULA_1 with 3 + 3; then virtual nodes
    assert graph.num_content == 1 + 1 + 5 + 1 + 6
    assert graph.member_count.tolist() == [5, 6, 2, 4]
    assert graph.representative.tolist() == [14, 15, 16, 17]
    assert graph.representative_number.tolist() == [0, 1, 0, 0]
    graph.check(prepared.posts.schema)
    assert (
        from_pyg(to_pyg(graph, prepared.posts.schema), prepared.posts.schema) == graph
    )


def test_equal_formulas_have_equal_labels(prepared) -> None:
    first, third = prepared.posts.graph(0), prepared.posts.graph(2)
    assert first.representative_label[0] == third.representative_label[0] > 0
    assert (
        first.representative_label[1]
        == prepared.topics.graph(0).representative_label[0]
    )


def test_a_record_alone_gives_the_arrays_of_the_stage(prepared, catalog) -> None:
    find_trees = StoredTrees(catalog.load("formula_trees").path)
    numbering = VocabularyNumbering(prepared.vocabularies)
    builder = ArrayBuilder(numbering, prepared.variant)
    stored = (FIRST[0], prepared.posts.graph(0)), (TOPIC, prepared.topics.graph(0))
    for record, graph in stored:
        # How formulas look (labels) is asked only in training.
        nothing = np.zeros_like(graph.representative_label)
        expected = replace(graph, representative_label=nothing)
        fused = FusedRecord.read(record, find_trees)
        assert builder.build(fused.graph) == expected


def test_reports_are_written(catalog) -> None:
    statistics = catalog.load("preprocessing_statistics")
    assert statistics["posts"] == 4
    assert statistics["vocabulary"]["graphs"] == 2
    assert "## Vocabulary" in catalog.load("preprocessing_report")
    assert catalog.exists("preprocessing_figure")


def list_times(data: Path) -> dict[Path, int]:
    folders = data / "04_feature/graph_arrays", data / "05_model_input/mathamr_plus"
    files = [file for folder in folders for file in folder.rglob("*.*")]
    assert files
    return {file: file.stat().st_mtime_ns for file in files}


def test_a_second_run_does_nothing_anew(catalog, prepared, data: Path) -> None:
    before = list_times(data)
    run_stage(data, "preprocessing", preprocessing=HALF)
    assert before == list_times(data)


def test_another_variant_has_a_folder_of_its_own(catalog, prepared, data: Path) -> None:
    changes = {
        **HALF,
        "graph": {"formula_mode": "opt", "structure": "global_single"},
        "workers": {"workers": 2},
    }
    before = list_times(data)
    other = run_stage(data, "preprocessing", preprocessing=changes).load(
        "mathamr_plus.prepared"
    )
    assert other.folder != prepared.folder
    assert other.posts.graph(0).num_content == 1 + 1 + 3 + 1 + 3
    assert other.posts.graph(0).representative.tolist() == [9]
    assert np.array_equal(other.train_pairs, prepared.train_pairs)
    assert before.items() <= list_times(data).items()
    run_stage(data, "preprocessing", preprocessing=HALF)  # the pointer goes back
    found = open_catalog(data).load("mathamr_plus.prepared")
    assert found.folder == prepared.folder


def test_another_vocabulary_shares_the_arrays(catalog, prepared, data: Path) -> None:
    changes = {**HALF, "vocabulary": {"rare_numbers_below": 1, "size": 8}}
    arrays = {f: t for f, t in list_times(data).items() if "graph_arrays" in f.parts}
    other = run_stage(data, "preprocessing", preprocessing=changes).load(
        "mathamr_plus.prepared"
    )
    assert len(other.types) == 8 < len(prepared.types)
    assert other.posts.folder == prepared.posts.folder
    assert arrays.items() <= list_times(data).items()


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, number: int) -> None:
    write_inputs(tmp_path)
    run_stage(tmp_path, "graph_fusion")
    kill_stage(
        tmp_path, "preprocessing", ("*/posts/progress.json", number), preprocessing=HALF
    )
    with pytest.raises(DatasetError):  # two shards, and the end of all
        open_catalog(tmp_path).load("graph_arrays")
    catalog = run_stage(tmp_path, "preprocessing", preprocessing=HALF)
    killed = catalog.load("mathamr_plus.prepared")
    write_inputs(tmp_path / "whole")
    run_stage(tmp_path / "whole", "graph_fusion")
    catalog = run_stage(tmp_path / "whole", "preprocessing", preprocessing=HALF)
    whole = catalog.load("mathamr_plus.prepared")
    assert killed.made_from == whole.made_from
    assert killed.posts.checksum == whole.posts.checksum


@pytest.mark.slow
def test_new_graphs_replace_the_old_ones(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    run_stage(tmp_path, "graph_fusion")
    run_stage(tmp_path, "preprocessing")
    write_inputs(tmp_path, FIRST[:1])
    run_stage(tmp_path, "graph_fusion")
    catalog = run_stage(tmp_path, "preprocessing")
    graphs = catalog.load("mathamr_plus.prepared")
    assert graphs.posts.keys == ["1", "3", "4"]
    assert graphs.report["vocabulary"]["graphs"] == 2
