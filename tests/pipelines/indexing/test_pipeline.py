"""The indexing stage on a tiny collection with an encoder of random weights."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MissingInputError,
    find_cause,
)
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.systems import Query
from mathamr_kedro.vectors import EngineConfig
from tests.pipelines.graph_world import prepare_graphs, run_stage
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
    topics, store = catalog.load("mathamr_plus.index").vectors
    assert sorted(store.keys()) == ["1", "2", "3", "4"]
    assert [(r.of, r.first) for r in store.shards] == [("posts", 0), ("posts", 3)]
    post = store.read(["1"]).entry(0)
    assert post.post_type == "question"
    assert list(post.formula_ids) == ["f0", "f1"]
    assert list(post.visual_ids) == ["70", "xabc"]
    np.testing.assert_allclose(np.linalg.norm(post.vectors, axis=1), 1.0, atol=1e-6)
    topic = topics.read(["A.1"]).entry(0)
    assert topic.post_type == "topic"
    assert list(topic.formula_ids) == ["f1"]


def test_index_knows_its_encoder_and_size(catalog) -> None:
    index = catalog.load("mathamr_plus.index")
    assert index.counts["engine"] == "edge"
    assert index.counts["posts"] == 4
    assert index.encoder == catalog.load("mathamr_plus.model").checksum


@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_index_counts_vectors_and_bytes_by_type_of_post(
    data: Path, catalog, engine: str
) -> None:
    small = {"encoding": {"posts_per_shard": 3}, "engine": {"engine": engine}}
    index = run_stage(data, "indexing", indexing=small).load("mathamr_plus.index")
    record, store = index.counts, index.vectors.posts
    entries = [store.read([key]).entry(0) for key in ("1", "2", "3", "4")]
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
    index = catalog.load("mathamr_plus.index")
    (hits,) = index.rank(index.prepare([Query("A.1")]), depth=10)
    assert sorted(hits.ids) == ["2", "4"]
    formula = FormulaInstance("f1", "", "A.1", "")
    with closing(index.open(EngineConfig(engine))) as opened:
        assert sorted(opened.rank(opened.prepare([Query("A.1")]), 10)[0].ids) == [
            "2",
            "4",
        ]
        asked = opened.prepare([Query("A.1", formula=formula)])
        (formulas,) = opened.rank(asked, depth=10)
    assert set(formulas.visual_ids) == {"70", "xabc"}


def test_second_run_encodes_nothing(data: Path, catalog, monkeypatch) -> None:
    before = catalog.load("mathamr_plus.index").encoder
    monkeypatch.setattr(
        "mathamr_kedro.systems.mathamr_plus.encoding.encode_shards", None
    )
    again = run_stage(data, "indexing", indexing={"encoding": {"posts_per_shard": 3}})
    assert again.load("mathamr_plus.index").encoder == before


@pytest.mark.slow
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
        catalog.load("mathamr_plus.vectors").open(mark)
    finished = run_stage(data, "indexing", indexing=one)
    names = [r.name for r in calls if r.name.startswith("posts")]
    assert names == [f"posts-0000000{i}-0000000{i + 1}" for i in (0, 1, 2, 2, 3)]
    assert finished.load("mathamr_plus.index").counts["posts"] == 4
    write_encoder(data, seed=0)


def test_encoder_of_other_graphs_is_refused(data: Path, catalog) -> None:
    note = Path(catalog["mathamr_plus.model"]._describe()["filepath"])
    known = note.read_text()
    others = {"prepared_graphs": "others"}
    note.write_text(json.dumps(json.loads(known) | others))
    with pytest.raises(Exception, match="trained on") as caught:
        run_stage(data, "indexing")
    assert isinstance(find_cause(caught.value), ConfigurationError)
    note.write_text(known)


def test_server_engine_without_url_says_what_is_missing(data: Path, catalog) -> None:
    with pytest.raises(Exception, match="URL of a Qdrant server"):
        run_stage(data, "indexing", indexing={"engine": {"engine": "server"}})


@pytest.mark.slow
def test_damaged_vectors_and_index_are_mended_by_the_stage(
    data: Path, catalog, caplog
) -> None:
    small = {"encoding": {"posts_per_shard": 3}}
    run_stage(data, "indexing", indexing=small)
    index, stores = (catalog.load(f"mathamr_plus.{n}") for n in ("index", "vectors"))
    mark = index.encoder

    def read_vectors():
        posts = stores.open(mark).posts
        return {key: posts.read([key]).vectors.tobytes() for key in "1234"}

    before = read_vectors()
    segment = (
        stores.base / "post_vectors" / mark / "posts-00000000-00000003.safetensors"
    )
    content = bytearray(segment.read_bytes())
    content[-3] ^= 1
    segment.write_bytes(content)
    for chunk in index.folder.rglob("chunk_0.mmap"):
        chunk.unlink()
    assert len(list_damage(index.folder / "engine", "")) == 4
    with pytest.raises(DamagedFileError, match="posts-00000000-00000003"):
        stores.open(mark)
    found = run_stage(data, "indexing", indexing=small)
    assert found.load("mathamr_plus.index").counts["posts"] == 4
    assert read_vectors() == before
    assert "are rebuilt: posts-00000000-00000003" in caplog.text
    assert list_damage(index.folder / "engine", "") == []
