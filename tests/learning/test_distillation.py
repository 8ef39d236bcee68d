"""Learning from a sentence encoder against plain loops over its definition."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.learning.distillation import DistillationConfig, TextTeacher
from mathamr_kedro.learning.inputs import TrainingInputs
from mathamr_kedro.learning.losses import ContrastiveLoss, LossConfig
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.trainer import train
from mathamr_kedro.model.maxsim import maxsim
from tests.learning.conftest import make_posts

TEXTS = DistillationConfig(document_weight=2.0)


@pytest.fixture
def texts(shards):
    """A vector of each post; some have none."""
    torch.manual_seed(5)
    vectors = torch.randn(len(shards), 6)
    vectors[[1, 4, 8]] = 0
    return vectors


def lose_by_text(queries, documents, texts, temperature):
    """The loss of a text teacher with one post after another, in float64."""
    table = F.normalize(texts.double(), dim=1)
    # Posts 0 to 5 are queries, 6 to 11 documents; the document vector is the last.
    mine = [
        [posts.vectors[int(end) - 1].double() for end in posts.ptr[1:]]
        for posts in (queries, documents)
    ]
    partners = [j for j in range(6) if texts[6 + j].any()]
    anchors = [i for i in range(6) if texts[i].any()]
    total = 0.0
    for i in anchors:
        wanted = [(table[i] @ table[6 + j] / 0.05).item() for j in partners]
        found = [(mine[0][i] @ mine[1][j] / temperature).item() for j in partners]
        p = [math.exp(x) / sum(map(math.exp, wanted)) for x in wanted]
        q = [math.exp(x) / sum(map(math.exp, found)) for x in found]
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    return 2.0 * total / len(anchors)


def test_scores_learn_from_texts_too(shards, texts):
    queries, documents = make_posts(shards)
    both = replace(TEXTS, document_weight=0.0, score_weight=3.0)
    teacher = TextTeacher(texts, shards, both)
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(1))
    table = F.normalize(texts.double(), dim=1)
    partners = [j for j in range(6) if texts[6 + j].any()]
    total, anchors = 0.0, [i for i in range(6) if texts[i].any()]
    for i in anchors:
        wanted = [math.exp(table[i] @ table[6 + j] / 0.05) for j in partners]
        found = [math.exp(scores[i, j] / 0.3) for j in partners]
        p, q = ([x / sum(xs) for x in xs] for xs in (wanted, found))
        total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    loss = teacher.distil(queries, documents, torch.tensor(0.3), scores)
    assert loss.item() == pytest.approx(3 * total / len(anchors), rel=1e-5)
    # A training only by document vectors has no scores.
    assert teacher.distil(queries, documents, torch.tensor(0.3)).item() == 0
    plain = ContrastiveLoss(LossConfig())(queries, documents).loss
    whole = ContrastiveLoss(LossConfig(), teachers=[teacher])
    more = whole(queries, documents).loss - plain
    mine = maxsim(queries, documents, "fp32")
    expected = teacher.distil(queries, documents, whole.temperature, mine)
    assert more.item() == pytest.approx(expected.item(), rel=1e-4)


def test_the_loss_of_texts_is_that_of_a_loop(shards, texts):
    queries, documents = make_posts(shards)
    teacher = TextTeacher(texts, shards, TEXTS)
    loss = teacher.distil(queries, documents, torch.tensor(0.3))
    assert loss.item() == pytest.approx(
        lose_by_text(queries, documents, texts, 0.3), rel=1e-5
    )


@pytest.fixture
def taught(config, tmp_path, texts):
    path = tmp_path / "texts.npy"
    np.save(path, texts.numpy())
    return replace(
        config,
        num_epochs=1,
        distillation=replace(TEXTS, document_vectors=str(path)),
    )


@pytest.fixture
def pairs(shards):
    return TrainingPairs.of_rows([[2 * i, 2 * i + 1] for i in range(20)], shards)


def test_a_wrong_number_of_rows_is_refused(shards, pairs, taught, tmp_path):
    np.save(taught.distillation.document_vectors, np.zeros((39, 6)))
    with pytest.raises(
        MalformedInputError, match=r"each of 40 graphs.*document_vectors"
    ):
        train(shards, pairs, taught, tmp_path / "out")


def test_the_texts_change_what_is_learnt(shards, pairs, taught, tmp_path):
    """The vectors of the file reach the loss."""
    losses = []
    for number, sign in enumerate((1, -1)):
        path = tmp_path / f"texts-{number}.npy"
        vectors = np.load(taught.distillation.document_vectors)
        vectors[::2] *= sign
        np.save(path, vectors)
        distillation = replace(taught.distillation, document_vectors=str(path))
        config = replace(taught, distillation=distillation)
        result = train(shards, pairs, config, tmp_path / f"run-{number}")
        losses.append(result.history[0].train_loss)
    assert losses[0] != losses[1]


def test_a_missing_file_is_named_with_its_setting(shards, pairs, taught, tmp_path):
    gone = replace(taught.distillation, document_vectors=str(tmp_path / "gone.npy"))
    with pytest.raises(
        MissingInputError, match=r"gone\.npy.*distillation\.document_vectors"
    ):
        train(shards, pairs, replace(taught, distillation=gone), tmp_path / "out")


def test_another_kind_of_file_is_named_with_its_setting(
    shards, pairs, taught, tmp_path
):
    path = taught.distillation.document_vectors
    with open(path, "w") as file:
        file.write("no numbers")
    with pytest.raises(MalformedInputError, match=r"distillation\.document_vectors"):
        train(shards, pairs, taught, tmp_path / "out")


def test_no_vectors_for_the_document_weight_are_refused(
    shards, pairs, taught, tmp_path
):
    with pytest.raises(ConfigurationError, match=r"distillation\.document_vectors"):
        train(shards, pairs, replace(taught, distillation=TEXTS), tmp_path / "out")


def test_a_teacher_that_weighs_nothing_is_not_asked(shards, pairs, taught):
    nobody = replace(taught, distillation=DistillationConfig())
    inputs = TrainingInputs(shards, pairs, nobody)
    assert inputs._make_teachers(torch.device("cpu")) == []


def test_what_vectors_hold_makes_the_training_not_where_they_are(
    shards, pairs, taught, texts, tmp_path
):
    first = train(shards, pairs, taught, tmp_path / "out")
    moved = tmp_path / "moved.npy"
    np.save(moved, texts.numpy())
    there = replace(taught.distillation, document_vectors=str(moved))
    again = replace(taught, distillation=there)
    assert train(shards, pairs, again, tmp_path / "out") == first
    np.save(moved, texts.numpy() + 1)
    with pytest.raises(ConfigurationError, match="of the same training"):
        train(shards, pairs, again, tmp_path / "out")
    assert "moved.npy" not in (tmp_path / "out" / "training.json").read_text()


@pytest.mark.parametrize(
    "values",
    [
        {"weight": -1},
        {"score_weight": -1},
        {"temperature": 0},
    ],
)
def test_impossible_settings_are_refused(values):
    with pytest.raises(ConfigurationError, match=f"Expected {next(iter(values))} "):
        DistillationConfig(**values)


def test_limits_of_settings_are_allowed():
    least = {"weight": 0.0, "document_weight": 0.0, "score_weight": 0.0,
             "temperature": 1e-9}  # fmt: skip
    config = DistillationConfig(**least)
    assert {name: getattr(config, name) for name in least} == least
    assert not config.uses_texts
    assert not DistillationConfig(weight=1.0).uses_texts
    for name in ("document_weight", "score_weight"):
        assert DistillationConfig(**{name: 0.1}).uses_texts


def test_nothing_is_learnt_from_teachers_by_default():
    config = DistillationConfig()
    assert (config.weight, config.document_weight, config.score_weight) == (0, 0, 0)
    assert config.temperature == 0.1
