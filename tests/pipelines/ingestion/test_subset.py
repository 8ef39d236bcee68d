"""``--env arqmath+judged``: the judged subset of a collection in the lab's layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from kedro.framework.session import KedroSession

from mathamr_kedro.project.catalog import configure_kedro
from tests.pipelines.arqmath_world import PROJECT, write_collection

pytestmark = pytest.mark.slow


def ingest(raw: Path, data: Path, **subset):
    configure_kedro(PROJECT)
    params = {
        "data_root": str(data),
        "raw_root": str(raw),
        "ingestion": {"subset": subset},
    }
    create = {"env": "arqmath+judged", "runtime_params": params}
    with KedroSession.create(PROJECT, **create) as session:
        session.run(pipeline_names=["ingestion"])
    return KedroSession.create(PROJECT, **create).load_context().catalog


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("arqmath")
    write_collection(folder)
    return folder


def ids(catalog, name: str) -> list[str]:
    return [record[0] for record in catalog.load(name).records()]


def test_the_subset_of_the_last_edition(raw: Path, tmp_path: Path):
    catalog = ingest(raw, tmp_path, pairs=2)
    posts = list(catalog.load("posts").records())
    assert [p.post_id for p in posts if p.post_type == "answer"] == ["11", "12"]
    assert [p.post_type for p in posts[2:]] == ["example"] * (len(posts) - 2)
    pairs = list(catalog.load("training_pairs").records())
    assert len(pairs) == 2
    assert {post for pair in pairs for post in pair} <= {p.post_id for p in posts}
    assert ids(catalog, "comments") == ["5"]
    assert ids(catalog, "topics") == ["A.301", "A.302"]
    assert {j.topic_id for j in catalog.load("judgments").records()} == {
        "A.301", "A.302",
    }  # fmt: skip
    report = catalog.load("ingestion_report")
    assert "| task1 | 3 | 2 | 1 |" in report
    assert f"| Posts of the subset | {len(posts)} |" in report
    reasons = {f.reason for f in catalog.load("ingestion_failures").records()}
    assert reasons == {"judged_document_unknown"}  # 99


def test_judged_formulas_of_all_editions_with_the_questions(raw: Path, tmp_path: Path):
    catalog = ingest(
        raw, tmp_path, tasks=["task1", "task2"], editions="all", questions=True, pairs=0
    )
    # judged answers, their questions, and 50, which holds the judged formula
    assert ids(catalog, "posts") == [
        "10",
        "11",
        "12",
        "20",
        "21",
        "22",
        "30",
        "31",
        "50",
    ]
    assert ids(catalog, "training_pairs") == ["10", "20", "30"]
    assert ids(catalog, "formulas") == ["10", "20", "30", "50"]
    assert len(ids(catalog, "topics")) == 12


def test_the_whole_collection_stays_where_it_is():
    configure_kedro(PROJECT)
    for env, root in (
        ("arqmath+judged", "data/arqmath/judged"),
        ("judged", "data/judged"),
    ):
        catalog = KedroSession.create(PROJECT, env=env).load_context().catalog
        assert f"/{root}/02_intermediate/" in f"/{catalog['posts']._describe()}"
