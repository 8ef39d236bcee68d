"""Adapters of a sentence encoder: pairs, training, what is saved, search."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.systems import Collection, Query, read_system
from mathamr_kedro.systems import adapter as adapter_training
from mathamr_kedro.systems.adapter import TextPairs, draw_batches
from mathamr_kedro.systems.training import build_index
from mathamr_kedro.text import SentenceEncoder, find_text_model
from tests.systems.marf.conftest import TrainingPair, make_post, text_model
from tests.systems.trained import SystemFolder

pytest.importorskip("peft")

__all__ = ["text_model"]

WORDS = "prime even odd ring field group norm sum root limit graph tree".split()
POSTS = [
    make_post(f"{kind[0]}{n}", kind, f"{word} {end}", [])
    for n, word in enumerate(WORDS)
    for kind, end in (("question", "what is it"), ("answer", "this it is"))
]
MORE = 600
PAIRS = [TrainingPair(f"q{n}", f"a{n}") for n in range(len(WORDS))]


def collect(posts=POSTS, pairs=PAIRS) -> Collection:
    return Collection(
        posts=lambda: posts, pairs=lambda: pairs, checksums={"pairs": str(len(pairs))}
    )


@pytest.fixture
def settings(text_model, tmp_path):
    more = tmp_path / "more.jsonl.gz"
    with gzip.open(more, "wt") as file:
        for number in range(MORE):
            word = f"{WORDS[number % 12]} {number}"
            pair = {"question": f"{word}, but why", "answer": f"for {word}"}
            file.write(json.dumps(pair) + "\n")
    return {
        "model": {
            "base": str(text_model), "pairs": {"more": str(more)}, "rank": 4,
            "epochs": 3, "steps": 4, "batch_size": 6, "learning_rate": 0.01,
        }
    }  # fmt: skip


def prepare(folder, settings, data=None) -> SystemFolder:
    return SystemFolder.create(folder, "adapter", settings, 1, data or collect())


def test_trained_on_pairs_it_finds_answers(settings, tmp_path):
    training = prepare(tmp_path / "trained", settings)
    assert training.counts == {"collection": len(PAIRS), "more": MORE}
    history = training.train()
    assert history[-1]["loss"] < history[0]["loss"]
    assert history[0]["validation_loss"] == history[0]["loss_of_more"]

    data = collect()
    folder = build_index(tmp_path / "indexes", training.system, data, training)
    index = training.system.open(data, training.model, folder)
    answers = [post for post in POSTS if post.post_type == "answer"]
    (hits,) = index.rank([Query("query", answers[3].text)], depth=5)
    assert hits.ids[0] == answers[3].post_id
    assert set(hits.ids) <= {post.post_id for post in answers}


def test_a_stopped_training_resumes_to_the_same_weights(
    settings, tmp_path, monkeypatch
):
    whole = prepare(tmp_path / "whole", settings)
    whole.train()
    stopped = prepare(tmp_path / "stopped", settings)
    save, saved = adapter_training.save_adapter, []

    def stop(*arguments):
        save(*arguments)
        saved.append(1)
        if len(saved) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(adapter_training, "save_adapter", stop)
    with pytest.raises(KeyboardInterrupt):
        stopped.train()
    monkeypatch.undo()
    stopped.train()
    files = [t.model / "adapter_model.safetensors" for t in (whole, stopped)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_other_tools_read_the_same_model(settings, text_model, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cpu.get_capabilities", dict, raising=False)  # as they
    training = prepare(tmp_path / "trained", settings)
    training.train()
    assert list_damage(training.folder, "") == []
    texts = ["prime what is it", "this is a tree"]
    found = SentenceEncoder(training.model).encode(texts)

    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = sentence_transformers.SentenceTransformer(str(text_model), device="cpu")
    before = model.encode(texts, normalize_embeddings=True)
    model.load_adapter(str(training.model))
    after = model.encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(found, after, atol=2e-6)
    assert not np.allclose(found, before, atol=1e-3)


def test_teachers_keep_it_near_them(settings, text_model, tmp_path):
    texts = [f"{word} what is it" for word in WORDS]
    base = SentenceEncoder(text_model).encode(texts)
    wanted, far = base @ base.T, {}
    for weight in (0, 30):
        settings["model"] |= {
            "teachers": [str(text_model)] * 2, "teacher_weight": weight,
        }  # fmt: skip
        training = prepare(tmp_path / str(weight), settings)
        training.train()
        vectors = SentenceEncoder(training.model).encode(texts)
        far[weight] = np.abs(vectors @ vectors.T - wanted).mean()
    assert far[30] < far[0] / 2
    said = np.load(training.prepared / "taught" / "more.npy")
    np.testing.assert_allclose(np.linalg.norm(said, axis=1), 1, atol=2e-3)


def test_no_text_is_a_negative_of_what_it_belongs_to():
    pairs = TextPairs([("a", "x"), ("a", "y"), ("b", "z"), ("z", "x")])
    batch = pairs.batch(np.arange(4))
    assert batch.questions == ["a", "a", "b", "z"]
    assert batch.excluded.astype(int).tolist() == [
        [0, 1, 0, 1],  # both answers of a
        [1, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 0, 1, 0],  # z is not its own answer
    ]


def test_batches_are_of_one_kind_and_all_kinds_occur():
    kinds = {
        "many": TextPairs((f"q{n}", f"a{n}") for n in range(900)),
        "few": TextPairs((f"x{n}", f"y{n}") for n in range(100)),
    }
    drawn = draw_batches(kinds, 40, 10, np.random.default_rng(0))
    counts = {kind: sum(k == kind for k, _ in drawn) for kind in kinds}
    assert counts == {"many": 30, "few": 10}
    again = draw_batches(kinds, 40, 10, np.random.default_rng(0))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(drawn, again, strict=True))
    held_out = set(kinds["many"].held_out.tolist())
    used = {row for kind, rows in drawn if kind == "many" for row in rows.tolist()}
    assert held_out and not held_out & used


@pytest.mark.parametrize(
    ("line", "problem"), [("{}", "KeyError"), ("[1", "JSONDecodeError")]
)
def test_what_is_no_pair_is_named(settings, tmp_path, line, problem):
    file = tmp_path / "wrong.jsonl"
    file.write_text(f'{{"question": "a", "answer": "b"}}\n{line}\n')
    settings["model"]["pairs"] = {"wrong": str(file)}
    with pytest.raises(MalformedInputError, match=rf"wrong.jsonl', line 2.*{problem}"):
        prepare(tmp_path / "trained", settings)


def test_pairs_must_be_there(settings, tmp_path):
    settings["model"]["pairs"] = {"none": str(tmp_path / "none.jsonl")}
    with pytest.raises(MissingInputError, match=r"model\.pairs\.none"):
        prepare(tmp_path / "one", settings)
    settings["model"]["pairs"] = {}
    with pytest.raises(ConfigurationError, match="no training pairs"):
        prepare(tmp_path / "two", settings, collect(pairs=[]))


def test_a_released_adapter_asks_for_its_model(monkeypatch, tmp_path):
    monkeypatch.setenv("MATHAMR_MODELS", str(tmp_path))
    with pytest.raises(MissingInputError, match="mathamr models get mpnet"):
        find_text_model("mathamr_text")
    model = tmp_path / "all-mpnet-base-v2"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"")
    folder = find_text_model("mathamr_text")
    assert {file.name for file in folder.iterdir()} >= {
        "adapter_config.json", "adapter_model.safetensors", "README.md",
    }  # fmt: skip


def test_parameters_are_checked():
    with pytest.raises(ConfigurationError, match="batch_size"):
        read_system("adapter", {"model": {"batch_size": 1}})
