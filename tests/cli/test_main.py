"""The console script as a whole."""

from __future__ import annotations

import io
import sys

import pytest

from mathamr_kedro import cli
from mathamr_kedro.cli import _SafeStream


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
    monkeypatch.setattr(sys, "argv", ["mathamr", "trees", "x\x1b]0;a\x07"])
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    with pytest.raises(SystemExit):
        cli.main()
    out = capsys.readouterr().out
    assert "V!x" in out
    assert "\x1b]" not in out and "\x07" not in out
