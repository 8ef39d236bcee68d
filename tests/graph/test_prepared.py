"""Folders of prepared graphs, and the arrays that they share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.corpus import FormulaIds
from mathamr_kedro.graph import (
    GraphRecord,
    GraphVariant,
    PreparedGraphs,
    PreprocessingConfig,
    describe_prepared,
    prepare_graphs,
    report_preparation,
)
from tests.graph.arrays_world import build, mention

PARAMETERS = PreprocessingConfig()
POSTS = [
    GraphRecord(
        "10", "(s / set :mod (f / FORMULA_0))", "question", (mention(0, "70", " "),)
    ),
    GraphRecord("11", "(m / map :mod (s / set))", "answer"),
    GraphRecord("12", "(m / map)", "strange"),
    GraphRecord("13", "(m / map)", "answer"),
]
PAIRS = [("10", "13"), ("10", "11"), ("10", "99")]


def prepare(
    root: Path,
    posts: Sequence[GraphRecord] = POSTS,
    topic: str = "A.1",
    returnable: Sequence[str] = (),
    pairs_from: str = "pairs",
    config: PreprocessingConfig = PARAMETERS,
) -> PreparedGraphs:
    arrays = root / "graph_arrays" / config.variant_key
    parts = {
        "posts": posts,
        "topics": [GraphRecord(topic, "(s / set)", "topic")],
        "formulas": [],
    }
    split = replace(config.pairs, train_share=0.5)
    return prepare_graphs(
        root / "prepared",
        {
            n: build(arrays / n, {"a": found}, config.graph)
            for n, found in parts.items()
        },
        PAIRS,
        FormulaIds(returnable),
        replace(config, pairs=split),
        pairs_from,
        repr(returnable),
    )


def list_times(graphs: PreparedGraphs) -> dict[str, int]:
    return {f.name: f.stat().st_mtime_ns for f in graphs.folder.iterdir()}


def test_a_folder_holds_what_training_needs(tmp_path: Path) -> None:
    found = prepare(tmp_path)
    assert found.posts.keys == ["10", "11", "12", "13"]
    assert found.topics.keys == ["A.1"]
    assert len(found.formulas) == 0
    assert found.post_type.tolist() == [0, 1, 2, 1]
    pairs = [*found.train_pairs.tolist(), *found.validation_pairs.tolist()]
    assert sorted(pairs) == [[0, 1], [0, 3]]
    assert set(found.types.names[6:]) == {"set", "map", "FORMULA_0"}
    assert found.relations.find("mod") == 1
    graph = found.posts.graph(1)
    assert [found.types.names[n] for n in graph.node_type[:2]] == ["map", "set"]
    graph.check(found.posts.schema)
    assert (
        found.folder.name
        == replace(PARAMETERS, pairs=replace(PARAMETERS.pairs, train_share=0.5)).key
    )
    formula_ids, visual_ids = found.posts.name_formulas(range(4))
    assert (list(formula_ids), list(visual_ids)) == (["0"], ["70"])
    assert found.report["pairs_without_graph"] == 1


def test_a_data_root_can_be_moved(tmp_path: Path) -> None:
    keys = prepare(tmp_path / "one").posts.keys
    (tmp_path / "one").rename(tmp_path / "two")
    (folder,) = (tmp_path / "two/prepared").iterdir()
    assert PreparedGraphs(folder).posts.keys == keys


def test_missing_arrays_are_asked_for(tmp_path: Path) -> None:
    found = prepare(tmp_path / "one")
    (tmp_path / "one/graph_arrays").rename(tmp_path / "elsewhere")
    graphs = PreparedGraphs(found.folder)
    assert graphs.types.names == found.types.names  # they need no arrays
    with pytest.raises(MissingInputError, match="copy this folder too"):
        graphs.posts  # noqa: B018


def test_arrays_that_were_built_again_are_refused(tmp_path: Path) -> None:
    config = replace(PARAMETERS, vocabulary=replace(PARAMETERS.vocabulary, size=100))
    other = prepare(tmp_path, config=config).folder
    prepare(tmp_path, POSTS[:2])
    with pytest.raises(MissingInputError, match=r"\(got others\); run the stage"):
        PreparedGraphs(other).posts  # noqa: B018
    assert PreparedGraphs(other).topics.keys == ["A.1"]


def test_flags_say_which_formulas_may_be_returned(tmp_path: Path) -> None:
    assert prepare(tmp_path).load_returnable("posts").tolist() == [False]
    found = prepare(tmp_path, returnable=["0"])
    assert found.load_returnable("posts").tolist() == [True]
    assert found.load_returnable("formulas").tolist() == []


def test_returnable_formulas_without_a_graph_are_named(tmp_path: Path) -> None:
    before = prepare(tmp_path)
    with pytest.raises(
        MalformedInputError, match=r"of the 3 .* none for 2, .*'98', '99'"
    ):
        prepare(tmp_path, returnable=["0", "99", "98"])
    assert PreparedGraphs(before.folder).posts.keys == before.posts.keys


def test_equal_input_is_not_written_twice_and_other_input_replaces(
    tmp_path: Path,
) -> None:
    before = prepare(tmp_path)
    again = prepare(tmp_path)
    assert list_times(again) == list_times(before)
    assert again.made_from == before.made_from
    other = prepare(tmp_path, pairs_from="others")
    assert other.folder == before.folder
    assert other.made_from != before.made_from
    assert prepare(tmp_path, POSTS[:2]).made_from != before.made_from


def test_other_topics_leave_what_is_learnt_from_alone(tmp_path: Path) -> None:
    before = prepare(tmp_path)
    after = prepare(tmp_path, topic="A.7")
    assert after.topics.keys == ["A.7"]
    assert after.made_from == before.made_from
    assert after.encoded_from == before.encoded_from
    assert after.sources["topics"] != before.sources["topics"]


def test_a_kill_while_a_folder_changes_is_mended(tmp_path: Path, monkeypatch) -> None:
    folder = prepare(tmp_path).folder
    rename = os.replace

    def stop(source, target):
        if Path(target).name == "topics.arrays":
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        prepare(tmp_path, pairs_from="others")
    monkeypatch.undo()
    with pytest.raises(MissingInputError, match="run the stage 'preprocessing'"):
        PreparedGraphs(folder)
    assert prepare(tmp_path).topics.keys == ["A.1"]


def test_damage_is_mended(tmp_path: Path) -> None:
    found = prepare(tmp_path)
    whole = (found.folder / "types.json").read_bytes()
    (found.folder / "types.json").write_bytes(whole[:-9])
    prepare(tmp_path)
    assert (found.folder / "types.json").read_bytes() == whole


def test_a_folder_of_an_older_version_is_written_anew(tmp_path: Path) -> None:
    folder = prepare(tmp_path).folder
    file = folder / "configuration.json"
    file.write_text(file.read_text().replace('"version": 3', '"version": 2'))
    (folder / "posts").mkdir()  # it had arrays of its own
    (folder / "posts" / "edge.npy").touch()
    with pytest.raises(MissingInputError, match=r"version 3 .* \(got 2\); run the st"):
        PreparedGraphs(folder)
    prepare(tmp_path)
    assert not (folder / "posts").exists()


def test_vectors_of_texts_stay_with_their_graphs(tmp_path: Path) -> None:
    found = prepare(tmp_path)
    texts = {part: found.locate_texts(part) for part in ("posts", "topics")}
    for part, file in texts.items():
        np.save(file, np.ones((len(found.open(part)), 2), np.float16))
    assert PreparedGraphs(found.folder).posts.texts.tolist() == [[1, 1]] * 4
    found = prepare(tmp_path, topic="A.7")
    assert found.posts.texts is not None
    assert found.topics.texts is None  # those of A.1 are gone
    assert not texts["topics"].exists()


def test_each_configuration_has_its_folder() -> None:
    others = [
        replace(PARAMETERS, graph=GraphVariant(formula_mode="opt")),
        replace(PARAMETERS, pairs=replace(PARAMETERS.pairs, seed=1)),
        replace(PARAMETERS, vocabulary=replace(PARAMETERS.vocabulary, size=100)),
    ]
    keys = {p.key for p in [PARAMETERS, *others]}
    assert len(keys) == 4
    same = replace(PARAMETERS, workers=replace(PARAMETERS.workers, workers=9))
    assert same.key == PARAMETERS.key


def test_graphs_of_other_parameters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="run the stage 'preprocessing'"):
        PARAMETERS.refuse_others(prepare(tmp_path))


def test_a_variant_that_makes_no_sense_is_refused_with_its_place() -> None:
    values = {"graph": {"structure": "none", "auxiliary_edges": "full"}}
    with pytest.raises(ConfigurationError, match=r"preprocessing\.graph: .*hierarchy"):
        PreprocessingConfig.read(values)


def test_the_report_shows_vocabulary_and_graphs(tmp_path: Path) -> None:
    statistics = describe_prepared(prepare(tmp_path))
    assert statistics["nodes_per_graph"] == 6 / 4
    assert statistics["virtual_nodes_per_graph"] == 9 / 4  # sentence, document
    report, figure = report_preparation(statistics)
    assert "| graph.formula_mode | both |" in report
    assert statistics["coverage_of_posts"] == 1.0
    assert "| Coverage of the graphs counted | 100.00% |" in report
    assert "| Coverage of all posts | 100.00% |" in report
    assert "| Pairs without a graph | 1 |" in report
    assert figure.axes[0].lines[0].get_ydata()[-1] == 1
    read = statistics["configuration"] | {"text_model": "mpnet"}
    report, _ = report_preparation(statistics | {"configuration": read})
    assert "| text_model | mpnet |" in report


@pytest.mark.slow
def test_prepared_graphs_need_no_text_tools(tmp_path: Path) -> None:
    """A machine that only trains has NumPy and torch."""
    folder = prepare(tmp_path).folder
    script = (
        "import sys\n"
        "for name in ('nltk', 'penman', 'kedro', 'pyarrow', 'pandas', 'lxml'):\n"
        "    sys.modules[name] = None\n"
        "from mathamr_kedro.graph import PreparedGraphs\n"
        "graphs = PreparedGraphs(sys.argv[1])\n"
        "print(len(graphs.posts), len(graphs.train_pairs), len(graphs.types))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["4", "1", "9"]
