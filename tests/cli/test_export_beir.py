"""``mathamr export beir`` before there is anything to write."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.cli import group
from tests.conftest import PROJECT


@pytest.mark.parametrize("options", [[], ["--links"], ["--task", "2"]])
def test_export_of_nothing_names_the_stage_to_run(tmp_path, monkeypatch, options):
    monkeypatch.chdir(PROJECT)
    arguments = [
        "export",
        "beir",
        "--env",
        "own",
        "--data-root",
        str(tmp_path / "data"),
    ]
    told = r"'posts'.* is missing; run `kedro run --pipelines ingestion.* --env own"
    with pytest.raises(MissingInputError, match=told):
        CliRunner().invoke(
            group,
            [*arguments, "--output", str(tmp_path / "out"), *options],
            catch_exceptions=False,
        )
    assert not (tmp_path / "out").exists()
