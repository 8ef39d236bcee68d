"""The whole system over a small collection: trained, killed, indexed, asked."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.errors import (
    MalformedInputError,
    MissingInputError,
    TrainingError,
)
from mathamr_kedro.systems import Query
from mathamr_kedro.systems.__main__ import main
from mathamr_kedro.systems.folds import ALL
from mathamr_kedro.systems.mathamr import search as searching
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.encoder import TextEncoder
from mathamr_kedro.systems.mathamr.training import read_triples
from tests.kills import kill_module
from tests.systems.mathamr.world import make_sources, make_text_model
from tests.systems.trained import SystemFolder

MODEL = {
    "epochs": 6, "folds": 2, "learning_rate": 0.01, "batch_size": 16,
    "max_length": 64,
}  # fmt: skip


@pytest.fixture(scope="module")
def text_model(tmp_path_factory):
    return make_text_model(tmp_path_factory.mktemp("text_model"))


def create(base, text_model, seed=1, search=None, **model):
    values = {
        "model": {**MODEL, "text_model": str(text_model), **model},
        "search": search or {},
    }
    return SystemFolder.create(base, "mathamr", values, seed, make_sources())


@pytest.fixture(scope="module")
def trained(tmp_path_factory, text_model):
    folder = create(tmp_path_factory.mktemp("trained"), text_model)
    folder.train()
    return folder


def measure(folder: SystemFolder, system: str) -> float:
    """Mean precision of the first four: each topic has four formulas of its subject."""
    sources = make_sources()
    folder.train()
    folder.index(sources)
    topics = sources.topics()
    lists = folder.open(sources)[2][system](topics, 16)
    relevant = {
        t.topic_id: {j.doc_id for j in sources.judgments()
                     if j.topic_id == t.topic_id and j.grade == 3}
        for t in topics
    }  # fmt: skip
    shares = [
        len(relevant[topic.topic_id] & {*hits.visual_ids[:4]}) / 4
        for topic, hits in zip(topics, lists, strict=True)
    ]
    return float(np.mean(shares))


@pytest.mark.slow
def test_training_helps_on_topics_that_it_has_not_seen(tmp_path, text_model, trained):
    before = measure(create(tmp_path, text_model, epochs=0), "mathamr/cosine")
    after = measure(trained, "mathamr/cosine")
    assert after > before + 0.15
    history = trained.train()
    assert {record["model"] for record in history} == {"0", "1", ALL}
    assert history[5]["validation_loss"] < history[0]["validation_loss"]
    assert list_damage(trained.model, "") == []
    assert trained.counts["triples"] == 192
    assert trained.counts["topics"] == 12


@pytest.mark.slow
def test_each_topic_is_searched_by_a_model_that_did_not_learn_from_it(
    trained, monkeypatch
):
    folds = json.loads((trained.model / "folds.json").read_text())
    triples = read_triples(trained.prepared / "triples.jsonl")
    assert folds.keys() == {t.topic_id for t in triples}
    sources = make_sources()
    trained.index(sources)
    opened = []

    class Noted(searching.TextEncoder):
        def __init__(self, folder, max_length):
            opened.append(folder.name)
            super().__init__(folder, max_length)

    monkeypatch.setattr(searching, "TextEncoder", Noted)
    topics = sources.topics()[:3]
    trained.open(sources)[2]["mathamr/cosine"](topics, 3)
    assert {*opened} == {folds[t.topic_id] for t in topics}
    opened.clear()
    typed = topics[0]._replace(topic_id="B.99")
    trained.open(sources)[2]["mathamr/cosine"]([typed], 3)
    assert {*opened} == {ALL}


def test_reranking_and_fusion_are_what_they_are_said_to_be(trained):
    """The same formulas by cosine; then both by the equation of the fusion."""
    sources = make_sources()
    trained.index(sources)
    rankers = trained.open(sources)[2]
    assert list(rankers) == [
        "mathamr", "mathamr/rerank", "mathamr/bm25_slt", "mathamr/cosine",
    ]  # fmt: skip
    for topic in sources.topics():
        (first,) = rankers["mathamr/bm25_slt"]([topic], 1000)
        (cosine,) = rankers["mathamr/cosine"]([topic], 1000)
        (again,) = rankers["mathamr/rerank"]([topic], 1000)
        (fused,) = rankers["mathamr"]([topic], 1000)
        kept = [v for v in cosine.visual_ids if v in {*first.visual_ids}]
        assert again.visual_ids == kept
        assert sorted(fused.visual_ids) == sorted(first.visual_ids)
        expected = dict.fromkeys(first.visual_ids, 0.0)
        for hits in (first, again):
            low, high = hits.scores.min(), hits.scores.max()
            # as trec_eval ranks: by score, then by id, the last first
            pairs = zip(hits.scores.tolist(), hits.visual_ids, strict=True)
            for rank, (score, visual) in enumerate(sorted(pairs, reverse=True), 1):
                scaled = (score - low) / (high - low) if high > low else 1.0
                expected[visual] += scaled / (60 + rank)
        found = dict(zip(fused.visual_ids, fused.scores.tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-8)


def test_runs_of_others_are_reranked(tmp_path, trained, text_model):
    sources = make_sources()
    topic = sources.topics()[0]
    visuals = [f.visual_id for f in sources.formulas()][:3]
    run = tmp_path / "theirs.tsv"
    lines = [f"{topic.topic_id} Q0 {v} {n} {9 - n} x" for n, v in enumerate(visuals, 1)]
    run.write_text("\n".join([*lines, f"{topic.topic_id} Q0 other 4 1 x"]) + "\n")
    search = {"first_stage": "none", "runs": {"theirs": str(run)}}
    values = trained.system.config.model
    folder = create(tmp_path, text_model, search=search, epochs=0)
    folder.train()
    folder.index(sources)
    rankers = folder.open(sources)[2]
    names = ["mathamr/rrf_theirs", "mathamr/rerank_theirs", "mathamr/theirs", "mathamr"]
    assert list(rankers) == names
    (again,) = rankers["mathamr/rerank_theirs"]([topic], 10)
    assert sorted(again.visual_ids) == sorted(visuals)
    (given,) = rankers["mathamr/theirs"]([topic], 10)
    assert given.visual_ids == visuals
    (none,) = rankers["mathamr/rrf_theirs"]([sources.topics()[5]], 10)
    assert len(none) == 0
    run.write_text(f"{topic.topic_id} Q0 other 4 1 x\n")
    with pytest.raises(MalformedInputError, match="formulas of this collection"):
        folder.open(sources)
    assert values.folds == 2


def test_a_run_that_holds_the_whole_index_is_said_to_choose_nothing(
    tmp_path, trained, text_model, caplog
):
    sources = make_sources()
    run = tmp_path / "all.tsv"
    visuals = [f.visual_id for f in sources.formulas()]
    topics = sources.topics()[:2]
    run.write_text(
        "".join(f"{t.topic_id} Q0 {v} {n} {99 - n} x\n"
                for t in topics for n, v in enumerate(visuals, 1))
    )  # fmt: skip
    for depth in (1000, 5):
        search = {"runs": {"all": str(run), "words": "bm25"}, "depth": depth}
        folder = create(tmp_path, text_model, search=search, epochs=0)
        folder.train()
        folder.index(sources)
        rankers = folder.open(sources)[2]
        caplog.clear()
        found = rankers["mathamr/rerank_all"](topics, 50)
        assert ("chooses nothing" in caplog.text) == (depth == 1000)
        assert {len(hits) for hits in found} == {min(depth, len({*visuals}))}
        (words,) = rankers["mathamr/words"](topics[:1], 50)
        assert {*rankers["mathamr/rerank_words"](topics[:1], 50)[0].visual_ids} == {
            *words.visual_ids[:depth]
        }


@pytest.mark.parametrize("representation", ["amr_opt", "text_latex", "opt"])
def test_answers_are_ranked_by_their_strings_and_those_of_their_questions(
    tmp_path, text_model, representation
):
    """Task 1, from the strings of whole posts."""
    given = make_sources()
    posts = [
        p._replace(post_type="question") if n % 4 == 0
        else p._replace(parent_id=given.posts()[n - n % 4].post_id)
        for n, p in enumerate(given.posts())
    ]  # fmt: skip
    sources = replace(given, posts=lambda: posts)
    values = {"model": {**MODEL, "text_model": str(text_model), "epochs": 0,
                        "representation": representation},
              "search": {"tasks": [1, 2]}}  # fmt: skip
    folder = SystemFolder.create(tmp_path, "mathamr", values, 1, sources)
    folder.train()
    folder.index(sources)
    topics = [t._replace(task="task1") for t in sources.topics()[:3]]
    contexts = Contexts(representation, sources)
    texts = dict(contexts.write_posts())
    encoder = TextEncoder(folder.model / ALL, 512)
    encode = {key: encoder.encode([text])[0] for key, text in texts.items()}
    lists = folder.open(sources)[1]["mathamr"](topics, 50)
    for topic, hits in zip(topics, lists, strict=True):
        (query,) = encoder.encode([contexts.write_topic(Query.of_topic(topic))])
        expected = {
            p.post_id: max(0, query @ encode[p.post_id])
            * max(0, query @ encode[p.parent_id])
            for p in posts
            if p.parent_id
        }
        found = dict(zip(hits.ids, hits.scores.tolist(), strict=True))
        assert found == pytest.approx(expected, abs=2e-3)  # half precision
        assert len(found) == 12


def write_weights(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    return {
        path.parent.name: load_file(path)
        for path in sorted(folder.glob("*/model.safetensors"))
    }


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_weights(tmp_path, text_model):
    whole, killed = (
        create(tmp_path / name, text_model, epochs=2, folds=2)
        for name in ("whole", "killed")
    )
    checkpoint = killed.model / "0.pt"
    kill_module("mathamr_kedro.systems", *killed.arguments, after=("*/0.pt", 1))
    assert checkpoint.exists()
    assert not (killed.folder / "history.json").exists()
    for folder in (whole, killed):
        command = [sys.executable, "-m", "mathamr_kedro.systems", *folder.arguments]
        subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
    ends = [write_weights(folder.model) for folder in (whole, killed)]
    assert ends[0].keys() == ends[1].keys() == {"0", "1", ALL}
    for model, weights in ends[0].items():
        for name, value in weights.items():
            assert np.array_equal(value, ends[1][model][name]), (model, name)
    assert not checkpoint.exists()


@pytest.mark.slow
def test_a_bare_machine_trains():
    """Nothing is imported that a machine with torch and transformers may lack."""
    code = (
        "import sys\n"
        "absent = 'kedro pandas pyarrow penman lxml scipy spacy nltk'\n"
        "sys.modules.update(dict.fromkeys(absent.split()))\n"
        "import mathamr_kedro.systems.__main__\n"
        "from mathamr_kedro.systems import read_system\n"
        "read_system('mathamr', {'model': {'epochs': 1}})\n"
        "import mathamr_kedro.systems.mathamr.training\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_both_losses_are_used(tmp_path, text_model):
    for record in create(tmp_path, text_model, epochs=2, folds=2).train()[:2]:
        assert record["contrastive"] > 0 and record["multiple_negatives"] > 0


def test_what_cannot_be_trained_says_why(tmp_path, text_model):
    folder = create(tmp_path, text_model, learning_rate=1e30, epochs=1)
    with pytest.raises(TrainingError, match="lower its learning_rate"):
        folder.train()
    (folder.prepared / "triples.jsonl").unlink()
    with pytest.raises(MissingInputError, match=r"triples\.jsonl"):
        folder.train()
    assert main(folder.arguments) == 1


@pytest.mark.parametrize(
    "representation", ["amr_latex", "text_opt", "text_latex", "opt"]
)
def test_every_form_of_table_1_can_be_searched(tmp_path, text_model, representation):
    folder = create(tmp_path, text_model, representation=representation, epochs=0)
    folder.train()
    sources = make_sources()
    assert folder.index(sources)["formulas"] == 16
    for rank in folder.open(sources)[2].values():
        assert len(rank(sources.topics(), 5)) == 12
