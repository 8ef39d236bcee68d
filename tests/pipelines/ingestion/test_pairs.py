"""A collection without pairs stops a run that trains, at ingestion."""

from __future__ import annotations

import pytest
from kedro.framework.session import KedroSession

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig
from mathamr_kedro.project import configure_kedro
from mathamr_kedro.runner import StageRunner
from tests.pipelines.ingestion.conftest import POSTS, PROJECT

REMEDY = r"got 0\).*ingestion\.pairs: 'accepted'\); --params ingestion\.pairs=all"


@pytest.fixture
def run(tmp_path, raw):
    """Runs stages on a collection without accepted answers."""
    posts = POSTS.replace(' AcceptedAnswerId="2"', "")
    (raw / "Posts.V1.3.xml").write_text(posts, encoding="utf-8")

    def run(*stages: str, **parameters) -> None:
        configure_kedro(PROJECT)
        roots = {"data_root": str(tmp_path / "data"), "raw_root": str(raw)}
        with KedroSession.create(
            PROJECT, env="test", runtime_params=roots | parameters
        ) as session:
            session.run(pipeline_names=list(stages), runner=StageRunner())

    return run


def test_it_is_said_at_ingestion_and_nothing_is_parsed(run, tmp_path):
    stages = ("ingestion", "amr_parsing", "graph_fusion", "preprocessing", "training")
    with pytest.raises(ConfigurationError, match=REMEDY):
        run(*stages)
    assert (tmp_path / "data/02_intermediate/training_pairs").is_dir()
    assert not (tmp_path / "data/03_primary/amr_graphs/_shards.json").exists()
    with pytest.raises(ConfigurationError, match=REMEDY):  # before anything runs
        run("preprocessing", "training")


def test_every_answer_makes_pairs_enough(run, tmp_path):
    run("ingestion", ingestion={"pairs": "all"})
    assert (tmp_path / "data/08_reporting/ingestion.md").is_file()


def test_a_run_that_trains_nothing_goes_on(run, tmp_path, caplog):
    released = {
        "preprocessing": {
            "vocabulary": {"source": "mathamr_plus"},
            "graph": {"sentence_roots": "document"},
        },
        "training": {"num_epochs": 0, "start_from": "mathamr_plus"},
    }
    stages = ("ingestion", "amr_parsing", "graph_fusion", "preprocessing", "training")
    run(*stages, **released)
    assert (tmp_path / "data/08_reporting/training.md").is_file()
    assert "ingestion.pairs" not in caplog.text


def test_ingestion_alone_warns(run, tmp_path, caplog):
    run("ingestion")
    assert "ingestion.pairs=all" in caplog.text
    assert (tmp_path / "data/08_reporting/ingestion.md").is_file()


def test_all_answers_have_no_other_remedy():
    config = IngestionConfig(10, 10, "all")
    config.check_pairs(2, 7)
    config.check_pairs(0, 0)
    with pytest.raises(ConfigurationError, match=r"names its question.*num_epochs 0"):
        config.check_pairs(1, 7)
