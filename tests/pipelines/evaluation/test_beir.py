"""A tiny benchmark through all stages to tables, out again, and asked by command."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from kedro.framework.session import KedroSession

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.cli import group
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.project.catalog import configure_kedro, open_catalog
from mathamr_kedro.trec import TREC, Run, read_qrels, read_run
from tests.pipelines.arqmath_world import PROJECT
from tests.pipelines.beir_world import QUERIES, write_benchmark

FUSION = {"name": "both", "method": "mean", "of": ["mathamr_plus/maxsim", "bm25"]}
SETTINGS = {
    "amr_parsing": {"posts_per_shard": 5, "workers": {"workers": 1}},
    "graph_fusion": {"workers": {"workers": 1}},
    "preprocessing": {"workers": {"workers": 1}, "vocabulary": {"size": 100}},
    "evaluation": {"optional_baselines": [], "fusions": [FUSION]},
}
STAGES = (
    "ingestion", "amr_parsing", "graph_fusion", "preprocessing", "training",
    "indexing", "evaluation", "significance",
)  # fmt: skip


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmark(tmp_path_factory.mktemp("raw") / "benchmark")


@pytest.fixture(scope="module")
def data(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    configure_kedro(PROJECT)
    params = {"data_root": str(folder), "raw_root": str(raw), **SETTINGS}
    with KedroSession.create(PROJECT, env="beir", runtime_params=params) as session:
        session.run(pipeline_names=list(STAGES))
    return folder


@pytest.fixture(autouse=True)
def in_project(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(PROJECT)
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(group, [*map(str, arguments)], catch_exceptions=False)


def test_pairs_are_those_of_the_training_split(data: Path) -> None:
    catalog = open_catalog("beir", str(data))
    pairs = [tuple(pair) for pair in catalog.load("training_pairs").records()]
    assert pairs == [("query:q3", "d2"), ("d4", "d5")]
    types = {p.post_id: p.post_type for p in catalog.load("posts").records()}
    assert types["query:q3"] == "example"
    assert catalog.load("training_pairs_failures").counts.get("written", 0) == 0


def test_scores_are_those_of_the_plain_protocol(data: Path, raw: Path) -> None:
    catalog = open_catalog("beir", str(data))
    qrels = read_qrels(raw / "qrels" / "test.tsv", TREC)
    metrics = catalog.load("metrics")
    assert {m["topic_set"] for m in metrics} == {"test"}
    systems = {m["system"] for m in metrics}
    assert {"mathamr_plus/maxsim", "mathamr_plus/document", "bm25"} <= systems
    for entry, run in catalog.load("runs"):
        found = evaluate_run(run, qrels, protocol_of("trec"), num_documents=5)
        for m in metrics:
            if m["system"] == entry.system and m["measure"] != "judged@10":
                expected = found.summarise()[m["measure"]]
                assert m["mean"] == pytest.approx(expected.score)
                assert m["floor"] == pytest.approx(expected.floor)


def test_no_query_finds_itself_and_examples_are_not_found(data: Path) -> None:
    for _, run in open_catalog("beir", str(data)).load("runs"):
        assert "d4" not in run.lists["d4"].ids
        assert "d5" in run.lists["d4"].ids
        found = {i for hits in run.lists.values() for i in hits.ids}
        assert found <= {"d1", "d2", "d3", "d4", "d5"}


def test_the_pages_say_how_was_scored(data: Path) -> None:
    page = (data / "08_reporting" / "evaluation.md").read_text(encoding="utf-8")
    assert "## Documents, test" in page
    assert "*floor: all documents in random order*" in page
    (tables,) = (data / "08_reporting" / "significance").rglob("tables.md")
    assert "nDCG@10" in tables.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def exported(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "again"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        where = ("--env", "beir", "--data-root", data)
        result = invoke("export", "beir", "--output", folder, *where)
    assert result.exit_code == 0, result.output
    assert "5 documents, 4 queries, 4 judgments, 2 training pairs" in result.output
    return folder


def test_what_came_in_goes_out_byte_for_byte(exported: Path, raw: Path) -> None:
    files = [f.relative_to(raw) for f in raw.rglob("*") if f.is_file()]
    assert len(files) == 4
    for name in files:
        assert (exported / name).read_bytes() == (raw / name).read_bytes(), name


def test_runs_go_out_as_they_were_scored(exported: Path, data: Path) -> None:
    for entry, run in open_catalog("beir", str(data)).load("runs"):
        stem = exported / "runs" / entry.system.replace("/", "-")
        again = read_run(f"{stem}.trec")
        stored = json.loads(Path(f"{stem}.json").read_text(encoding="utf-8"))
        for topic, hits in run.lists.items():
            assert again.lists[topic].ids == hits.ids
            best = Run.from_scores("json", stored).lists[topic].ids
            assert best == hits.ids


def test_unknown_topic_sets_are_refused(data: Path, tmp_path: Path) -> None:
    where = ("--env", "beir", "--data-root", data, "--topic-set", "dev")
    with pytest.raises(Exception, match="No topic set 'dev' in task1; there are test"):
        invoke("export", "beir", "--output", tmp_path, *where)


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_a_batch_of_queries_ranks_as_the_evaluation(
    data: Path, raw: Path, tmp_path: Path, form: str
) -> None:
    queries = raw / "queries.jsonl"
    if form == "tsv":
        queries = tmp_path / "queries.tsv"
        queries.write_text("".join(f"{i}\t{text}\n" for i, text in QUERIES.items()))
    output = tmp_path / "mine.run"
    options = ("--queries", queries, "--output", output, "--system", "bm25")
    where = ("--env", "beir", "--data-root", data)
    result = invoke("search", *options, *where)
    assert "4 of 4 queries" in result.output
    found = read_run(output)
    runs = {e.system: run for e, run in open_catalog("beir", str(data)).load("runs")}
    for topic, hits in runs["bm25"].lists.items():
        assert found.lists[topic].ids == hits.ids
    qrels = raw / "qrels" / "test.tsv"
    scored = invoke(
        "evaluate", output, "--qrels", qrels, "--protocol", "trec", "--output", "json"
    )
    report = json.loads(scored.output)
    metrics = open_catalog("beir", str(data)).load("metrics")
    for m in metrics:
        if m["system"] == "bm25":
            mean = report["measures"][m["measure"]]["score"]
            assert mean == pytest.approx(m["mean"])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"_id": "1", "text": "x"}\n{"_id": "1", "text": "y"}\n', "line 2.*before"),
        ('{"_id": "1"}\n', "line 1.*expected a text as 'text'"),
        ("\n", "No queries"),
    ],
)
def test_bad_batches_are_refused_before_anything_is_loaded(tmp_path, lines, message):
    path = tmp_path / "queries.jsonl"
    path.write_text(lines)
    options = ("--queries", path, "--output", tmp_path / "run")
    with pytest.raises(MalformedInputError, match=message):
        invoke("search", *options, "--env", "beir", "--data-root", tmp_path / "none")


def test_batch_options_belong_together(tmp_path):
    alone = invoke("search", "--queries", tmp_path / "q.jsonl")
    assert "--queries and --output belong together" in alone.output
    both = invoke("search", "text", "--queries", "q", "--output", "r")
    assert "Give one of TEXT, --formula, --like and --queries" in both.output
