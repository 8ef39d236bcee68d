from __future__ import annotations

import sys

import pytest
from kedro.framework.project import configure_project, pipelines
from kedro.framework.session import KedroSession
from kedro.pipeline import Pipeline, node
from kedro_viz.integrations.kedro.data_loader import load_data

from mathamr_kedro.pipeline_registry import register_pipelines
from mathamr_kedro.pipelines.training import pipeline as training
from mathamr_kedro.project.checks import STAGES
from tests.conftest import PROJECT


@pytest.fixture(autouse=True)
def project():
    configure_project("mathamr_kedro")


def test_every_stage_is_a_pipeline_and_the_default_runs_them_all():
    found = register_pipelines()
    assert set(found) == {*STAGES, "__default__"}
    nodes = {node.name for stage in STAGES for node in found[stage].nodes}
    assert {node.name for node in found["__default__"].nodes} == nodes


def test_every_node_has_its_stage_as_a_tag():
    for name, pipeline in register_pipelines().items():
        if name in STAGES:
            assert all(name in each.tags for each in pipeline.nodes)


def test_a_stage_that_cannot_be_imported_is_an_error(monkeypatch):
    """Kedro would skip it with a warning."""
    monkeypatch.setitem(sys.modules, "mathamr_kedro.pipelines.training.pipeline", None)
    with pytest.raises(ImportError, match="training"):
        register_pipelines()


class TestParametersOfAnEnvironment:
    """They can decide which nodes a pipeline has."""

    @pytest.fixture(autouse=True)
    def stage(self, monkeypatch):
        def create_pipeline(parameters):
            epochs = parameters["training"]["num_epochs"]
            return Pipeline([node(len, "posts", str(n)) for n in range(epochs)])

        monkeypatch.setattr(training, "create_pipeline", create_pipeline)
        configure_project("mathamr_kedro")
        yield
        monkeypatch.undo()
        configure_project("mathamr_kedro")

    @staticmethod
    def open_session(epochs: int) -> KedroSession:
        params = {"training": {"num_epochs": epochs}}
        return KedroSession.create(PROJECT, env="test", runtime_params=params)

    def test_in_a_session(self):
        for epochs in (1, 3):
            with self.open_session(epochs) as session:
                session.load_context()
                assert len(pipelines["training"].nodes) == epochs

    @pytest.mark.slow
    def test_in_kedro_viz(self):
        params = {"training": {"num_epochs": 2}}
        _, shown, _ = load_data(PROJECT, env="test", extra_params=params)
        assert len(shown["training"].nodes) == 2
