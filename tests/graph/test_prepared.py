"""Folders of prepared graphs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.corpus import FormulaIds
from mathamr_kedro.graph.blocks import (
    GraphBlock,
    LabelCounts,
    Vocabularies,
)
from mathamr_kedro.graph.penman_records import GraphRecord, RecordFile
from mathamr_kedro.graph.preparation import PairSplit, Preparation, PreprocessingConfig
from mathamr_kedro.graph.prepared import PreparedStore
from mathamr_kedro.graph.report import (
    describe_prepared,
    report_preparation,
)
from mathamr_kedro.graph.virtual_nodes import GraphVariant

PARAMETERS = PreprocessingConfig()
FORMULAS = (FormulaMention("FORMULA_0", "f7", "70", "x", 0, 9),)


def make_block(tmp_path: Path, *records: GraphRecord) -> GraphBlock:
    path = tmp_path / "shard.amr.txt"
    RecordFile(path).write(records)
    return GraphBlock.build(RecordFile(path), PARAMETERS.graph)


def prepare(tmp_path: Path, made_from: str = "a", topic: str = "A.1") -> Preparation:
    posts = make_block(
        tmp_path,
        GraphRecord("10", "(s / set :mod (f / FORMULA_0))", "question", FORMULAS),
        GraphRecord("11", "(m / map :mod (s / set))", "answer"),
        GraphRecord("12", "(m / map)", "strange"),
        GraphRecord("13", "(m / map)", "answer"),
    )
    topics = make_block(tmp_path, GraphRecord(topic, "(s / set)", "topic"))
    counts = LabelCounts.of_blocks([posts], None)
    vocabularies = Vocabularies.build(counts, PARAMETERS.vocabulary)
    report = {
        "vocabulary": asdict(vocabularies.report), "posts": 4, "topics": 1,
        "formulas": 0, "returnable_formulas": 0,
        "failed": 0, "train_pairs": 1, "validation_pairs": 1, "pairs_without_graph": 2,
    }  # fmt: skip
    return Preparation(
        PARAMETERS,
        made_from,
        vocabularies.types,
        vocabularies.relations,
        PairSplit([("10", "13")], [("10", "11")]),
        vocabularies.renumber([posts]),
        vocabularies.renumber([topics]),
        report,
        topics_from=topic,
    )


def test_a_folder_holds_what_training_needs(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    assert store.save(prepare(tmp_path))
    found = store.open(PARAMETERS)
    assert found.folder.name == PARAMETERS.key
    assert found.posts.keys == ["10", "11", "12", "13"]
    assert found.topics.keys == ["A.1"]
    assert found.post_type.tolist() == [0, 1, 2, 1]
    assert found.train_pairs.tolist() == [[0, 3]]
    assert found.validation_pairs.tolist() == [[0, 1]]
    assert found.types.names[6:] == ("map", "set", "FORMULA_0")
    assert found.relations.find("mod") == 1
    graph = found.posts.graph(1)
    assert [found.types.names[n] for n in graph.node_type[:2]] == ["map", "set"]
    assert found.configuration == PARAMETERS.describe()
    formula_ids, visual_ids = found.posts.name_formulas(range(4))
    assert (list(formula_ids), list(visual_ids)) == (["f7"], ["70"])


def test_flags_say_which_formulas_may_be_returned(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    store.save(prepare(tmp_path))
    assert store.open(PARAMETERS).load_returnable("posts").tolist() == [True]
    other = replace(prepare(tmp_path), returnable=FormulaIds([]), formulas_from="none")
    assert store.save(other)
    found = store.open(PARAMETERS)
    assert found.load_returnable("posts").tolist() == [False]
    assert found.load_returnable("formulas").tolist() == []
    assert not store.save(replace(other, posts=None))
    (found.folder / "returnable_posts.npy").unlink()
    with pytest.raises(MissingInputError, match="run the stage 'preprocessing' again"):
        found.load_returnable("posts")


def test_returnable_formulas_without_a_graph_are_named(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    ids = FormulaIds(["f7", "99", "98"])
    preparation = replace(prepare(tmp_path), returnable=ids, formulas_from="some")
    with pytest.raises(
        MalformedInputError, match=r"of the 3 .* none for 2, .*'98', '99'"
    ):
        store.save(preparation)
    assert not store.folder(PARAMETERS).exists()


def test_a_folder_of_an_older_version_is_written_anew(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    store.save(prepare(tmp_path))
    file = store.folder(PARAMETERS) / "configuration.json"
    content = json.loads(file.read_text())
    del content["version"]  # the first had none
    file.write_text(json.dumps(content))
    assert store.save(prepare(tmp_path))
    assert not store.save(prepare(tmp_path))


def test_equal_input_is_not_written_twice_and_other_input_replaces(
    tmp_path: Path,
) -> None:
    store = PreparedStore(tmp_path / "prepared")
    assert store.save(prepare(tmp_path))
    untouched = prepare(tmp_path)
    assert not store.save(untouched)
    assert next(iter(untouched.posts)).keys  # was not even read
    assert store.save(prepare(tmp_path, made_from="b"))
    assert store.open(PARAMETERS).made_from == "b"
    assert len(store.list()) == 1


def test_other_topics_leave_the_posts_alone(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    store.save(prepare(tmp_path))
    other = prepare(tmp_path, topic="A.7")
    assert store.save(other)
    assert next(iter(other.posts)).keys  # was not even read
    found = store.open(PARAMETERS)
    assert (found.made_from, found.topics_from) == ("a", "A.7")
    assert found.topics.keys == ["A.7"]
    assert found.posts.keys == ["10", "11", "12", "13"]
    assert not store.save(prepare(tmp_path, topic="A.7"))


def test_kill_while_topics_are_replaced_is_mended(tmp_path: Path, monkeypatch) -> None:
    store = PreparedStore(tmp_path / "prepared")
    store.save(prepare(tmp_path))
    rename = os.replace

    def stop(source, target):
        if Path(target).name == "topics":
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        store.save(prepare(tmp_path, topic="A.7"))
    monkeypatch.undo()
    # Neither the old nor the new topics pass for whole.
    assert store.save(prepare(tmp_path))
    assert store.open(PARAMETERS).topics.keys == ["A.1"]


def test_each_configuration_has_its_folder(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    others = [
        replace(PARAMETERS, graph=GraphVariant(formula_mode="opt")),
        replace(PARAMETERS, pairs=replace(PARAMETERS.pairs, seed=1)),
        replace(PARAMETERS, vocabulary=replace(PARAMETERS.vocabulary, size=100)),
    ]
    keys = {p.key for p in [PARAMETERS, *others]}
    assert len(keys) == 4
    same = replace(PARAMETERS, workers=replace(PARAMETERS.workers, workers=9))
    assert same.key == PARAMETERS.key
    with pytest.raises(MissingInputError, match="run the stage 'preprocessing'"):
        store.open(others[0])


def test_a_killed_run_leaves_nothing_to_read(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")

    def fail() -> GraphBlock:
        raise KeyboardInterrupt

    broken = replace(prepare(tmp_path), topics=(fail() for _ in range(1)))
    with pytest.raises(KeyboardInterrupt):
        store.save(broken)
    assert store.list() == []
    assert store.save(prepare(tmp_path))
    assert len(store.list()) == 1


def test_a_variant_that_makes_no_sense_is_refused_with_its_place() -> None:
    values = {"graph": {"structure": "none", "auxiliary_edges": "full"}}
    with pytest.raises(ConfigurationError, match=r"preprocessing\.graph: .*hierarchy"):
        PreprocessingConfig.read(values)


def test_the_report_shows_vocabulary_and_graphs(tmp_path: Path) -> None:
    store = PreparedStore(tmp_path / "prepared")
    store.save(prepare(tmp_path))
    statistics = describe_prepared(store.open(PARAMETERS))
    assert statistics["nodes_per_graph"] == 6 / 4
    assert statistics["virtual_nodes_per_graph"] == 9 / 4  # sentence, document
    report, figure = report_preparation(statistics)
    assert "| graph.formula_mode | both |" in report
    assert statistics["coverage_of_posts"] == 1.0
    assert "| Coverage of the graphs counted | 100.00% |" in report
    assert "| Coverage of all posts | 100.00% |" in report
    assert "| Pairs without a graph | 2 |" in report
    assert figure.axes[0].lines[0].get_ydata()[-1] == 1
    read = statistics["configuration"] | {"text_model": "mpnet"}
    report, _ = report_preparation(statistics | {"configuration": read})
    assert "| text_model | mpnet |" in report


@pytest.mark.slow
def test_prepared_graphs_need_no_text_tools(tmp_path: Path) -> None:
    """A machine that only trains has NumPy and torch."""
    PreparedStore(tmp_path / "prepared").save(prepare(tmp_path))
    script = (
        "import sys\n"
        "for name in ('nltk', 'penman', 'kedro', 'pyarrow', 'pandas', 'lxml'):\n"
        "    sys.modules[name] = None\n"
        "from mathamr_kedro.graph.prepared import PreparedStore\n"
        "(graphs,) = PreparedStore(sys.argv[1]).list()\n"
        "print(len(graphs.posts), len(graphs.train_pairs), len(graphs.types))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "prepared")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["4", "1", "9"]
