"""Kedro's own commands in this project: wrong names, missing packages, completion."""

from __future__ import annotations

import sys

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from kedro.framework.cli.cli import KedroCLI

from mathamr_kedro.cli import group
from mathamr_kedro.cli._options import ENVIRONMENT
from tests.conftest import PROJECT

pytestmark = pytest.mark.filterwarnings("ignore:Option '--pipeline'")


@pytest.fixture(autouse=True)
def in_project(monkeypatch):
    monkeypatch.chdir(PROJECT)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(KedroCLI(PROJECT), arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--pipelines", "ingestio"), "No pipeline is named 'ingestio'; did you mean"),
        (("--pipeline", "trainig"), "did you mean 'training'?"),
        (("--pipelines", "ingestion,trainin"), "did you mean 'training'?"),
        (("--nodes", "ingestion.pair_post"), "did you mean 'ingestion.pair_posts'?"),
        (("--from-nodes", "indexing.encode"), "No node is named 'indexing.encode'"),
        (("--to-nodes", "ingestion.pair"), "No node is named 'ingestion.pair'"),
        (("--to-outputs", "post"), "No dataset is named 'post'; did you mean 'posts'?"),
        (("--from-inputs", "post"), "No dataset is named 'post'; did you mean 'posts'"),
        (("--namespaces", "indexin"), "did you mean 'indexing'?"),
        (("--tags", "gpus"), "No tag is named 'gpus'; did you mean 'gpu'?"),
        (("--pipelines", "zzz"), "No pipeline is named 'zzz'. Known: __default__, amr"),
        (("--env", "demmo"), "did you mean 'demo'?"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest(options, message):
    result = run("run", *options)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr


def test_names_of_one_stage_are_not_those_of_another():
    result = run("run", "--pipelines", "training", "--nodes", "ingestion.pair_posts")
    assert "No node is named 'ingestion.pair_posts'" in result.stderr


@pytest.mark.parametrize(
    ("command", "module", "install"),
    [
        ("lab", "jupyterlab", 'pip install -e ".[notebooks]"'),
        ("notebook", "notebook", "pip install notebook"),
    ],
)
def test_missing_jupyter_says_what_to_install(monkeypatch, command, module, install):
    monkeypatch.setitem(sys.modules, module, None)
    result = run("jupyter", command)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert install in result.stderr


def complete(command: click.Command, words: list[str], typed: str) -> list[str]:
    found = ShellComplete(command, {}, "x", "_X_COMPLETE").get_completions(words, typed)
    return [item.value for item in found]


@pytest.mark.parametrize(
    "words",
    [
        ["search", "--env"],
        ["inspect", "--env"],
        ["summary", "--env"],
        ["graph", "--env"],
        ["graphs", "export", "--env"],
        ["index", "add", "--env"],
        ["experiments", "run", "--env"],
        ["explain", "--env"],
        ["release", "--env"],
    ],
    ids=" ".join,
)
def test_environments_complete(words):
    assert complete(group, words, "poo") == ["pool"]


def test_stacked_environments_complete_behind_the_plus():
    assert complete(group, ["search", "--env"], "pool+formula_m") == [
        "pool+formula_modes"
    ]
    assert "pool+pool" not in complete(group, ["search", "--env"], "pool+")
    assert complete(KedroCLI(PROJECT), ["run", "--env"], "dem") == ["demo"]


def test_nothing_completes_outside_of_a_project(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert complete(group, ["search", "--env"], "") == []


def test_every_command_has_the_same_environment_option():
    """None is left that shells cannot complete."""
    context = click.Context(group)

    def list_options(command: click.Command) -> list[click.Parameter]:
        below = command.commands.values() if isinstance(command, click.Group) else ()
        own = [p for p in command.params if p.name == "env"]
        return own + [p for c in below for p in list_options(c)]

    for name in group.list_commands(context):
        for option in list_options(group.get_command(context, name)):
            assert option.type is ENVIRONMENT, name
