"""``mathamr show amr``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from mathamr_kedro.amr import read_graph
from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.cli import group


@pytest.fixture
def run():
    return lambda *args, **options: CliRunner().invoke(
        group, ["show", "amr", *args], **options
    )


def test_formulas_and_graph_are_shown(run):
    result = run("Let $x^2$ be even.")
    assert result.exit_code == 0
    assert result.stdout.startswith("# FORMULA_0 = x^2\n(m / multi-sentence\n")
    graph = read_graph(result.stdout)
    assert {"let-01", "FORMULA_0"} <= set(graph.nodes.values())


def test_formulas_are_found_as_in_a_post(run):
    result = run(r"If \(a<b\) costs $5, show that $$a+b=3.$$ It holds.")
    lines = result.stdout.splitlines()
    # A price is no formula, and the full stop is the sentence's.
    assert lines[:2] == ["# FORMULA_0 = a<b", "# FORMULA_1 = a+b=3"]
    assert "FORMULA_2" not in result.stdout
    assert ":snt2" in result.stdout


def test_a_text_may_come_from_standard_input(run):
    result = run("-", input="Prove $x$.")
    assert "prove-01" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "Expected a text"), (" \n", "Expected a text"), ("...", "empty_text")],
)
def test_a_text_without_words_is_an_error(run, text, message):
    result = run(text)
    assert result.exit_code != 0
    assert isinstance(result.exception, MalformedInputError)
    assert message in str(result.exception)


def test_another_parser_says_what_it_lacks(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("Prove $x$.", "--parser", "transition")
    assert isinstance(result.exception, ConfigurationError)
    assert "build_environment.sh" in str(result.exception)


def test_an_unknown_parser_is_refused(run):
    result = run("Prove $x$.", "--parser", "builtout")
    assert result.exit_code == 2
    assert "'builtin', 'transition', 'amrlib'" in result.output
