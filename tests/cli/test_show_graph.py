"""The command that draws a graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.cli.show.graph import command
from tests.pipelines.graph_world import PROJECT, run_stage, write_inputs


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_inputs(folder)
    run_stage(folder, "graph_fusion")
    return folder


def run(data: Path, *arguments: str) -> str:
    options = ["--env", "test", "--data-root", str(data)]
    result = CliRunner().invoke(command, [*arguments, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(autouse=True)
def in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)


def test_a_page_is_written_among_the_reports(data: Path) -> None:
    page = data / "08_reporting/graphs/1.html"
    assert run(data, "1") == f"Wrote {page}\n"
    assert "even-01" in page.read_text(encoding="utf-8")


def test_topics_and_svg(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "new/topic.svg"
    run(data, "A.1", "--out", str(out), "--structure", "none")
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "solve-01" in text


def test_the_text_alone(data: Path) -> None:
    assert run(data, "2", "--text") == "(y / yes)\n"


def test_the_text_shows_the_variant_that_was_asked_for(data: Path) -> None:
    whole = run(data, "1", "--text")
    assert ":opt" in whole
    assert ":slt" in whole
    without = run(data, "1", "--text", "--formula-mode", "none")
    assert ":opt" not in without
    assert ":slt" not in without
    assert "even-01" in without
    assert ":slt" not in run(data, "1", "--text", "--formula-mode", "opt")
    run(data, "1", "--formula-mode", "none")
    page = (data / "08_reporting/graphs/1.html").read_text(encoding="utf-8")
    assert ":opt" not in page


@pytest.mark.parametrize(
    "options", [("--structure", "none"), ("--auxiliary-edges", "sequential")]
)
def test_the_text_refuses_what_it_cannot_show(data: Path, options) -> None:
    result = CliRunner().invoke(command, ["1", "--text", *options])
    assert result.exit_code == 2
    assert f"do not give {options[0]}" in result.output


def test_an_unknown_post_is_told_where_to_look(data: Path) -> None:
    with pytest.raises(MissingInputError, match=r"'99'.*math_graph_failures"):
        run(data, "99")
