"""The worker: runs on Python 3.8 by itself, repairs what the library breaks."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.graphs import ParseFailure
from mathamr_kedro.amr.transition import scatter, worker
from mathamr_kedro.amr.transition.parser import TransitionConfig, TransitionParser
from mathamr_kedro.base.errors import ConfigurationError
from tests.conftest import PATIENCE

FOLDER = Path(worker.__file__).parent
ALONE = [FOLDER / f"{name}.py" for name in ("worker", "check_environment", "scatter")]
PYTHON38 = os.environ.get("PYTHON38") or shutil.which("python3.8")

# The library as far as the worker uses it: same names, same defects, no weights.
LIBRARY = {
    "torch.py": """
class hub:
    @staticmethod
    def _get_torch_home():
        import os
        return os.environ["TORCH_HOME"]
class cuda:
    @staticmethod
    def is_available():
        return False
""",
    "transition_amr_parser/__init__.py": "",
    "transition_amr_parser/amr_machine.py": "class AMRStateMachine: pass",
    "transition_amr_parser/parse.py": """
import re
print("a library greets on standard output")

class AMRParser:
    @classmethod
    def from_pretrained(cls, name, fp16, beam):
        if name != "doc-sen-conll-amr-seed42":
            raise ValueError("The model_name provided in not in our library")
        return cls()

    from_checkpoint = from_pretrained

    def tokenize(self, text):
        return re.findall(r"\\\\w+|[^\\\\w ]", text), None

    def parse_docs(self, docs, window_size, window_overlap, batch_size,
                   roberta_batch_size):
        assert (window_size, window_overlap) == (400, 100)
        print("Running on batch size", batch_size)
        words = [t for doc in docs for tokens in doc for t in tokens]
        if "explode" in words:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        if "debug" in words:
            input("a debugger asks: ")
        graphs = [
            "# ::tok x\\\\n(d / document %s)" % " ".join(
                ":snt%d %s" % (n, self._graph("s%d" % n, tokens))
                for n, tokens in enumerate(doc, 1))
            for doc in docs
        ]
        graphs = ["(a / amr-empty)" if "nothing" in g else g for g in graphs]
        graphs = ["(d / document" if "broken" in g else g for g in graphs]
        return graphs, [docs[-1]] * len(docs)

    def _graph(self, name, tokens):
        parts = " ".join(
            ':op%d "%s"~%d' % (n, t, n) for n, t in enumerate(tokens, 1))
        return "(%s / say-01~0 %s)" % (name, parts)
""",
}


@pytest.mark.parametrize("file", ALONE, ids=lambda file: file.name)
def test_the_file_reads_on_python_38(file):
    tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 8))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    assert not [c for c in calls for k in c.keywords if k.arg == "strict"]


@pytest.mark.parametrize("file", ALONE, ids=lambda file: file.name)
def test_the_file_imports_nothing_of_this_project(file):
    for item in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [a.name for a in item.names] if isinstance(item, ast.Import) else []
        if isinstance(item, ast.ImportFrom):
            assert item.level == 0
            names = [str(item.module)]
        assert not [name for name in names if name.startswith("mathamr")]


def write_library(folder: Path, python: str) -> str:
    """Write the library; return a Python that finds it."""
    import penman

    for name, text in LIBRARY.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("\\\\", "\\"))
    shutil.copytree(Path(penman.__file__).parent, folder / "penman")
    script = folder / "python"
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="{folder}" TORCH_HOME="{folder}/hub" '
        f'exec "{python}" -W ignore "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return str(script)


@pytest.fixture(params=["this Python", "Python 3.8"])
def parser(request, tmp_path):
    """The parser with the real worker on the library above."""
    if request.param == "Python 3.8" and not can_run(PYTHON38):
        pytest.skip("no Python 3.8 on this machine")
    python = PYTHON38 if request.param == "Python 3.8" else sys.executable
    made = TransitionParser(
        TransitionConfig(
            python=write_library(tmp_path, str(python)),
            devices=("cpu",),
            start_timeout_s=PATIENCE,
            request_timeout_s=PATIENCE,
            silence_timeout_s=PATIENCE,
        )
    )
    yield made
    made.close()


def can_run(python: str | None) -> bool:
    if python is None:
        return False
    return subprocess.run([python, "-c", ""], check=False).returncode == 0


def test_the_worker_serves_documents(parser):
    chunks = [
        Chunk(("Let\u00a0FORMULA_0\u2003be even.", "…", "See FORMULA_1.")),
        Chunk(("?!",)),
        Chunk(("nothing",)),
        Chunk(("broken",)),
        Chunk(("So FORMULA_2",)),
    ]
    first, second, third, fourth, last = parser.parse_chunks(chunks)
    assert {"FORMULA_0", "FORMULA_1"} <= set(first.nodes.values())
    assert [e.role for e in first.edges if e.role.startswith("snt")] == ["snt1", "snt2"]
    assert second == ParseFailure("empty_text", "no words")
    assert third == ParseFailure("all_chunks_failed", "no node in the graph")
    assert fourth.reason == "penman_error"
    assert "FORMULA_2" in last.nodes.values()


def test_the_worker_survives_errors_of_the_library(parser):
    parser.start()
    pid = parser.start().pid
    with pytest.raises(MemoryError, match="CUDA out of memory"):
        parser.parse_chunks([Chunk(("explode",)), Chunk(("fine",))])
    with pytest.raises(RuntimeError, match="EOFError"):
        parser.parse_chunks([Chunk(("debug",)), Chunk(("fine",))])
    (result,) = parser.parse_chunks([Chunk(("See FORMULA_4.",))])
    assert "FORMULA_4" in result.nodes.values()
    assert parser.start().pid == pid


def test_weights_that_cannot_be_had_stop_the_run(tmp_path):
    config = TransitionConfig(
        python=write_library(tmp_path, sys.executable), devices=("cpu",), model="other"
    )
    with pytest.raises(ConfigurationError, match="ValueError: The model_name"):
        TransitionParser(config).start()


def test_scatter_mean_agrees_with_a_loop():
    import torch

    values = torch.rand(2, 5, 3, generator=torch.Generator().manual_seed(0))
    index = torch.tensor([[3, 3, 1, 0, 0], [4, 2, 2, 2, 0]])
    mean = scatter.scatter_mean(values, index.unsqueeze(2), dim=1)
    assert mean.shape == (2, 5, 3)
    for row in range(2):
        for place in range(5):
            chosen = values[row, index[row] == place]
            expected = chosen.mean(0) if len(chosen) else torch.zeros(3)
            assert torch.allclose(mean[row, place], expected)


def test_the_check_finds_the_worker_beside_it(tmp_path):
    python = write_library(tmp_path, sys.executable)
    run = subprocess.run(
        [python, str(FOLDER / "check_environment.py")], capture_output=True, check=True
    )
    found = json.loads(run.stdout)
    assert found["versions"]["device"] == "cpu"
    assert ["graphs" in answer for answer in found["answers"]] == [True, True]


@pytest.mark.skipif(
    "MATHAMR_TRANSITION_PYTHON" not in os.environ,
    reason="MATHAMR_TRANSITION_PYTHON does not name the parser's own Python",
)
def test_the_real_library_passes_the_check():
    python = os.environ["MATHAMR_TRANSITION_PYTHON"]
    run = subprocess.run(
        [python, str(FOLDER / "check_environment.py")], capture_output=True, check=True
    )
    first, second = json.loads(run.stdout)["answers"]
    assert "FORMULA_0" in first["graphs"][0]
    assert ":same-as" in first["graphs"][0]
    assert "FORMULA_1" in second["graphs"][0]


def test_the_build_script_refuses_another_python():
    script = FOLDER / "build_environment.sh"
    run = subprocess.run(
        ["bash", str(script), "unused"],
        env={**os.environ, "PYTHON38": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "Expected Python 3.8" in run.stderr
    assert not Path("unused").exists()
