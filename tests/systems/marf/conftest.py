"""A text model of two layers made on the spot, and a toy collection."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
import torch

from mathamr_kedro.base.records import (
    FormulaInstance,
    FormulaMention,
    Post,
    Topic,
    TrainingPair,
)
from mathamr_kedro.systems import Collection

pytest.importorskip("transformers")

_CHARACTERS = string.ascii_lowercase + string.digits + string.punctuation
PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
    + list(_CHARACTERS)
    + [f"##{c}" for c in _CHARACTERS]
)
SMALL = {
    "max_tokens": 48, "layers": 2, "heads": 2, "width": 16,
    "pretraining": {"epochs": 0}, "context_training": {"epochs": 0},
    "scoring": "token",
    "formula_training": {"epochs": 2, "learning_rate": 3e-3, "batch_size": 8},
    "fusion_training": {"epochs": 2, "learning_rate": 3e-3, "batch_size": 8},
}  # fmt: skip


@pytest.fixture(scope="session")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that reads characters, in the format of transformers."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("text_model")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(PIECES), hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(path)
    pieces = {piece: n for n, piece in enumerate(PIECES)}
    BertTokenizerFast(vocab=pieces, model_max_length=64).save_pretrained(path)
    return path


def _mention(number: int, latex: str, start: int, name: str) -> FormulaMention:
    key = f"{name}f{number}"
    return FormulaMention(f"FORMULA_{number}", key, key, latex, start, start + 9)


def write_text(words: str, latex: list[str], name: str):
    """Words, then formulas, as the cleaner writes them."""
    text, mentions = words, []
    for number, formula in enumerate(latex):
        text += " "
        mentions.append(_mention(number, formula, len(text), name))
        text += f"FORMULA_{number}"
    return text, tuple(mentions)


def make_post(key: str, kind: str, words: str, latex: list[str], parent=None) -> Post:
    text, mentions = write_text(words, latex, key)
    return Post(key, kind, parent or key, parent, None, None, 1, (), "", text, mentions)


def make_topic(key: str, words: str, latex: list[str], formula_id=None) -> Topic:
    text, mentions = write_text(words, latex, key)
    task = "task1" if formula_id is None else "task2"
    return Topic(
        key, task, 2020, "", (), text, mentions, formula_id,
        latex[0] if formula_id else None, None, None, None,
    )  # fmt: skip


def make_sources(threads: int = 24) -> Collection:
    """Threads whose question and answer share a letter in their formulas."""
    letters = string.ascii_lowercase
    questions = [
        make_post(f"q{i}", "question", "how to show", [f"{letters[i]}^2+1", "x"])
        for i in range(threads)
    ]
    answers = []
    for i in range(threads):
        latex = [rf"\frac{{{letters[i]}}}2", "y", f"{letters[i]}_0"][: 1 + i % 3]
        words = "see here" + " again" * (i % 3)
        found = [] if i == 5 else latex
        answers.append(make_post(f"a{i}", "answer", words, found, f"q{i}"))
    formulas = [
        FormulaInstance(m.formula_id, m.latex, post.post_id, m.latex)
        for post in (*questions, *answers)
        for m in post.formula_map
    ]
    return Collection(
        formulas=lambda: formulas,
        posts=lambda: (*questions, *answers),
        pairs=lambda: [TrainingPair(f"q{i}", f"a{i}") for i in range(threads)],
        checksums={"posts": "toy"},
    )


@pytest.fixture(scope="session")
def sources() -> Collection:
    return make_sources()
