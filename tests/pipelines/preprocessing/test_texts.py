"""Texts of posts and topics, encoded beside their graphs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro.graph import PreparedGraphs, PreprocessingConfig
from mathamr_kedro.pipelines.preprocessing import nodes
from tests.pipelines.graph_world import (
    SQUARE,
    open_session,
    run_stage,
    write_inputs,
)


class Encoder:
    """Counts letters and dollars."""

    def __init__(self, folder):
        assert folder == "folder of tiny"

    @staticmethod
    def encode(found):
        return np.array([[len(text), text.count("$")] for text in found], np.float32)


@pytest.fixture
def text_model(monkeypatch):
    monkeypatch.setattr(nodes, "SentenceEncoder", Encoder)
    monkeypatch.setattr(nodes, "find_text_model", lambda name: f"folder of {name}")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    write_inputs(data)
    run_stage(data, "graph_fusion")
    catalog = run_stage(data, "preprocessing")
    settings = open_session(data).load_context().params["preprocessing"]
    found = catalog.load("mathamr_plus.prepared").open(
        PreprocessingConfig.read(settings)
    )
    return found.folder


def table(*rows, key="post_id"):
    def mentions(text):
        return (SQUARE,) if SQUARE.placeholder in text else ()

    found = [
        SimpleNamespace(**{key: name, "text": text, "formula_map": mentions(text)})
        for name, text in rows
    ]
    return SimpleNamespace(records=lambda: iter(found))


@pytest.mark.usefixtures("text_model")
def test_every_graph_gets_the_vector_of_its_text(graphs):
    posts = table(
        ("4", "No."), ("9", "without a graph"), ("1", "Is FORMULA_0 even?"), ("2", "a"),
        ("3", "ab"),
    )  # fmt: skip
    topics = table(("A.1", "Solve FORMULA_0"), key="topic_id")
    nodes.encode_texts(graphs, posts, topics, "tiny")
    found = PreparedGraphs(graphs)
    lengths = [[len("Is $x^2$ even?"), 2], [1, 0], [2, 0], [3, 0]]
    assert np.asarray(found.posts.texts).tolist() == lengths
    assert np.asarray(found.topics.texts).tolist() == [[len("Solve $x^2$"), 2]]
