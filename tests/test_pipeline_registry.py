from __future__ import annotations

import sys

import pytest
from kedro.framework.project import configure_project

from mathamr_kedro.pipeline_registry import register_pipelines
from mathamr_kedro.stages import STAGES


@pytest.fixture(autouse=True)
def project():
    configure_project("mathamr_kedro")


def test_every_stage_is_a_pipeline_and_the_default_runs_them_all():
    pipelines = register_pipelines()
    assert set(pipelines) == {*STAGES, "__default__"}
    nodes = {node.name for stage in STAGES for node in pipelines[stage].nodes}
    assert {node.name for node in pipelines["__default__"].nodes} == nodes


def test_a_stage_that_cannot_be_imported_is_an_error(monkeypatch):
    """Kedro would leave it out with a warning."""
    monkeypatch.setitem(sys.modules, "mathamr_kedro.pipelines.training", None)
    with pytest.raises(ImportError, match="training"):
        register_pipelines()
