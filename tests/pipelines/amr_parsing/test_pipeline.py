"""The stage as Kedro runs it: every text ends as a graph or a failure."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mathamr_kedro.amr import read_graph
from mathamr_kedro.base.errors import ConfigurationError, MathAMRError, find_cause
from mathamr_kedro.base.records import FormulaMention

from .conftest import make_post, make_topic

POSTS = [
    make_post("1", "Prove that FORMULA_0 is even. It follows from FORMULA_1."),
    make_post("2", "Yes.", "answer"),
    make_post("3", " \u200b ", "answer"),
    make_post("4", "Let FORMULA_0 be prime."),
    make_post("5", "Why?"),
]
TOPICS = [make_topic("A.1", "Find FORMULA_0."), make_topic("A.2", "")]


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != ".seconds"  # how long it took
    }


def test_texts_become_graphs_or_failures(write_texts, parse):
    catalog = parse(write_texts(POSTS, TOPICS), posts_per_shard=2)
    records = list(catalog.load("amr_graphs").records())
    assert [r.graph_id for r in records] == ["1", "2", "4", "5"]
    assert [r.post_type for r in records] == [
        "question", "answer", "question", "question",
    ]  # fmt: skip
    assert {"FORMULA_0", "FORMULA_1"} <= set(
        read_graph(records[0].graph).nodes.values()
    )
    assert [m.placeholder for m in records[0].formula_map] == ["FORMULA_0", "FORMULA_1"]
    (topic,) = catalog.load("topic_amr_graphs").records()
    assert (topic.graph_id, topic.post_type) == ("A.1", "topic")
    failures = [
        (f.source, f.record_id, f.reason, f.kept)
        for name in ("amr_post_failures", "amr_topic_failures")
        for f in catalog.load(name).records()
    ]
    assert failures == [
        ("posts", "3", "empty_text", False),
        ("topics", "A.2", "empty_text", False),
    ]


def test_statistics_and_report(write_texts, parse):
    catalog = parse(write_texts(POSTS, TOPICS))
    statistics = catalog.load("amr_statistics")
    posts = statistics["posts"]
    assert (posts["processed"], posts["graphs"], posts["failed"]) == (5, 4, 1)
    assert posts["failed_by_reason"] == {"empty_text": 1}
    assert posts["graphs_by_type"] == {"answer": 1, "question": 3}
    assert posts["placeholders"]["total"] == 3
    assert statistics["topics"]["graphs"] == 1
    assert statistics["parser"]["parser"] == "builtin"
    report = catalog.load("amr_report")
    assert "| Posts processed | 5 | 2,482,294 |" in report
    assert "| Successful graphs | 4 (80.00 %) |" in report


PROCESSES = {"workers": 2, "batch_size": 1}


@pytest.mark.slow
def test_processes_give_the_same_files(write_texts, parse, tmp_path):
    root = write_texts(POSTS, [])
    parse(root, posts_per_shard=2)
    alone = read_files(root / "03_primary")
    (root / "03_primary").rename(tmp_path / "alone")
    parse(root, posts_per_shard=2, workers=PROCESSES)
    assert read_files(root / "03_primary") == alone
    assert len(alone) > 8


def test_a_second_run_does_nothing_again(write_texts, parse):
    root = write_texts(POSTS, TOPICS)
    parse(root)
    graphs = root / "03_primary" / "amr_graphs"
    before = {file: file.stat().st_mtime_ns for file in graphs.glob("*.txt")}
    parse(root, workers={"batch_size": 1})
    assert {f: f.stat().st_mtime_ns for f in graphs.glob("*.txt")} == before


def test_a_missing_shard_alone_is_made_again(write_texts, parse):
    root = write_texts(POSTS, TOPICS)
    parse(root, posts_per_shard=2)
    graphs = root / "03_primary" / "amr_graphs"
    before = read_files(root / "03_primary")
    entries = json.loads((graphs / "_shards.json").read_text())
    # As if the run had been killed between the last two shards.
    last = sorted(entries["counts"])[-1]
    del entries["counts"][last]
    entries["complete"] = False
    (graphs / "_shards.json").write_text(json.dumps(entries, indent=1))
    (graphs / f"{last}.amr.txt").write_text("half a reco")
    kept = graphs / f"{sorted(entries['counts'])[0]}.amr.txt"
    untouched = kept.stat().st_mtime_ns
    parse(root, posts_per_shard=2)
    assert read_files(root / "03_primary") == before
    assert kept.stat().st_mtime_ns == untouched


def test_other_parameters_start_anew(write_texts, parse):
    root = write_texts(POSTS, TOPICS)
    parse(root, posts_per_shard=2)
    parse(root, posts_per_shard=3)
    names = {f.name for f in (root / "03_primary" / "amr_graphs").glob("*.txt")}
    assert names == {"posts-00000-000.amr.txt", "posts-00001-000.amr.txt"}


def test_an_empty_collection_passes(write_texts, parse):
    catalog = parse(write_texts([], []))
    assert list(catalog.load("amr_graphs").records()) == []
    assert catalog.load("amr_statistics")["posts"]["processed"] == 0


def test_a_parser_that_is_not_installed_stops_the_run(write_texts, parse):
    root = write_texts(POSTS, TOPICS)
    with pytest.raises(Exception) as caught:
        parse(root, parser="transition", transition={"python": "nowhere/python"})
    assert isinstance(find_cause(caught.value), ConfigurationError)
    assert "build_environment.sh" in str(find_cause(caught.value))
    assert not (root / "03_primary" / "amr_graphs" / "_shards.json").exists()


def test_parameters_refuse_what_is_unknown(write_texts, parse):
    root = write_texts([], [])
    with pytest.raises(MathAMRError, match="did you mean 'parser'"):
        parse(root, parsr="builtin")
    with pytest.raises(MathAMRError, match="posts_per_shard of at least 1"):
        parse(root, posts_per_shard=0)
    with pytest.raises(MathAMRError, match="did you mean 'builtin'"):
        parse(root, parser="buildin")


LINE = "AMR parser: builtin (the thesis: transition, model doc-sen-conll-amr-seed42)."


def test_auto_says_which_parser_it_is(write_texts, parse, tmp_path, caplog):
    transition = {"python": str(tmp_path / "python")}
    root = write_texts(POSTS, TOPICS)
    catalog = parse(root, parser="auto", transition=transition)
    assert "The thesis' parser is not installed" in caplog.text
    assert catalog.load("amr_parser")["parser"] == "builtin"
    assert LINE in catalog.load("amr_report")


@pytest.mark.slow
def test_auto_goes_on_with_the_parser_of_the_graphs(
    write_texts, parse, tmp_path, monkeypatch, caplog
):
    monkeypatch.setenv("FAKE_WORKER_NOTES", str(tmp_path))
    worker = str(Path(__file__).parents[3] / "benchmarks" / "fake_amr_worker.py")
    here = {"python": sys.executable, "worker": worker, "devices": ["cpu"]}
    gone = here | {"python": str(tmp_path / "python")}
    root = write_texts(POSTS, TOPICS)
    catalog = parse(root, parser="auto", transition=here)
    assert catalog.load("amr_parser")["parser"] == "transition"
    graphs = read_files(root / "03_primary" / "amr_graphs")
    # Its environment is gone: nothing is parsed again, or by another parser.
    parse(root, parser="auto", transition=gone)
    assert read_files(root / "03_primary" / "amr_graphs") == graphs
    # And what is not parsed yet waits for it.
    (root / "03_primary" / "topic_amr_graphs" / "_shards.json").unlink()
    with pytest.raises(ConfigurationError, match="build_environment"):
        parse(root, parser="auto", transition=gone)
    assert read_files(root / "03_primary" / "amr_graphs") == graphs
    # Another parser is another choice, and says what it costs.
    catalog = parse(root, parser="builtin", transition=gone)
    assert "Graphs by 'transition' are rebuilt." in caplog.text
    parse(root, parser="auto", transition=here)
    assert "--params amr_parsing.parser=transition" in caplog.text
    assert catalog.load("amr_parser")["parser"] == "builtin"


def test_parts_of_topics_are_topics_of_their_own(write_texts, parse):
    mention = FormulaMention("FORMULA_0", "q_1", "v", "x", 5, 14)
    found = make_topic("A.1", "Find FORMULA_0.")._replace(formula_map=(mention,))
    other = found._replace(topic_id="B.1", task="task2", formula_id="q_1")
    root = write_texts(POSTS[:1], [found, make_topic("A.2", "Why?"), other])
    parse(root)
    folder = root / "03_primary" / "topic_amr_graphs"
    before = {f.name: f.read_bytes() for f in folder.glob("*.txt")}
    catalog = parse(root, query_parts=["formulas", "words"])
    records = {r.graph_id: r for r in catalog.load("topic_amr_graphs").records()}
    assert sorted(records) == [
        "A.1", "A.1:formulas", "A.1:words", "A.2", "A.2:words", "B.1",
    ]  # fmt: skip
    nodes = {key: {*read_graph(r.graph).nodes.values()} for key, r in records.items()}
    assert nodes["A.1:formulas"] == {"multi-sentence", "FORMULA_0"}
    assert "find-01" in nodes["A.1:words"]
    assert "FORMULA_0" not in nodes["A.1:words"]
    maps = {key: r.formula_map for key, r in records.items()}
    assert maps["A.1:words"] == ()
    assert [m.formula_id for m in maps["A.1:formulas"]] == ["q_1"]
    table = catalog.load("amr_topic_failures")
    failures = [(f.record_id, f.reason) for f in table.records()]
    assert failures == [("A.2:formulas", "empty_text")]
    assert catalog.load("amr_statistics")["topics"]["processed"] == 7
    # Without parts everything is as it was.
    parse(root)
    assert {f.name: f.read_bytes() for f in folder.glob("*.txt")} == before


def test_parts_given_twice_are_refused(write_texts, parse):
    with pytest.raises(ConfigurationError, match="each of query_parts once"):
        parse(write_texts(POSTS[:1], []), query_parts=["words", "words"])
