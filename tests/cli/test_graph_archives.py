"""The commands that hand graphs on, on a tiny collection in the lab's layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from kedro.framework.session import KedroSession
from kedro.io import DatasetError

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.cli import group
from mathamr_kedro.graph import RecordFile
from mathamr_kedro.integrations.graph_archive import (
    ArchivedFile,
    GraphArchive,
    write_archive,
)
from mathamr_kedro.project import configure_kedro
from tests.pipelines.arqmath_world import PROJECT, write_collection

pytestmark = pytest.mark.slow

SMALL = {
    "amr_parsing": {"posts_per_shard": 5, "workers": {"workers": 1}},
    "graph_fusion": {"workers": {"workers": 1}},
    "preprocessing": {"workers": {"workers": 1}, "vocabulary": {"size": 100}},
}
GRAPHS = ("math_graphs", "topic_math_graphs")
TAKEN_OVER = (*GRAPHS, "failures/math_graphs", "failures/amr_posts")


def run_stages(data: Path, raw: Path, *stages: str, env: str = "arqmath", **more: Any):
    configure_kedro(PROJECT)
    params = {"data_root": str(data), "raw_root": str(raw), **SMALL, **more}
    with KedroSession.create(PROJECT, env=env, runtime_params=params) as session:
        session.run(pipeline_names=list(stages))


def open_catalog(data: Path, env: str = "arqmath") -> Any:
    configure_kedro(PROJECT)
    params = {"data_root": str(data)}
    session = KedroSession.create(PROJECT, env=env, runtime_params=params)
    return session.load_context().catalog


def invoke(data: Path, *arguments: str, env: str = "arqmath") -> Result:
    options = ["--env", env, "--data-root", str(data)]
    return CliRunner().invoke(group, [*arguments, *options], catch_exceptions=False)


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder; of lists what they say about the shards."""
    files = {str(f.relative_to(folder)): f for f in folder.rglob("*") if f.is_file()}
    found = {n: f.read_bytes() for n, f in files.items() if f.name != ".seconds"}
    for name, content in found.items():
        if name.endswith("_shards.json"):
            shards = json.loads(content)
            known = [shards["complete"], shards["counts"], shards["seals"]]
            found[name] = json.dumps(known).encode()
    return found


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arqmath")
    write_collection(folder)
    return folder


@pytest.fixture(scope="module")
def whole(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole collection, with a defect that fusion noted."""
    data = tmp_path_factory.mktemp("whole")
    run_stages(data, raw, "ingestion", "amr_parsing", "graph_fusion")
    return data


@pytest.fixture(scope="module")
def archive(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "new/graphs.tar.gz"
    result = invoke(whole, "export", "graphs", str(path))
    assert "18 graphs of posts, 12 of topics, 6 pairs" in result.output
    assert "CC BY-SA" in result.output
    return path


@pytest.fixture(autouse=True)
def in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)


def test_pairs_carry_labels(archive: Path) -> None:
    (text,) = [text for f, text in GraphArchive(archive).read() if f.table == "pairs"]
    header, *rows = text.splitlines()
    assert header == "question_id\tanswer_id\tlabel"
    assert rows == [f"{q}\t{q + 1}\taccepted" for q in range(10, 70, 10)]


def test_the_archive_names_its_parser(archive: Path) -> None:
    manifest = GraphArchive(archive).manifest
    assert manifest["mode"] == "mathamr_plus"
    assert manifest["parsing"]["parser"]


def test_a_round_trip_changes_no_byte(
    whole: Path, archive: Path, raw: Path, tmp_path: Path
) -> None:
    output = invoke(tmp_path, "import", str(archive)).output
    assert "posts: 18 graphs\n" in output
    assert "kedro run --pipelines preprocessing,training" in output
    for name in TAKEN_OVER:
        ours, theirs = (read_tree(d / "03_primary" / name) for d in (tmp_path, whole))
        assert ours == theirs, name
    pairs = "02_intermediate/training_pairs"
    assert read_tree(tmp_path / pairs) == read_tree(whole / pairs)
    run_stages(tmp_path, raw, "ingestion")
    for data in (tmp_path, whole):
        run_stages(data, raw, "preprocessing")
    prepared = "05_model_input/prepared_graphs"
    assert read_tree(tmp_path / prepared) == read_tree(whole / prepared)
    catalog = open_catalog(tmp_path)
    assert catalog.load("amr_statistics")["parser"]
    assert catalog.load("amr_parser") == open_catalog(whole).load("amr_parser")


def test_a_collection_that_was_ingested_takes_the_same_graphs(
    whole: Path, archive: Path, raw: Path, tmp_path: Path
) -> None:
    run_stages(tmp_path, raw, "ingestion")
    pairs = read_tree(tmp_path / "02_intermediate/training_pairs")
    assert "absent" not in invoke(tmp_path, "import", str(archive)).output
    for name in GRAPHS:
        ours, theirs = (read_tree(d / "03_primary" / name) for d in (tmp_path, whole))
        assert ours == theirs
    assert read_tree(tmp_path / "02_intermediate/training_pairs") == pairs


def test_a_judged_subset_takes_its_own_graphs(
    archive: Path, raw: Path, tmp_path: Path
) -> None:
    env = "arqmath+judged"
    subset = {"subset": {"pairs": 2}}
    run_stages(tmp_path, raw, "ingestion", env=env, ingestion=subset)
    output = invoke(tmp_path, "import", str(archive), env=env).output
    catalog = open_catalog(tmp_path, env)
    posts = [(p.post_id, p.post_type) for p in catalog.load("posts").records()]
    graphs = [(r.graph_id, r.post_type) for r in catalog.load("math_graphs").records()]
    assert graphs[:2] == posts[:2] == [("11", "answer"), ("12", "answer")]
    assert sorted(graphs) == sorted(posts)
    assert {kind for _, kind in graphs[2:]} == {"example"}
    assert f"{18 - len(posts)} of posts that are not here, skipped" in output
    run_stages(tmp_path, raw, "preprocessing", env=env, ingestion=subset)


def test_posts_that_the_archive_lacks_are_failures(
    archive: Path, raw: Path, tmp_path: Path
) -> None:
    other = tmp_path / "raw"
    write_collection(other)
    posts = other / "Collection/Posts.V1.3.xml"
    posts.write_text(posts.read_text().replace('Id="62"', 'Id="99"'))
    run_stages(tmp_path, other, "ingestion")
    output = invoke(tmp_path, "import", str(archive)).output
    assert "1 posts without a graph in the archive" in output
    catalog = open_catalog(tmp_path)
    failures = list(catalog.load("math_graph_failures").records())
    lost = [(f.record_id, f.reason) for f in failures if not f.kept]
    assert lost == [("99", "not_in_archive")]
    assert "62" not in {r.graph_id for r in catalog.load("math_graphs").records()}


def test_a_record_that_is_no_graph_is_a_failure(whole: Path, tmp_path: Path) -> None:
    data, path = tmp_path / "data", tmp_path / "graphs.tar.gz"
    catalog = open_catalog(data)
    source = open_catalog(whole)
    for name in ("topic_math_graphs", "training_pairs"):
        table = source.load(name)
        rows = list(table.records())
        catalog[name].save(Shard.of_rows("all", "made", rows))
        catalog[name].save(EndOfShards("made"))
    good = next(source.load("math_graphs").records()).format()
    bad = "# ::id 7\n# ::post_type answer\n(broken / graph\n\n"
    catalog["math_graphs"].save(Shard("posts-0", "made", good + bad, {"written": 2}))
    catalog["math_graphs"].save(EndOfShards("made"))
    invoke(data, "export", "graphs", str(path))
    taken = tmp_path / "taken"
    assert "posts: 1 graphs; 1 unreadable" in invoke(taken, "import", str(path)).output
    (failure,) = open_catalog(taken).load("math_graph_failures").records()
    assert isinstance(failure, Failure)
    assert failure.place == "posts/posts-0.amr.txt, record 1"
    assert (failure.record_id, failure.reason) == ("7", "malformed_record")


def test_a_graph_that_stands_twice_is_refused(archive: Path, tmp_path: Path) -> None:
    found = GraphArchive(archive)
    texts = list(found.read())
    (text,) = [t for file, t in texts if file.name.endswith("posts-00000-000.amr.txt")]
    again = ArchivedFile("posts", "posts-9", {"written": 1}, "posts/posts-9.amr.txt")
    path = tmp_path / "graphs.tar.gz"
    files = [(file, t.encode) for file, t in [*texts, (again, text)]]
    write_archive(path, found.manifest, files)
    with pytest.raises(MalformedInputError, match=r"second graph of '10' in 'posts/"):
        invoke(tmp_path, "import", str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["graphs.tar.gz"]


def test_a_killed_import_goes_on(
    whole: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = Path.write_text

    def die(path: Path, *args: Any, **kwargs: Any) -> int:
        if ".amr.txt" in path.name:
            written.append(path.name)
            if len(written) == 5:
                raise RuntimeError("killed")
        return write(path, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", die)
    with pytest.raises(DatasetError, match="killed"):
        invoke(tmp_path, "import", str(archive))
    folder = tmp_path / "03_primary"
    lists = [
        json.loads(f.read_text()) for f in folder.rglob("*math_graphs/_shards.json")
    ]
    assert not any(found["complete"] for found in lists)
    invoke(tmp_path, "import", str(archive))
    files = [RecordFile(f) for f in whole.rglob("03_primary/*math_graphs/*.amr.txt")]
    assert len(written) == len(files) + 1  # what had been finished is not redone
    for name in TAKEN_OVER:
        assert read_tree(folder / name) == read_tree(whole / "03_primary" / name)


def test_graphs_of_another_mode_are_refused(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GraphArchive, "mode", "mathamr")
    with pytest.raises(ConfigurationError, match=r"'mathamr_plus'.*'mathamr'"):
        invoke(tmp_path, "import", str(archive))
    assert not list(tmp_path.iterdir())


def test_an_archive_of_another_collection_is_refused(
    archive: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    run_stages(data, PROJECT / "data/01_raw/sample", "ingestion", env="test")
    with pytest.raises(MalformedInputError, match="of a post that is here"):
        invoke(data, "import", str(archive), env="test")
    assert not (data / "03_primary/math_graphs").exists()
