"""Errors and commands as they are shown."""

from __future__ import annotations

import ast
import re

import click
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.cli import group
from mathamr_kedro.project.hints import complete_commands, plain_errors
from tests.conftest import PROJECT


@pytest.mark.parametrize(
    ("message", "complete"),
    [
        ("run `kedro run`", "run `kedro run --env own --params data_root=/x`"),
        (
            "`kedro run --env pool --pipelines indexing` with the --env of your run",
            "`kedro run --env pool --pipelines indexing --params data_root=/x`",
        ),
        (
            "`kedro run --params raw_root=notes`",
            "`kedro run --params data_root=/x,raw_root=notes --env own`",
        ),
        ("`mathamr index status`", "`mathamr index status --env own --data-root /x`"),
        ("`kedro run --params data_root=FOLDER`",
         "`kedro run --params data_root=FOLDER --env own`"),
        ("`mathamr models` or `make demo`", "`mathamr models` or `make demo`"),
        ("no command: kedro run", "no command: kedro run"),
    ],
)  # fmt: skip
def test_commands_in_messages_get_the_options_that_were_given(message, complete):
    assert complete_commands(message, "own", "/x") == complete


def test_commands_without_options_stay_as_they_are():
    message = "run `kedro run --pipelines indexing` with the --env of your run: it"
    assert complete_commands(message) == "run `kedro run --pipelines indexing`: it"


def test_every_command_that_is_completed_takes_the_options():
    """And none is completed that does not."""
    ctx = click.Context(group)

    def walk(command, path):
        if isinstance(command, click.Group):
            for name in command.list_commands(ctx):
                yield from walk(command.get_command(ctx, name), f"{path} {name}")
        else:
            yield path, {"env", "data_root"} <= {p.name for p in command.params}

    for name, takes_both in walk(group, "mathamr"):
        hint = f"`{name}`"
        is_completed = complete_commands(hint, "own", "/x") != hint
        # An export is named as where a file comes from.
        expected = takes_both and not name.startswith("mathamr export")
        assert is_completed == expected, name


@pytest.mark.slow
def test_hints_in_the_source_stand_between_backticks():
    """Others would not be completed."""
    bare = re.compile(r"(?<![`\w])(?:kedro run|mathamr (?:index|search|experiments))\b")
    for file in sorted((PROJECT / "src").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        raised = [n for n in ast.walk(tree) if isinstance(n, ast.Raise)]
        texts = [
            piece.value
            for node in raised
            for piece in ast.walk(node)
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str)
        ]
        assert not [text for text in texts if bare.search(text)], file


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({}, ""),
        ({"env": "own", "params": None}, " --env own"),
        ({"params": "data_root=/y"}, ""),  # not read yet
        ({"params": {"data_root": "/y"}}, " --params data_root=/y"),
        ({"data_root": "/x", "params": None}, " --params data_root=/x"),
    ],
)
def test_an_error_on_the_command_line_is_its_message(given, options):
    command = click.Context(click.Command("run"))
    command.params = given
    with command, pytest.raises(click.ClickException) as caught, plain_errors():
        raise RuntimeError("of Kedro") from MissingInputError("run `kedro run`")
    assert caught.value.message == f"run `kedro run{options}`"


def test_programs_get_the_error_itself():
    with pytest.raises(MissingInputError), plain_errors():
        raise MissingInputError("gone")


def test_errors_of_others_stay_what_they_are():
    with click.Context(click.Command("run")), pytest.raises(KeyError), plain_errors():
        raise KeyError
