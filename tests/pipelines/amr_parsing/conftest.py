"""Posts and topics as ingestion leaves them, and the stage run on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.amr_faults import write_table
from mathamr_kedro.base.records import FormulaMention, Post, Topic
from tests.pipelines.graph_world import run_stage


def make_post(post_id: str, text: str, post_type: str = "question") -> Post:
    names = [word for word in text.replace(".", " ").split() if "FORMULA" in word]
    formulas = tuple(
        FormulaMention(name, f"f{post_id}{n}", f"v{n}", "x", 0, 1)
        for n, name in enumerate(dict.fromkeys(names))
    )
    return Post(
        post_id, post_type, post_id, None, None, None, 1, (), "", text, formulas
    )  # type: ignore[arg-type]


def make_topic(topic_id: str, text: str) -> Topic:
    return Topic(
        topic_id, "task1", 2022, "", (), text, (), None, None, None, None, None
    )


@pytest.fixture
def write_texts(tmp_path):
    """Writes the input tables below a data root and returns it."""

    def write(posts: list[Post], topics: list[Topic], size: int = 3) -> Path:
        root = tmp_path / "data"
        write_table(root / "02_intermediate" / "posts", "Post", posts, size)
        write_table(root / "02_intermediate" / "topics", "Topic", topics, size)
        return root

    return write


@pytest.fixture
def parse():
    """Runs the stage and returns the catalog."""

    def run(root: Path, **parameters: object):
        return run_stage(root, "amr_parsing", amr_parsing=parameters)

    return run
