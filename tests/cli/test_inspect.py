import pytest
from click.testing import CliRunner

from mathamr_kedro.cli import group


def run(*arguments):
    return CliRunner().invoke(group, arguments)


def test_help_lists_the_commands():
    output = run("--help").output
    assert "inspect" in output
    assert "Summarise the outputs of the pipelines and say where to look." in output


@pytest.mark.parametrize("name", ["amr", "explain", "graph", "inspect", "search"])
def test_help_keeps_the_lines_of_examples(name):
    output = run(name, "--help").output
    assert f"\n    mathamr {name} " in output
    assert r"\b" not in output


def test_file_is_shown_as_the_pipelines_see_it(tmp_path):
    file = tmp_path / "note.md"
    file.write_text("# Even\n\nLet $x^2$ be [even].")
    output = run("inspect", str(file)).output
    assert "Document note.md" in output
    assert "Let FORMULA_0 be [even]." in output
    assert "x^2" in output


def test_unknown_command_is_refused():
    result = run("inspct", "1")
    assert result.exit_code != 0
    assert "inspct" in result.output
