"""Topics asked whole, by their formulas and by their words: three rows of one run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.corpus import name_part
from mathamr_kedro.project.search import open_search
from mathamr_kedro.systems.mathamr_plus import open_vectors
from tests.pipelines.graph_world import open_catalog, open_session
from tests.pipelines.search_world import TEXTS, TITLES, build_index

pytestmark = pytest.mark.slow

PARTS = ("formulas", "words")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    build_index(folder, amr_parsing={"query_parts": list(PARTS)})
    return folder


def search(data: Path, **strategy):
    strategies = [{"query_parts": p, **strategy} for p in ("all", *PARTS)]
    with open_session(data, evaluation={"strategies": strategies}) as session:
        namespaces = ["evaluation.mathamr_plus"]
        session.run(pipeline_names=["evaluation"], namespaces=namespaces)
    runs = open_catalog(data).load("mathamr_plus.runs")
    return {run.name: run for run in runs if run.task == 1}


@pytest.mark.parametrize("retrieval", ["maxsim", "single"])
def test_one_run_has_a_row_for_each_part(data: Path, retrieval: str) -> None:
    runs = search(data, retrieval=retrieval)
    assert len(runs) == 3
    assert [name.rpartition("-")[2] for name in runs] == ["exact", *PARTS]
    scores = [run.lists["A.1"].scores.tolist() for run in runs.values()]
    assert all(len(s) == 3 for s in scores)
    assert scores[0] != scores[1] != scores[2] != scores[0]


def test_a_part_is_encoded_as_a_text_of_its_own(data: Path) -> None:
    """What the stages made of a part is what a person gets who types it."""
    folder = open_catalog(data).load("mathamr_plus.model").vectors_folder
    topics = open_vectors(folder).topics
    searcher = open_search("test", str(data))
    try:
        encoder = searcher._encoder
        query = encoder.read_text(f"{TITLES['1']}\n\n{TEXTS['1']}")
        for part in PARTS:
            (stored,) = topics.read([name_part("A.1", part)]).entries()
            typed = encoder.encode_part(query, part)
            assert list(stored.kinds) == list(typed.kinds)
            np.testing.assert_allclose(stored.vectors, typed.vectors, atol=1e-5)
        words = encoder.encode_part(query, "words")
        assert 0 not in words.kinds  # no formula node
        assert list(encoder.encode_part(query, "formulas").kinds).count(0) == 3
    finally:
        searcher.close()


def test_parts_that_were_not_parsed_are_asked_for(tmp_path: Path) -> None:
    build_index(tmp_path)
    with pytest.raises(
        MissingInputError, match=r"amr_parsing.query_parts \[formulas\]"
    ):
        search(tmp_path)
