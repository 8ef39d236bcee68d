"""Formulas without posts: trees as they are given, other topics by two settings."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from mathamr_kedro.datasets.artefact import TABLES, collect
from tests.conftest import PROJECT

pytestmark = pytest.mark.slow

FORMULAS = """visual_id\tlatex\tslt\topt
31\ta+1\t[V!a[+[N!1]]]\t[U!plus,0[V!a],1[N!1]]
7\t\t[V!f,b[N!0]]\t[O!SUB,0[V!f],1[N!0]]
"""
TOPICS = """topic\tformula_id\tlatex\tslt\topt
B.5\tq_1\tb+1.\t[V!b[+[N!1]]]\t[U!plus,0[V!b],1[N!1]]
"""


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "collection" / "task2_2020_pool"
    folder.mkdir(parents=True)
    (folder / "formulas.tsv.gz").write_bytes(gzip.compress(FORMULAS.encode()))
    (folder / "topics.tsv").write_text(TOPICS)
    (folder / "qrel_all74_visual_v2.odd.tsv").write_text("B.5\t0\t31\t3\n")
    return folder.parent


def test_posts_and_topics_have_the_given_trees(ingest, pool: Path) -> None:
    catalog = ingest("formula_pool", pool)
    store = catalog.load("formula_trees")
    shown = {
        record[0]: store.trees(record.formula_map[0].visual_id).opt.to_string()
        for table in ("posts", "topics")
        for record in catalog.load(table).records()
    }
    assert shown == {
        "31": "[U!plus,0[V!a],1[N!1]]",
        "7": "[O!SUB,0[V!f],1[N!0]]",
        "B.5": "[U!plus,0[V!b],1[N!1]]",
    }
    assert store.count_sources() == {("brackets", "brackets"): 3}
    assert catalog.load("visual_index")("7") == "7"
    assert list(catalog.load("training_pairs").records()) == []


def test_settings_name_other_topics_and_judgments(
    ingest, pool: Path, tmp_path: Path, monkeypatch
) -> None:
    (tmp_path / "topics.tsv").write_text(TOPICS.replace("B.5", "B.6"))
    (tmp_path / "qrels.tsv").write_text("B.6\t0\t7\t2\n")
    monkeypatch.setenv("MATHAMR_TOPICS", str(tmp_path / "topics.tsv"))
    monkeypatch.setenv("MATHAMR_QRELS", str(tmp_path / "qrels.tsv"))
    catalog = ingest("formula_pool", pool)
    assert [t.topic_id for t in catalog.load("topics").records()] == ["B.6"]
    assert [j.doc_id for j in catalog.load("judgments").records()] == ["7"]


def test_formulas_that_are_only_learnt_from_have_trees(ingest, pool: Path) -> None:
    (pool / "pairs").mkdir()
    names = re.findall(
        r"pairs/([\w.]+)", (PROJECT / "conf/overlays/all_formulas.yml").read_text()
    )
    for number, name in enumerate(names):
        pair = {"id": name, "question": f"Is $z^{number}$ or $a+1$?", "answer": "$w$."}
        (pool / "pairs" / name).write_bytes(gzip.compress(json.dumps(pair).encode()))
    catalog = ingest("formula_pool+all_formulas", pool)
    returnable = [f.visual_id for f in catalog.load("returnable_formulas").records()]
    assert returnable == ["31", "7"]
    learnt = {f.latex: f for f in catalog.load("training_formulas").records()}
    assert set(learnt) >= {f"z^{n}" for n in range(len(names))} | {"w", "a+1"}
    tables = ("formulas", "training_formulas", "trees_of")
    data = collect({part: catalog.load(TABLES[part]) for part in tables})
    found = list(data.list_learnable())
    assert len(found) == len({f.visual_id for f in found}) >= len(names) + 4
    assert data.trees_of(learnt["w"]).opt.to_string() == "[V!𝑤]"
    stored = catalog.load("formula_trees").trees(learnt["z^1"].visual_id)
    assert stored.opt.to_string() == "[O!SUP,0[V!𝑧],1[N!1]]"
    # Other formulas to learn from change nothing of those that may be returned.
    plain = ingest("formula_pool", pool)
    assert list(plain.load("training_formulas").records()) == []
    assert [f.visual_id for f in plain.load("returnable_formulas").records()] == [
        "31",
        "7",
    ]
