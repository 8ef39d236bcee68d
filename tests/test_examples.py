"""Every command of README, docs and help texts runs on the demo, or says why not."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI

from mathamr_kedro.base.errors import find_cause
from mathamr_kedro.cli import group
from tests.conftest import PROJECT

pytestmark = [
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore"),  # a command line shows what it shows
]

PAGES = [
    PROJECT / "README.md",
    PROJECT / "conf" / "README.md",
    *sorted((PROJECT / "docs").rglob("*.md")),
]
OTHER_DATA = (
    r"--env '?(pool|formula_pool|arqmath|ntcir12|benchmark|cluster|stacks|theoremqa)"
    r"|A\.301"
)
SKIPPED = {
    OTHER_DATA: "reads a collection that is not part of the project",
    r"(^|[\s'])\[|…|\.\.\.|\b(NAME|ENV|POST_ID|POST|QUERY|DIR|VERSION)\b": (
        "a pattern to fill in"
    ),
    r"^kedro (viz|ipython|jupyter)|^make ": "opens a browser, a prompt, or sets up",
    r"^kedro pipeline create": "writes into conf/; tests/cli/test_kedro.py runs one",
    r"^mathamr models get": "downloads",
    r"--watch\b": "waits for changes; tests/test_statement_search.py makes some",
    r"^mathamr (serve|mcp)": "waits for requests; tests/serve asks them",
    r"^mathamr experiments (run|show)": (
        "trains for minutes; tests/cli/test_experiments.py runs them on a small world"
    ),
    r"^mathamr experiments benchmark( --papers)?( --reuse| --env pool .*)?$": (
        "needs every environment; tests/cli/test_benchmark.py"
    ),
    r"^kedro run( --env (demo|formula_modes))?$": (
        "minutes; the demo of these tests is one of them"
    ),
    r"^kedro run --pipelines [\w,]+$": (
        "base and demo share a folder: other settings would undo the demo"
    ),
    r"\bformula_rgcn\b": "trains for minutes; tests/systems/formula_rgcn trains too",
    r"^mathamr evaluate (runs/|run\.|base\.|baseline\.)": "names files of the reader",
    r"^mathamr search --queries|--output (FOLDER|RUN)\b|--env beir ": (
        "names files of the reader; tests/pipelines/evaluation/test_beir.py runs it"
    ),
    r"^mathamr evaluate( -m| --task ntcir)?$": "part of a command",
    r"^mathamr ((search|explain)( --formula)?|show graph|experiments)$": "only a name",
    r"^mathamr (export|index)( ([a-r]\w+|sync))?$": "only a name",
    r"^mathamr export release": "writes into the sources",
    r"^mathamr demo": "runs all stages; tests/cli/test_demo.py",
    r"\+(adapter|laptop|strong)\b|mathamr_text": (
        "needs a text model; tests/systems/adapter has one"
    ),
    r"--env demo\+ssemb": "trains for minutes; tests/systems/ssemb does on a part",
    r"path/to|/data/|~/": "names a folder of the reader",
}
"""Patterns of commands that are not run here, and why."""

FAILS = {
    "sums.md#3": "No post 'sums.md#3' among the",
    "RBP'": "Unknown measure",  # the tutorial adds it
}
"""Commands that the docs show with their error."""

PLACES = {
    "RUN": "data/07_model_output/runs/*/*/task1/own/bm25.trec",
    "QRELS": "data/01_raw/sample/Qrels/qrel_task1_sample.tsv",
}
"""What stands for a file of the demo."""

NOTES = {
    "primes.md": "# Primes\n\nLet $p$ be prime.\n\n# A bound\n\nWe have $\\sum 1/p$.\n",
    "sums.md": (
        "# A sum\n\nThe sum $1 + 2 + \\dots + n$ is $n(n+1)/2$.\n\n"
        "# A cube root\n\nSuppose that $\\sqrt[3]{5} = \\frac{a}{b}$.\n"
    ),
    "sums.png": "",
    "bounds.tex": (
        "\\newtheorem{thm}{Theorem}\n\\newtheorem{lem}[thm]{Lemma}\n"
        "\\begin{lem}\\label{lemma-sum} The sum $\\sum 1/p$ has no bound. \\end{lem}\n"
        "\\begin{thm} There are infinitely many primes. \\end{thm}\n"
        "\\begin{proof} By Lemma \\ref{lemma-sum}. \\end{proof}\n"
    ),
}
FAQ = '{"id": "1", "text": "Is $1$ prime? No."}\n'


def list_lines(text: str) -> Iterator[str]:
    """Yield the commands of fenced blocks and of inline code, in their order."""
    text = text.replace("\\\n", " ")
    for block, inline in re.findall(
        r"```\w*\n(.*?)```|`((?:mathamr|kedro) [^`]*)`", text, re.S
    ):
        if inline:
            yield " ".join(inline.split())
        for line in block.splitlines():
            bare = line.strip().removeprefix("$ ")
            if re.match(r"(mathamr|kedro|make) ", bare):
                yield shlex.join(shlex.split(bare, comments=True))


def list_commands(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the examples in the help of a command and of all below it."""
    context = click.Context(command, info_name=" ".join(path))
    for line in (command.get_help(context)).splitlines():
        if re.match(r"\s+(mathamr|kedro) \w+ \S", line):
            example = re.split(r"\s{3,}", line.strip())[0]
            yield shlex.join(shlex.split(example))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from list_commands(found, (*path, name))


SOURCES = {str(p.relative_to(PROJECT)): list(list_lines(p.read_text())) for p in PAGES}
SOURCES["help"] = list(list_commands(group, ("mathamr",)))
ALL = [line for lines in SOURCES.values() for line in lines]


def find_reason(line: str) -> str | None:
    return next((why for what, why in SKIPPED.items() if re.search(what, line)), None)


RUN = {
    name: list(dict.fromkeys(line for line in lines if find_reason(line) is None))
    for name, lines in SOURCES.items()
}


@pytest.fixture(scope="session")
def project(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo that commands may change, with notes of a reader in it."""
    root = tmp_path_factory.mktemp("reader") / "project"
    shutil.copytree(demo, root, symlinks=True)
    (root / "notes").mkdir()
    for name, text in NOTES.items():
        (root / "notes" / name).write_text(text)
    (root / "faq.jsonl").write_text(FAQ)
    return root


def fill(word: str, project: Path) -> str:
    found = sorted(project.glob(PLACES[word])) if word in PLACES else [word]
    return str(found[-1])


@cache
def run(line: str, project: Path) -> str | None:
    """Run a command in the project; return what went wrong, if anything did.

    Pages show some commands again: once is enough.
    """
    program, *arguments = (fill(word, project) for word in shlex.split(line))
    command = group if program == "mathamr" else KedroCLI(project)
    result = CliRunner().invoke(command, arguments)
    cause = find_cause(result.exception) if result.exception else None
    problem = str(cause or result.exception or result.output)
    expected = next((text for part, text in FAILS.items() if part in line), None)
    if expected is not None:
        return None if expected in problem else f"{line}: expected {expected!r}"
    return None if result.exit_code == 0 else f"{line}: {problem[-600:]}"


FIRST = ("README.md", "docs/quickstart.md")
"""What a newcomer copies; commands of all other pages are for ``make test-all``."""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(name, marks=[] if name in FIRST else [pytest.mark.slow])
        for name, lines in RUN.items()
        if lines
    ],
)
def test_commands_run(source: str, project: Path, monkeypatch) -> None:
    monkeypatch.chdir(project)
    # A page may name what is made before the command that makes it.
    lines = sorted(RUN[source], key=lambda line: not line.startswith("kedro run"))
    problems = [run(line, project) for line in lines]
    assert [p for p in problems if p is not None] == []


def test_commands_are_found() -> None:
    """The patterns above find what a reader would copy."""
    assert any(line.startswith("mathamr search") for line in RUN["README.md"])
    assert any(line.startswith("kedro run --env own") for line in RUN["README.md"])
    assert any(line.startswith("mathamr explain") for line in RUN["help"])
    assert len(RUN["help"]) > 10


@pytest.mark.parametrize("pattern", SKIPPED)
def test_no_reason_is_left_over(pattern: str) -> None:
    assert any(re.search(pattern, line) for line in ALL)


def test_no_command_uses_a_deprecated_option() -> None:
    assert [line for line in ALL if re.search(r"--pipeline(?![\w-])", line)] == []


def test_first_answer_of_the_showcase_is_from_the_right_thread(project, monkeypatch):
    """The query of ``make demo`` finds the proofs for all primes, both of them."""
    text = (PROJECT / "Makefile").read_text().replace("$$", "$")
    (line,) = re.findall(r"\$\(BIN\)/(mathamr search .*)", text)
    monkeypatch.chdir(project)
    _, *arguments = shlex.split(line)
    output = CliRunner().invoke(group, arguments).stdout
    found = re.findall(r"^ *\d+\. (\S+)", output, re.M)
    assert set(found[:2]) == {"33703", "33733"}
