"""The four steps of MaRF, on a toy collection and on the embedded sample."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from mathamr_kedro.base.arrays import read_arrays
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MissingInputError,
)
from mathamr_kedro.base.records import Post, TrainingPair
from mathamr_kedro.systems import Collection, Query, read_system
from mathamr_kedro.systems.marf import training
from mathamr_kedro.systems.marf.networks import ContextEncoder
from mathamr_kedro.systems.marf.posts import read_post
from mathamr_kedro.systems.marf.search import MarfModel
from mathamr_kedro.systems.marf.training import TrainingPosts
from tests.conftest import PROJECT
from tests.systems.marf.conftest import SMALL, make_post, make_sources, make_topic
from tests.systems.trained import SystemFolder

PHASE = {"epochs": 10, "learning_rate": 5e-3, "batch_size": 16}


def create(base: Path, model: Path, sources: Collection, **changes: Any) -> Any:
    values = {"model": {**SMALL, "context": str(model), **changes}}
    return SystemFolder.create(base, "marf", values, 7, sources)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, text_model, sources) -> SystemFolder:
    folder = create(tmp_path_factory.mktemp("marf"), text_model, sources)
    folder.train()
    folder.index(sources)
    return folder


def read_weights(folder: Path) -> dict[str, Any]:
    names = ("formula.arrays", "fusion.arrays")
    found = {n: read_arrays(folder / n) for n in names}
    return {f"{n} {k}": v for n, arrays in found.items() for k, v in arrays.items()}


def test_what_is_prepared_can_be_counted(trained) -> None:
    counts = trained.counts
    assert counts["pairs"] + counts["validation_pairs"] == 24
    assert counts["posts"] == 48
    posts = TrainingPosts(trained.prepared)
    assert posts.formulas.counts[[0, 29]].tolist() == [2, 0]
    assert posts.texts.lengths[0] > 2
    rows = posts.formulas.find(np.array([0, 1, 29]), np.array([1, 0, 0]))
    assert rows.tolist() == [1, 2, -1]


def test_which_formulas_are_fused_is_no_matter_of_what_is_learnt(
    tmp_path, text_model, sources
) -> None:
    found = {}
    for selection in ("longest", "several"):
        values = {
            "model": {**SMALL, "context": str(text_model), "selection": selection}
        }
        folder = SystemFolder.create(tmp_path, "marf", values, 1, sources)
        found[selection] = TrainingPosts(folder.prepared)
    one, all_of_them = found["longest"], found["several"]
    assert one.formulas.counts.tolist() == all_of_them.formulas.counts.tolist()
    assert one.fused.counts.max() == 1 < all_of_them.fused.counts.max()
    assert len(one.vocabulary) == len(all_of_them.vocabulary)


def test_answers_with_many_votes_are_right_too(tmp_path, text_model) -> None:
    """Accepted answers and those with more than five votes (3.4)."""
    given = make_sources()
    voted = make_post("a90", "answer", "see there", ["a^2"], "q0")._replace(score=6)
    few = make_post("a91", "answer", "see there", ["a^2"], "q0")._replace(score=5)
    posts = (*given.posts(), voted, few)
    sources = replace(given, posts=lambda: posts)
    counts = create(tmp_path, text_model, sources).counts
    assert counts["pairs"] + counts["validation_pairs"] == 25
    assert counts["posts"] == 49
    prepared = TrainingPosts(create(tmp_path, text_model, sources).prepared)
    # formulas are learnt from accepted answers only
    assert counts["pairs_by_votes"] == len(prepared.pairs) - len(prepared.accepted)
    assert counts["pairs_by_votes"] == 1


PRETRAINED = {"epochs": 3, "learning_rate": 5e-3, "batch_size": 8}


def make_prose() -> Collection:
    """Posts of several sentences with commands of LaTeX."""
    given = make_sources()
    latex = [r"\frac{a}2", r"\Gamma", r"\gamma"]
    prose = [
        make_post(f"p{i}", "document", "We see. They go. It is so.", latex)
        for i in range(30)
    ]
    return replace(given, posts=lambda: (*given.posts(), *prose))


def test_pretraining_learns_masked_tokens_and_adds_those_of_latex(
    tmp_path, text_model
) -> None:
    folder = create(tmp_path, text_model, make_prose(), pretraining=PRETRAINED)
    context = ContextEncoder(folder.prepared / "context")
    pieces = context.tokenizer.tokenize(r"so $\frac{1}{2}\Gamma\gamma$")
    assert {r"\frac", r"\Gamma", r"\gamma"} <= {*pieces}
    base = ContextEncoder(text_model)
    rows = [e.model.get_input_embeddings().weight for e in (base, context)]
    split = base.tokenizer(r"\Gamma", add_special_tokens=False)["input_ids"]
    place = context.tokenizer.convert_tokens_to_ids(r"\Gamma")
    torch.testing.assert_close(
        rows[1][place], rows[0][split].mean(0), atol=1e-3, rtol=0
    )
    history = [r for r in folder.train() if r["part"] == "pretraining"]
    assert len(history) == 3
    assert history[-1]["validation_loss"] < history[0]["validation_loss"]
    trained = ContextEncoder(folder.model / "context")
    assert len(trained.tokenizer) == len(context.tokenizer)
    assert not torch.equal(
        trained.model.get_input_embeddings().weight, rows[1]
    )  # what was learnt is what is kept
    folder.index(make_prose())


def test_pretraining_starts_from_the_seed(tmp_path, text_model) -> None:
    found = []
    for name in ("one", "other"):
        changes = {"pretraining": {**PRETRAINED, "epochs": 1}}
        folder = create(tmp_path / name, text_model, make_prose(), **changes)
        folder.train()
        found.append(read_weights(folder.model))
        torch.rand(1)  # as other work of the process might
    for name, array in found[0].items():
        np.testing.assert_array_equal(found[1][name], array, err_msg=name)


def test_tokens_of_another_width_are_projected(tmp_path, text_model, sources) -> None:
    folder = create(tmp_path, text_model, sources, context_width=24)
    folder.train()
    folder.index(sources)
    topic = make_topic("A.1", "see here", ["a^2+1"])
    assert len(folder.open(sources)[1]["marf"]([topic], 10)[0]) == 10
    model = MarfModel(folder.model, folder.system.config.model)
    found = model.encode([read_post(Query.of_topic(topic), 1)])
    assert found["fused"].rows.vectors.shape[1] == 24
    assert found["context"].rows.vectors.shape[1] == 16


def test_epochs_of_all_parts_are_reported(trained) -> None:
    history = trained.train()
    assert [(r["part"], r["epoch"]) for r in history] == [
        ("formula", 1), ("formula", 2), ("fusion", 1), ("fusion", 2),
    ]  # fmt: skip
    assert all(r["loss"] > 0 and r["seconds"] > 0 for r in history)
    assert all(r["parameters"] > 100 and r["memory_mib"] > 1 for r in history)
    assert all(r["validation_loss"] > 0 for r in history)


def test_a_start_that_no_epoch_betters_is_kept(
    tmp_path, text_model, sources, caplog, monkeypatch
) -> None:
    compute, calls = training.contrastive_loss, count(1)

    def rise(*arguments: Any) -> Any:
        """Let what is held out get worse and worse."""
        loss = compute(*arguments)
        return loss if torch.is_grad_enabled() else 0 * loss + next(calls)

    monkeypatch.setattr(training, "contrastive_loss", rise)
    settings = {"epochs": 1, "learning_rate": 1e-2, "batch_size": 8}
    folder = create(tmp_path, text_model, sources, context_training=settings)
    folder.train()
    for part in ("context", "formula", "fusion"):
        assert f"{part}: no epoch was better than the start" in caplog.text
    before, after = (
        read_arrays(f / "context" / "model.safetensors")
        for f in (folder.prepared, folder.model)
    )
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array, err_msg=name)


def test_what_is_released_is_in_half_precision_and_nothing_else_is_left(
    trained,
) -> None:
    weights = read_weights(trained.model)
    assert {v.dtype for v in weights.values()} == {np.dtype(np.float16)}
    context = read_arrays(trained.model / "context" / "model.safetensors")
    assert {v.dtype for v in context.values()} == {np.dtype(np.float16)}
    assert not (trained.model / "work").exists()


def test_every_part_ranks_posts_and_formulas(trained, sources) -> None:
    rankers = trained.open(sources)
    names = ["marf", "marf/context", "marf/formula"]
    assert {task: sorted(found) for task, found in rankers.items()} == {
        1: names, 2: names,
    }  # fmt: skip
    topics = [make_topic("A.1", "see here", ["a^2+1"]), make_topic("A.2", "b", [])]
    for name, rank in rankers[1].items():
        first, second = rank(topics, 10)
        assert len(first.ids) == 10
        assert set(first.ids) <= {f"a{i}" for i in range(24)}
        assert len(second.ids) == (0 if name == "marf/formula" else 10)
    (hits,) = rankers[2]["marf"]([make_topic("B.1", "", ["a^2+1"], "B.1f0")], 50)
    assert hits.visual_ids[0] == "a^2+1"  # nothing is nearer than itself
    assert len(set(hits.visual_ids)) == len(hits.ids)


def test_a_topic_is_asked_by_its_longest_formula(trained, sources) -> None:
    rank = trained.open(sources)[1]["marf/formula"]
    topics = [make_topic("A.1", "", latex) for latex in (["x", "a^2+1"], ["a^2+1"])]
    several, one = rank(topics, 10)
    assert several.ids == one.ids
    assert several.scores.tolist() == pytest.approx(one.scores.tolist())


def test_candidates_have_the_scores_that_they_have_among_all(
    trained, sources, text_model
) -> None:
    topic = make_topic("A.1", "see here", ["a^2+1"])
    (every,) = trained.open(sources)[1]["marf"]([topic], 24)
    values = {"model": {**SMALL, "context": str(text_model)},
              "search": {"candidates": 5, "tasks": [1], "parts": []}}  # fmt: skip
    few = SystemFolder.create(trained.folder.parents[1], "marf", values, 7, sources)
    assert few.folder == trained.folder
    few.index(sources)
    assert list(few.open(sources)) == [1]
    (hits,) = few.open(sources)[1]["marf"]([topic], 5)
    scores = dict(every)
    assert len(hits.ids) == 5
    assert [scores[key] for key in hits.ids] == pytest.approx(hits.scores.tolist())


def test_a_post_is_scored_by_the_mean_over_its_formulas(trained, sources) -> None:
    """Algorithm 1, from the vectors of the index and of the query."""
    model = MarfModel(trained.model, trained.system.config.model)
    topic = make_topic("A.1", "see here", ["a^2+1"])
    (hits,) = trained.open(sources)[1]["marf"]([topic], 24)
    query = (
        model.encode([read_post(Query.of_topic(topic), 1)])["fused"]
        .rows.vectors.double()
        .numpy()
    )
    posts = {post.post_id: post for post in sources.posts()}
    for key, score in hits:
        rows, counts = model.encode([read_post(posts[key], 6)])["fused"]
        assert counts == [max(1, len(posts[key].formula_map))]
        parts = np.split(rows.vectors.double().numpy(), rows.host_ptr[1:-1])
        means = [(query @ part.T).max(1).mean() for part in parts]
        assert score == pytest.approx(np.mean(means), abs=2e-3)  # half precision


class KilledError(Exception):
    """What a kill is to a test."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"context_training": {"epochs": 1, "learning_rate": 1e-3, "batch_size": 8}},
        {"scoring": "passage", "selection": "longest"},
        {"pretraining": {**PRETRAINED, "epochs": 1}},
    ],
)
def test_a_killed_training_ends_with_the_same_weights(
    tmp_path, text_model, sources, monkeypatch, changes
) -> None:
    sources = make_prose() if "pretraining" in changes else sources
    whole = create(tmp_path / "whole", text_model, sources, **changes)
    whole.train()
    folder = create(tmp_path / "killed", text_model, sources, **changes)
    compute, steps = training.contrastive_loss, [0]

    def die(*arguments: Any) -> Any:
        steps[0] += 1
        if steps[0] % 9 == 0:
            raise KilledError
        return compute(*arguments)

    monkeypatch.setattr(training, "contrastive_loss", die)
    kills = 0
    while True:
        try:
            folder.train()
            break
        except KilledError:
            kills += 1
    assert kills >= 2
    expected, found = read_weights(whole.model), read_weights(folder.model)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_fine_tuning_changes_the_context_encoder(tmp_path, text_model, sources) -> None:
    settings = {"epochs": 2, "learning_rate": 1e-2, "batch_size": 8}
    folder = create(tmp_path, text_model, sources, context_training=settings)
    history = folder.train()
    losses = [r["loss"] for r in history if r["part"] == "context"]
    assert losses[1] < losses[0]
    before = read_arrays(folder.prepared / "context" / "model.safetensors")
    after = read_arrays(folder.model / "context" / "model.safetensors")
    assert any((after[name] != before[name]).any() for name in after)


def test_a_damaged_checkpoint_is_named(
    tmp_path, text_model, sources, monkeypatch
) -> None:
    folder = create(tmp_path, text_model, sources)

    def stop(*arguments: Any) -> None:
        raise KilledError

    monkeypatch.setattr(training, "VectorWriter", stop)
    with pytest.raises(KilledError):
        folder.train()
    checkpoint = folder.model / "work" / "formula.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-9])
    with pytest.raises(DamagedFileError, match=r"formula\.pt.*start again"):
        folder.train()


def test_too_few_pairs_are_named(tmp_path, text_model) -> None:
    folder = create(tmp_path, text_model, make_sources(1))
    with pytest.raises(ConfigurationError, match=r"at least 2 pairs.*\(got [01]\)"):
        folder.train()


def test_a_missing_text_model_says_how_to_get_it(
    tmp_path, sources, monkeypatch
) -> None:
    monkeypatch.setenv("MATHAMR_MODELS", str(tmp_path / "none"))
    with pytest.raises(MissingInputError, match="mathamr models get mpnet"):
        SystemFolder.create(tmp_path, "marf", {}, 7, sources)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": {"width": 100}}, "multiple of twice the heads, 16"),
        ({"model": {"layers": 0}}, "layers of at least 1"),
        ({"model": {"fusion_training": {"epochs": 1, "learning_rate": 0.0}}},
         "learning_rate above 0"),
        ({"search": {"tasks": [3]}}, "tasks among"),
        ({"search": {"parts": ["text"]}}, "one of"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(values, message) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_system("marf", values)


def test_a_phase_keeps_its_other_defaults() -> None:
    one = read_system("marf", {"model": {"context_training": {"epochs": 3}}})
    assert one.config.model.context_training.learning_rate == 2e-5


@pytest.mark.slow
def test_training_runs_on_a_bare_machine(tmp_path, text_model, sources) -> None:
    """Without the packages that read collections and without sentence-transformers."""
    folder = create(tmp_path, text_model, sources)
    hidden = ["pyarrow", "penman", "kedro", "pandas", "nltk", "lxml", "scipy",
              "sentence_transformers", "qdrant_client",
              "torch_geometric"]  # fmt: skip
    script = (
        "import sys\n"
        f"for name in {hidden!r}: sys.modules[name] = None\n"
        "from mathamr_kedro.systems.__main__ import main\n"
        f"sys.exit(main({folder.arguments!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads((folder.folder / "history.json").read_text())) == 4


SPAN = re.compile(r'<span class="math-container" id="(\d+)">(.*?)</span>', re.S)


def read_sample_post(row: ElementTree.Element) -> Post:
    """Read a post of the sample: tags go, formulas become mentions."""
    body = f"{row.get('Title', '')} {row.get('Body', '')}"
    latex = [html.unescape(found) for _, found in SPAN.findall(body)]
    words = re.sub(r"<[^>]+>", "", SPAN.sub("", body))
    kind = "question" if row.get("PostTypeId") == "1" else "answer"
    words = " ".join(words.split())
    return make_post(row.get("Id", ""), kind, words, latex, row.get("ParentId"))


def read_sample(threads: int) -> Collection:
    """The first threads of the embedded sample that have an answer."""
    path = PROJECT / "data/01_raw/sample/Posts.V1.3.xml"
    rows = ElementTree.parse(path).getroot()
    posts = {p.post_id: p for p in map(read_sample_post, rows) if p.formula_map}
    answers = {p.parent_id: p for p in posts.values() if p.parent_id in posts}
    pairs = [TrainingPair(q, a.post_id) for q, a in answers.items()][:threads]
    kept = [posts[key] for pair in pairs for key in pair]
    return Collection(posts=lambda: kept, pairs=lambda: pairs)


@pytest.mark.slow
def test_training_on_the_sample_ranks_better_than_the_frozen_encoder(
    tmp_path, text_model, monkeypatch
) -> None:
    sample = read_sample(48)
    # so few pairs choose no epoch: the last one counts
    monkeypatch.setattr("mathamr_kedro.systems.marf.posts._VALIDATION_SHARE", 0.0)
    # the tokens of a model of random weights are much alike: it takes large steps
    fusion = {**PHASE, "epochs": 20, "learning_rate": 3e-2}
    values = {
        "model": {**SMALL, "context": str(text_model),
                  "formula_training": PHASE, "fusion_training": fusion},
        "search": {"tasks": [1]},
    }  # fmt: skip
    folder = SystemFolder.create(tmp_path, "marf", values, 7, sample)
    history = folder.train()
    for part in ("formula", "fusion"):
        losses = [r["loss"] for r in history if r["part"] == part]
        assert losses[-1] < losses[0]
    folder.index(sample)
    rankers = folder.open(sample)[1]
    posts = {p.post_id: p for p in sample.posts()}
    topics = [
        make_topic(p.question_id, "", [])._replace(
            text=posts[p.question_id].text, formula_map=posts[p.question_id].formula_map
        )
        for p in sample.pairs()
    ]

    def find_reciprocal_rank(name: str) -> float:
        found = zip(rankers[name](topics, len(posts)), sample.pairs(), strict=True)
        places = [hits.ids.index(pair.answer_id) for hits, pair in found]
        return float(np.mean(1 / (np.array(places) + 1)))

    chance = float(np.mean(1 / np.arange(1, len(topics) + 1)))
    assert find_reciprocal_rank("marf/formula") > 2 * chance
    assert find_reciprocal_rank("marf") > 1.4 * find_reciprocal_rank("marf/context")
