"""The indexing stage on a tiny collection with an encoder of random weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from kedro.framework.hooks import hook_impl

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MissingInputError,
    find_cause,
)
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.systems import Query
from mathamr_kedro.systems.mathamr_plus import CollectionVectors, open_vectors
from mathamr_kedro.systems.mathamr_plus.encoder import FACTS
from mathamr_kedro.systems.mathamr_plus.encoding import EncodeRanges
from tests.pipelines.graph_world import prepare_graphs, run_stage, watch_stage
from tests.pipelines.search_world import write_encoder

SMALL = {"encoding": {"posts_per_shard": 3}}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    prepare_graphs(folder)
    write_encoder(folder)
    return folder


@pytest.fixture(scope="module")
def catalog(data: Path):
    return run_stage(data, "indexing", indexing=SMALL)


def read_vectors(catalog, verify: bool = False) -> CollectionVectors:
    return open_vectors(catalog.load("mathamr_plus.model").vectors_folder, verify)


def test_every_post_and_topic_is_encoded(catalog) -> None:
    topics, store = read_vectors(catalog)
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
    assert index.counts["encoder"] == catalog.load("mathamr_plus.model").checksum


@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_index_counts_vectors_and_bytes_by_type_of_post(
    data: Path, catalog, engine: str
) -> None:
    again = run_stage(data, "indexing", indexing=SMALL | {"engine": {"engine": engine}})
    record = again.load("mathamr_plus.index").counts
    store = read_vectors(again).posts
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
def test_index_answers_both_tasks(data: Path, catalog, engine: str) -> None:
    again = run_stage(data, "indexing", indexing=SMALL | {"engine": {"engine": engine}})
    index = again.load("mathamr_plus.index")
    (hits,) = index.rank(index.prepare([Query("A.1")]), depth=10)
    assert sorted(hits.ids) == ["2", "4"]
    formula = FormulaInstance("f1", "", "A.1", "")
    asked = index.prepare([Query("A.1", formula=formula)])
    (formulas,) = index.rank(asked, depth=10)
    assert set(formulas.visual_ids) == {"70", "xabc"}
    index.close()


def test_second_run_encodes_nothing(data: Path, catalog, monkeypatch) -> None:
    before = catalog.load("mathamr_plus.index").folder
    monkeypatch.setattr(
        "mathamr_kedro.systems.mathamr_plus.encoding.encode_shards", None
    )
    again = run_stage(data, "indexing", indexing=SMALL)
    assert again.load("mathamr_plus.index").folder == before


class Watch:
    """Notes what the nodes of MathAMR+ have written by the time that they end."""

    def __init__(self, data: Path) -> None:
        self.base = data / "06_models/systems/mathamr_plus"
        self.events: list[tuple[str, int, int]] = []

    def note(self, event: str) -> None:
        vectors = list(self.base.glob("*/vectors/*/posts"))
        indexes = list(self.base.glob("indexes/[!.]*/counts.json"))
        self.events.append((event, len(vectors), len(indexes)))

    @hook_impl
    def before_node_run(self, node) -> None:
        self.note(f"runs {node.name}")

    @hook_impl
    def after_node_run(self, node) -> None:
        self.note(f"ran {node.name}")

    @hook_impl
    def before_dataset_saved(self, dataset_name: str) -> None:
        self.note(f"saving {dataset_name}")


def test_the_node_encodes_and_indexes(tmp_path: Path) -> None:
    prepare_graphs(tmp_path)
    write_encoder(tmp_path)
    watch = Watch(tmp_path)
    watch_stage(tmp_path, "indexing", watch)
    begin = watch.events.index(("runs indexing.mathamr_plus.index", 0, 0))
    assert watch.events[begin + 1 :][:2] == [
        ("ran indexing.mathamr_plus.index", 1, 1),
        ("saving mathamr_plus.index", 1, 1),
    ]


@pytest.mark.slow
def test_killed_encoding_goes_on_behind_the_last_shard(
    data: Path, catalog, monkeypatch
) -> None:
    write_encoder(data, seed=1)
    one = {"encoding": {"posts_per_shard": 1}}
    calls = []
    original = EncodeRanges.__call__

    def stop(self, ranges):
        calls.extend(ranges)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, ranges)

    monkeypatch.setattr(EncodeRanges, "__call__", stop)
    with pytest.raises(KeyboardInterrupt):
        run_stage(data, "indexing", indexing=one)
    with pytest.raises(MissingInputError, match="it resumes"):
        read_vectors(catalog)
    finished = run_stage(data, "indexing", indexing=one)
    names = [r.name for r in calls if r.name.startswith("posts")]
    assert names == [f"posts-0000000{i}-0000000{i + 1}" for i in (0, 1, 2, 2, 3)]
    assert finished.load("mathamr_plus.index").counts["posts"] == 4
    write_encoder(data, seed=0)


def test_encoder_of_other_graphs_is_refused(data: Path, catalog) -> None:
    facts = catalog.load("mathamr_plus.model").model / FACTS
    known = facts.read_text()
    others = {"prepared_graphs": "others"}
    facts.write_text(json.dumps(json.loads(known) | others))
    with pytest.raises(Exception, match="trained on") as caught:
        run_stage(data, "indexing", indexing={"dtype": "float16"})
    assert isinstance(find_cause(caught.value), ConfigurationError)
    facts.write_text(known)


def test_server_engine_without_url_says_what_is_missing(data: Path, catalog) -> None:
    with pytest.raises(Exception, match="URL of a Qdrant server"):
        run_stage(data, "indexing", indexing={"engine": {"engine": "server"}})


@pytest.mark.slow
def test_damaged_vectors_and_index_are_mended_by_the_stage(
    data: Path, catalog, caplog
) -> None:
    run_stage(data, "indexing", indexing=SMALL)
    index, folder = (catalog.load(f"mathamr_plus.{n}") for n in ("index", "model"))

    def list_vectors():
        posts = read_vectors(catalog, verify=True).posts
        return {key: posts.read([key]).vectors.tobytes() for key in "1234"}

    before = list_vectors()
    (segment,) = folder.vectors_folder.glob("posts/posts-00000000-00000003.*")
    content = bytearray(segment.read_bytes())
    content[-3] ^= 1
    segment.write_bytes(content)
    for chunk in index.folder.rglob("chunk_0.mmap"):
        chunk.unlink()
    with pytest.raises(DamagedFileError, match="posts-00000000-00000003"):
        list_vectors()
    found = run_stage(data, "indexing", indexing=SMALL).load("mathamr_plus.index")
    assert found.verify().counts["posts"] == 4
    assert list_vectors() == before
    assert "are rebuilt: posts-00000000-00000003" in caplog.text
    (hits,) = found.rank(found.prepare([Query("A.1")]), depth=10)
    assert sorted(hits.ids) == ["2", "4"]
