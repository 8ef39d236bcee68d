"""The console script as a whole."""

from __future__ import annotations

import sys

import pytest

from mathamr_kedro import cli
from tests.conftest import PROJECT


def test_commands_write_to_the_safe_stream(monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["mathamr", "show", "formula", "x\x1b]0;a\x07\x9b31m"]
    )
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    with pytest.raises(SystemExit):
        cli.main()
    out = capsys.readouterr().out
    assert "V!x" in out
    assert not any(code in out for code in ("\x1b]", "\x07", "\x9b"))


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
