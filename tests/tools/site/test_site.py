"""The site is built strictly (``make docs`` builds all of it), and its pages hold."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys

import pytest

from tests.conftest import PROJECT

DOCS = PROJECT / "docs"


@pytest.mark.slow
def test_defects_of_a_page_fail_the_build(tmp_path):
    """In a site of two pages; the hooks, and how strict it is, are the project's."""
    pytest.importorskip("mkdocs")
    whole = (PROJECT / "mkdocs.yml").read_text()
    whole = re.sub(r"^plugins:.*?(?=^#)", "plugins: []\n", whole, flags=re.M | re.S)
    nav = "nav: [index.md, quickstart.md, gone.md]\n"
    whole = re.sub(r"^nav:.*", nav, whole, flags=re.M | re.S)
    whole = whole.replace("tools/site/hooks.py", str(PROJECT / "tools/site/hooks.py"))
    (tmp_path / "mkdocs.yml").write_text(whole)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "quickstart.md").write_text("# Start\n\n$$\n" + "{" * 2000 + "\n$$\n")
    (docs / "index.md").write_text(
        "# Home\n\n[page](nowhere.md) [part](quickstart.md#lost) [file](../none.yml) "
        "![picture](https://example.org/a.png)\n\n$x$\n"
    )
    (docs / "forgotten.md").write_text("# Forgotten\n")
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", str(tmp_path / "mkdocs.yml")],
        cwd=PROJECT, capture_output=True, text=True, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert result.returncode != 0
    told = [line for line in result.stderr.splitlines() if line.startswith("WARNING")]
    for defect in (
        "nowhere.md", "quickstart.md#lost", "none.yml", "cannot draw the formula",
        "would fetch https://example.org/a.png", "'gone.md' is included in the 'nav'",
    ):  # fmt: skip
        assert any(defect in line for line in told), (defect, result.stderr)
    assert "forgotten.md" in result.stderr
    assert "<math" in (tmp_path / "build/site/index.html").read_text()


def test_settings_are_strict():
    """Also that ``make docs`` does not hide warnings: then they do not count."""
    assert "\nstrict: true\n" in (PROJECT / "mkdocs.yml").read_text()
    (line,) = re.findall(r"mkdocs build.*", (PROJECT / "Makefile").read_text())
    assert line.partition("#")[0].strip() == "mkdocs build"


def read_messages() -> dict[str, str]:
    """Return all texts of each module, with ``…`` for what is filled in."""
    found = {}
    for path in (PROJECT / "src").rglob("*.py"):
        texts = []
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (
                    v.value if isinstance(v, ast.Constant) else "…" for v in node.values
                )
                texts.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
        found[str(path)] = "\n".join(texts)
    return found


def list_troubles() -> list[str]:
    text = (DOCS / "troubleshooting.md").read_text()
    found = re.findall(r"^\| `([^`]+)`([^|]*)\|", text, re.M)
    return [message for message, source in found if "torch" not in source]


@pytest.fixture(scope="module")
def messages() -> dict[str, str]:
    return read_messages()


@pytest.mark.parametrize("message", list_troubles())
def test_messages_of_the_page_are_those_of_the_code(message, messages):
    pieces = [re.escape(piece) for piece in message.split("…")]
    pattern = re.compile("[^\n]*?".join(pieces))
    assert any(pattern.search(text) for text in messages.values())


def test_measure_of_the_tutorial_is_right():
    """Its expectation is the mean over all orders of a short list."""
    from itertools import permutations

    import numpy as np

    text = (DOCS / "tutorials/6_add_a_measure.md").read_text()
    code, line = re.findall(r"```python\n(.*?)```", text, re.S)
    space: dict = {}
    exec(code, space)
    exec(f"kind = {{{line}}}['RBP']", space | {"_Kind": lambda *of: of}, space)
    score, expect = space["kind"]
    assert score(np.array([3, -1, 2])) == pytest.approx(0.328)
    grades = [3, 0, 2, -1]
    for depth in (None, 2):
        orders = [score(np.array(o)[:depth]) for o in permutations(grades)]
        assert expect(np.array(grades), depth=depth) == pytest.approx(np.mean(orders))
