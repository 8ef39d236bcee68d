"""What a person is told who searches before anything was indexed."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from mathamr_kedro import project_search
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.pipelines.indexing import create_pipeline


def test_missing_index_names_a_command_with_a_node_that_exists(monkeypatch):
    catalog = {"index": SimpleNamespace(exists=lambda: False)}
    monkeypatch.setattr(project_search, "open_catalog", lambda *_: catalog)
    with pytest.raises(MissingInputError, match="kedro run --env own") as caught:
        project_search.open_searcher("own")
    (node,) = re.findall(r"--from-nodes ([\w.]+)", str(caught.value))
    assert node in {node.name for node in create_pipeline().nodes}
