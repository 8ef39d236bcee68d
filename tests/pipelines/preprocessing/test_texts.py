"""Texts of posts and topics, encoded beside their graphs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro.graph import PreparedGraphs, encode_texts
from tests.pipelines.graph_world import (
    SQUARE,
    run_stage,
    write_inputs,
)


def encode(texts):
    """Count letters and dollars."""
    return np.array([[len(text), text.count("$")] for text in texts], np.float32)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    write_inputs(data)
    run_stage(data, "graph_fusion")
    catalog = run_stage(data, "preprocessing")
    return catalog.load("mathamr_plus.prepared")


def table(*rows, key="post_id"):
    def mentions(text):
        return (SQUARE,) if SQUARE.placeholder in text else ()

    found = [
        SimpleNamespace(**{key: name, "text": text, "formula_map": mentions(text)})
        for name, text in rows
    ]
    return iter(found)


def test_every_graph_gets_the_vector_of_its_text(graphs):
    posts = table(
        ("4", "No."), ("9", "without a graph"), ("1", "Is FORMULA_0 even?"), ("2", "a"),
        ("3", "ab"),
    )  # fmt: skip
    topics = table(("A.1", "Solve FORMULA_0"), key="topic_id")
    encode_texts(graphs, posts, topics, encode)
    found = PreparedGraphs(graphs.folder)
    lengths = [[len("Is $x^2$ even?"), 2], [1, 0], [2, 0], [3, 0]]
    assert np.asarray(found.posts.texts).tolist() == lengths
    assert np.asarray(found.topics.texts).tolist() == [[len("Solve $x^2$"), 2]]
