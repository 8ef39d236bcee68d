"""The indexing stage on a tiny collection with an encoder of random weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.checksums import write_checksums
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
    find_cause,
)
from mathamr_kedro.graph.preparation import CONFIGURATION
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.systems.mathamr_plus import Strategy, find_formulas, find_posts
from mathamr_kedro.vectors import open_index
from tests.pipelines.graph_world import open_catalog, prepare_graphs, run_stage
from tests.pipelines.search_world import write_encoder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    prepare_graphs(folder)
    write_encoder(folder)
    return folder


@pytest.fixture(scope="module")
def catalog(data: Path):
    small = {"encoding": {"posts_per_shard": 3}}
    return run_stage(data, "indexing", indexing=small)


def test_every_post_and_topic_is_encoded(catalog) -> None:
    encoded = catalog.load("encoded_posts")
    store = catalog.load("post_vectors").read(encoded["encoder"])
    assert sorted(store.keys()) == ["1", "2", "3", "4"]
    assert [(r.of, r.first) for r in store.shards] == [("posts", 0), ("posts", 3)]
    post = store.read(["1"]).entry(0)
    assert post.post_type == "question"
    assert list(post.formula_ids) == ["f0", "f1"]
    assert list(post.visual_ids) == ["70", "xabc"]
    np.testing.assert_allclose(np.linalg.norm(post.vectors, axis=1), 1.0, atol=1e-6)
    topics = catalog.load("topic_vectors").read(encoded["encoder"])
    topic = topics.read(["A.1"]).entry(0)
    assert topic.post_type == "topic"
    assert list(topic.formula_ids) == ["f1"]


def test_index_knows_its_encoder_and_size(catalog) -> None:
    record = catalog.load("index")
    assert record["engine"] == "edge"
    assert (record["posts"], record["encoder"]) == (
        4, catalog.load("encoded_posts")["encoder"],
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_index_counts_vectors_and_bytes_by_type_of_post(
    data: Path, catalog, engine: str
) -> None:
    small = {"encoding": {"posts_per_shard": 3}, "engine": {"engine": engine}}
    record = run_stage(data, "indexing", indexing=small).load("index")
    entries = [
        catalog.load("post_vectors").read(record["encoder"]).read([key]).entry(0)
        for key in ("1", "2", "3", "4")
    ]
    for kind, found in record["post_types"].items():
        own = [e for e in entries if e.post_type == kind]
        vectors = sum(len(e.vectors) for e in own)
        formulas = sum(map(sum, (e.returnable for e in own)))
        counted = (found["posts"], found["vectors"], found["documents"])
        assert counted == (len(own), vectors, len(own))
        assert found["formulas"] == formulas
        assert found["post_bytes"] == 4 * 8 * (vectors + len(own))
        assert found["formula_bytes"] == 4 * 8 * formulas
    assert set(record["post_types"]) == {"question", "answer"}
    assert record["bytes"] == record["post_bytes"] + record["formula_bytes"] > 0
    assert record["bytes_from"] == {"exact": "computed", "edge": "disk"}[engine]
    if engine == "exact":
        computed = sum(f["post_bytes"] for f in record["post_types"].values())
        assert record["post_bytes"] == computed
    assert record["machine"]["device"] == "CPU"


@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_index_answers_both_tasks(catalog, engine: str) -> None:
    record = catalog.load("index")
    store = catalog.load("post_vectors").read(record["encoder"])
    topics = catalog.load("topic_vectors").read(record["encoder"])
    settings = IndexingConfig.read({"engine": {"engine": engine}})
    places = catalog.load("indexes")
    index = open_index(settings.engine, store, places.folder(record["encoder"]))
    topic = topics.read(["A.1"]).entry(0)
    (hits,) = find_posts(index, [topic], Strategy(post_types=("answer",)))
    assert sorted(hits.ids) == ["2", "4"]
    (formulas,) = find_formulas(index, [topic.formula("f1")])
    assert set(formulas.visual_ids) == {"70", "xabc"}
    index.close()


def test_second_run_encodes_nothing(data: Path, catalog, monkeypatch) -> None:
    before = catalog.load("encoded_posts")
    monkeypatch.setattr(
        "mathamr_kedro.systems.mathamr_plus.encoding.encode_shards", None
    )
    again = run_stage(data, "indexing", indexing={"encoding": {"posts_per_shard": 3}})
    assert again.load("encoded_posts") == before


def test_killed_encoding_goes_on_behind_the_last_shard(
    data: Path, catalog, monkeypatch
) -> None:
    mark = write_encoder(data, seed=1)
    one = {"encoding": {"posts_per_shard": 1}}
    calls = []
    encoding = "mathamr_kedro.systems.mathamr_plus.encoding.EncodeRanges.__call__"
    from mathamr_kedro.systems.mathamr_plus.encoding import EncodeRanges

    original = EncodeRanges.__call__

    def stop(self, ranges):
        calls.extend(ranges)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, ranges)

    monkeypatch.setattr(encoding, stop)
    with pytest.raises(KeyboardInterrupt):
        run_stage(data, "indexing", indexing=one)
    with pytest.raises(MissingInputError, match="it resumes"):
        catalog.load("post_vectors").read(mark)
    finished = run_stage(data, "indexing", indexing=one)
    names = [r.name for r in calls if r.name.startswith("posts")]
    assert names == [f"posts-0000000{i}-0000000{i + 1}" for i in (0, 1, 2, 2, 3)]
    assert finished.load("encoded_posts")["posts"] == 4
    write_encoder(data, seed=0)


def test_returnable_formulas_without_a_vector_are_named(data: Path, catalog) -> None:
    graphs = catalog.load("prepared_graphs").list()[0]
    file = graphs.folder / "returnable_posts.npy"
    flags = np.load(file)
    assert flags.tolist() == [True, True, True]
    np.save(file, flags & False)
    write_checksums(graphs.folder, skip=(CONFIGURATION,))
    write_encoder(data, seed=3)
    assert run_stage(data, "indexing").load("encoded_posts")["formulas"] == 0
    np.save(file, flags)
    write_checksums(graphs.folder, skip=(CONFIGURATION,))
    with pytest.raises(Exception, match=r"none for 3, e\.g\. f0, f1, f0") as caught:
        run_stage(data, "indexing")
    assert isinstance(find_cause(caught.value), MalformedInputError)
    write_encoder(data, seed=0)


def test_encoder_of_other_graphs_is_refused(data: Path, catalog) -> None:
    known = catalog.load("encoder")
    open_catalog(data).save("encoder", known | {"prepared_graphs": "others"})
    with pytest.raises(Exception, match="trained on") as caught:
        run_stage(data, "indexing")
    assert isinstance(find_cause(caught.value), ConfigurationError)
    open_catalog(data).save("encoder", known)


def test_server_engine_without_url_says_what_is_missing(data: Path, catalog) -> None:
    with pytest.raises(Exception, match="URL of a Qdrant server"):
        run_stage(data, "indexing", indexing={"engine": {"engine": "server"}})


def test_damaged_vectors_and_index_are_mended_by_the_stage(
    data: Path, catalog, caplog
) -> None:
    small = {"encoding": {"posts_per_shard": 3}}
    mark = catalog.load("index")["encoder"]
    stores, places = catalog.load("post_vectors"), catalog.load("indexes")
    run_stage(data, "indexing", indexing=small)
    before = {k: stores.read(mark).read([k]).vectors.tobytes() for k in "1234"}
    segment = stores.base / mark / "posts-00000000-00000003.safetensors"
    content = bytearray(segment.read_bytes())
    content[-3] ^= 1
    segment.write_bytes(content)
    for chunk in places.folder(mark).rglob("chunk_0.mmap"):
        chunk.unlink()
    assert [segment.name in str(e) for e in stores.verify()] == [True]
    assert len(list(places.verify())) == 4
    with pytest.raises(DamagedFileError, match="posts-00000000-00000003"):
        stores.read(mark)
    found = run_stage(data, "indexing", indexing=small)
    assert found.load("index")["posts"] == 4
    assert {k: stores.read(mark).read([k]).vectors.tobytes() for k in "1234"} == before
    assert "encoded again (3 posts)" in caplog.text
    assert [*stores.verify(), *places.verify()] == []
