"""The console script as a whole."""

from __future__ import annotations

import io
import logging
import sys

import pytest

from mathamr_kedro import cli
from mathamr_kedro.cli import _Formatter, _SafeStream
from tests.conftest import PROJECT


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b]0;owned\x07", "\ufffd]0;owned\ufffd"),  # title of the window
        ("a\x1b[2Jb", "a\ufffd[2Jb"),  # clears the screen
        ("safe\rfalse", "safe\ufffdfalse"),  # writes over the line
        ("\x9b31m", "\ufffd31m"),
        ("\x1b[1mbold\x1b[0m\tü\n", "\x1b[1mbold\x1b[0m\tü\n"),
    ],
)
def test_escape_sequences_of_texts_do_not_reach_the_terminal(written, shown):
    stream = io.StringIO()
    _SafeStream(stream).write(written)
    assert stream.getvalue() == shown


def test_commands_write_to_the_safe_stream(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mathamr", "show", "formula", "x\x1b]0;a\x07"])
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    with pytest.raises(SystemExit):
        cli.main()
    out = capsys.readouterr().out
    assert "V!x" in out
    assert "\x1b]" not in out and "\x07" not in out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["search", "x"], "`kedro run --env test --params data_root={0}`"),
        (["explain", "x", "1"], "`kedro run --pipelines indexing --env test --params"),
        (["show", "summary"], "run `kedro run --env test --params data_root={0}` or"),
        (
            ["index", "status"],
            "--pipelines indexing --env test --params data_root={0}`",
        ),
    ],
)
def test_hints_repeat_environment_and_data_root(
    monkeypatch, capsys, tmp_path, arguments, hint
):
    options = ["--env", "test", "--data-root", str(tmp_path)]
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(sys, "argv", ["mathamr", *arguments, *options])
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    with pytest.raises(SystemExit):
        cli.main()
    assert hint.format(tmp_path) in capsys.readouterr().err


def test_warnings_of_the_log_repeat_them_too():
    formatter = _Formatter({"env": "own"})
    record = logging.makeLogRecord({"msg": "run `kedro run`"})
    assert formatter.format(record) == "run `kedro run --env own`"
