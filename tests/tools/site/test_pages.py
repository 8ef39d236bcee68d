"""Pages that are made while the site is built."""

from __future__ import annotations

import base64
from pathlib import Path

import click
import nbformat
import pytest

from mathamr_kedro.cli import group
from tests.conftest import PROJECT
from tools.site.commands import describe_commands
from tools.site.links import adapt
from tools.site.mathematics import draw_formulas
from tools.site.notebooks import write_notebook
from tools.site.packages import describe_packages


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a page, a folder beside it, and a file that is no page."""
    (tmp_path / "docs/concepts").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "docs/concepts/trees.md").write_text("# Trees\n")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/README.md").touch()
    (tmp_path / "conf/base.yml").touch()
    return tmp_path


def test_links_out_of_docs_lead_to_pages(repository):
    homes = {repository / "conf/README.md": "configuration.md"}
    page = repository / "docs/concepts/trees.md"
    text = (
        "[all](../../conf/README.md#how) [file](../../conf/base.yml) [web](https://a.b)"
    )
    found = adapt(text, page, "concepts/trees.md", homes)
    assert found == "[all](../configuration.md#how) file [web](https://a.b)"


def test_links_of_a_copied_page_hold_where_it_stands(repository):
    source = repository / "conf/README.md"
    text = (
        "[trees](../docs/concepts/trees.md) and `[code](x.md)`\n```\n[a](../b.md)\n```"
    )
    found = adapt(text, source, "configuration.md", {})
    assert "[trees](concepts/trees.md)" in found
    assert "[a](../b.md)" in found


def test_links_that_lead_nowhere_stay_and_fail_the_build(repository):
    page = repository / "docs/concepts/trees.md"
    text = "[gone](../gone.md) [lost](../../lost.md)"
    assert adapt(text, page, "concepts/trees.md", {}) == text


def test_lists_and_tables_below_a_line_get_a_blank_line():
    text = "So:\n- one\n- two\nThen\n| a |\n|---|\n| b |\n```\nx:\n- y\n```"
    assert adapt(text, Path("docs/a.md"), "a.md", {}) == (
        "So:\n\n- one\n- two\nThen\n\n| a |\n|---|\n| b |\n```\nx:\n- y\n```"
    )


def test_formulas_become_mathml():
    html = '<p><span class="arithmatex">\\(x &lt; 1\\)</span></p>'
    drawn, failed = draw_formulas(html)
    assert '<span class="formula"><math alttext="x &lt; 1">' in drawn
    assert failed == []


def test_formula_that_cannot_be_drawn_is_named():
    latex = "{" * 2000
    html = f'<div class="arithmatex">\\[{latex}\\]</div>'
    assert draw_formulas(html) == (html, [latex])


def test_every_command_is_on_the_page():
    page = describe_commands()
    context = click.Context(group)
    for name in group.list_commands(context):
        assert f"\n## mathamr {name}\n" in page
    assert "\n### mathamr experiments run\n" in page
    assert "\n| `--formula LATEX` | Search for a formula instead" in page


def test_examples_of_a_help_text_are_code_and_signs_are_escaped():
    @click.command()
    @click.option("--top", type=click.IntRange(1, 9), help="At *most*.")
    def command(top):
        """Say it.

        \b
          mathamr say 'x_1'
        """

    root = click.Group(commands={"say": command})
    page = describe_commands(root)
    assert "Say it.\n\n```bash\nmathamr say 'x_1'\n```" in page
    assert r"At \*most\*." in page and "1&lt;=x&lt;=9" in page


def test_packages_show_their_faces():
    pages = describe_packages(PROJECT / "src/mathamr_kedro")
    assert (
        "::: mathamr_kedro.evaluation.metrics" in pages["reference/python/metrics.md"]
    )
    assert "        - evaluate_run" in pages["reference/python/metrics.md"]
    assert "reference/python/cli.md" not in pages


def test_notebook_without_a_run_shows_its_code(tmp_path):
    path = PROJECT / "notebooks/01_posts_and_formulas.ipynb"
    page = write_notebook(path, tmp_path / "none.ipynb")
    assert page.startswith("# Posts and formulas")
    assert "Outputs are shown where" in page and "```python\n" in page


def test_figures_of_notebooks_become_pictures(tmp_path):
    cell = nbformat.v4.new_code_cell("figure")
    picture = base64.b64encode(b"picture").decode()
    cell.outputs = [nbformat.v4.new_output("display_data", {"image/png": picture})]
    run = tmp_path / "run.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), run)
    page = write_notebook(tmp_path / "absent.ipynb", run)
    assert f"![figure](data:image/png;base64,{picture})" in page
