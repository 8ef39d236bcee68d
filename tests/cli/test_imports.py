"""What a command loads before it answers; its time follows from that."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import PROJECT

HEAVY = ("torch", "pandas", "scipy", "spacy", "matplotlib", "sklearn", "numba", "nltk")
SESSION = ("kedro.framework.session", "kedro.framework.project", "kedro_viz")
PROGRAM = """
import json, shlex, sys
from click.testing import CliRunner
from mathamr_kedro.cli import group
for line in sys.argv[1:]:
    result = CliRunner().invoke(group, shlex.split(line))
    assert result.exit_code == 0, result.output
print(json.dumps(sorted(sys.modules)))
"""


def list_modules(folder, *commands: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *commands],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_needs_click_alone():
    loaded = list_modules(PROJECT, "--help")
    for name in (*HEAVY, *SESSION, "kedro", "numpy", "pyarrow", "rich", "omegaconf"):
        assert name not in loaded


HELPS = (
    "evaluate", "experiments", "experiments benchmark",
    "experiments list", "explain", "export", "export release",
    "index", "models", "search", "show", "show amr", "show formula", "show graph",
    "show post", "show summary",
)  # fmt: skip


def test_help_of_a_command_needs_no_model_and_no_session():
    loaded = list_modules(PROJECT, *(f"{name} --help" for name in HELPS))
    assert [m for m in (*HEAVY, *SESSION) if m in loaded] == []


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_who_asks_one_question_waits_for_the_parser_and_the_encoder_alone(demo):
    loaded = list_modules(demo, "search 'is $\\sqrt p$ irrational?' --env demo")
    assert {"torch", "spacy"} <= loaded
    others = "pandas sklearn scipy numba nltk matplotlib spacy.cli".split()
    assert [m for m in (*others, *SESSION) if m in loaded] == []


@pytest.mark.timeout(2400)
def test_who_looks_at_a_table_waits_for_nothing_else(demo):
    names = ("post 33701", "post A.1001", "summary")
    loaded = list_modules(demo, *(f"show {name}" for name in names))
    assert [m for m in (*HEAVY, *SESSION) if m in loaded] == []
    stages = [m for m in loaded if m.startswith("mathamr_kedro.pipelines")]
    assert stages == []
