"""Files of one's own through ingestion: formulas given as MathML, what was not read."""

from __future__ import annotations

import pytest
from kedro.framework.session import KedroSession

from mathamr_kedro.pipelines.amr_parsing import nodes
from mathamr_kedro.project.catalog import configure_kedro
from tests.pipelines.graph_world import PROJECT


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# One\n\nIs $x^2$ even?\n")
    (folder / "b.html").write_text(
        "<p>Is <math><msup><mi>y</mi><mn>3</mn></msup></math> odd, and $z$?</p>"
    )
    (folder / "c.jsonl").write_text('{"text": "fine"}\n{bad | line\n')
    (folder / "d.png").write_bytes(b"\x89PNG")
    (folder / "e.md").write_bytes(b"caf\0\xe9")
    (folder / "f.md").write_text("---\ntitle: [a\n---\nText.")
    return folder


def open_session(notes, data):
    configure_kedro(PROJECT)
    values = {"data_root": str(data), "raw_root": str(notes)}
    return KedroSession.create(PROJECT, env="own", runtime_params=values)


def run(notes, data, *stages):
    for stage in stages:
        with open_session(notes, data) as session:
            session.run(pipeline_names=[stage])
    return open_session(notes, data).load_context().catalog


@pytest.fixture
def catalog(notes, tmp_path):
    return run(notes, tmp_path / "data", "ingestion")


def test_trees_are_built_from_mathml(catalog):
    rows = {row.formula_id: row for row in catalog.load("formula_trees")}
    row = rows["b.html:0"]
    assert (row.slt, row.slt_source) == ("[V!y,a[N!3]]", "pmml")
    assert rows["a.md:0"].slt_source == "latex"
    found = catalog.load("returnable_formulas").records()
    assert sorted(f.formula_id for f in found) == ["a.md:0", "b.html:0", "b.html:1"]


def test_the_report_names_files_and_places_with_an_example_each(catalog):
    report = catalog.load("ingestion_report")
    lost = report[report.index("## What could not be read") :]
    assert "`bad_json`:\n\n- `c.jsonl, line 2: expected a JSON object" in lost
    assert "- `d.png: expected .md" in lost
    assert "- `e.md: expected a text" in lost
    assert "bad_front_matter" not in lost
    wrong = report[report.index("## What was wrong") : report.index(lost[:20])]
    assert "| `bad_front_matter` | 1 | 0 | `f.md, line 1: expected YAML" in wrong
    assert "![Formulas per post](ingestion_figure.png)" in report


@pytest.mark.slow
def test_adding_a_file_parses_that_file_alone(notes, tmp_path, monkeypatch):
    parsed: list[str] = []
    run_partitions = nodes.run_partitions

    def watch(function, partitions, config, *progress):
        def note():
            for partition in partitions:
                parsed.extend(partition.items)
                yield partition

        return run_partitions(function, note(), config, *progress)

    def parse():
        parsed.clear()
        catalog = run(notes, tmp_path / "data", "ingestion", "amr_parsing")
        return {r.graph_id: r.graph for r in catalog.load("amr_graphs").records()}

    monkeypatch.setattr(nodes, "run_partitions", watch)
    before = parse()
    assert len(parsed) == 4
    # Its name comes first: all others move on by one.
    (notes / "0.md").write_text("A new one about $w$.")
    after = parse()
    assert parsed == ["A new one about FORMULA_0."]
    assert after.keys() == {"0.md", *before}
    assert {name: after[name] for name in before} == before


def test_the_report_names_formulas_that_were_not_read_as_they_stand(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("See $\\frac{a$ and $x$.")
    report = run(folder, tmp_path / "data", "ingestion").load("ingestion_report")
    wrong = report[report.index("## What was wrong") :]
    assert "### Formulas that were read as far as it goes" in wrong
    assert "| Reason | Distinct formulas | Times | Example |" in wrong
    assert "| 1 | 1 | `\\frac{a` in `a.md:0` |" in wrong


def test_unit_is_a_parameter_and_statements_are_tables(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.tex").write_text(
        "\\section{S} \\begin{lemma}\\label{x} X. \\end{lemma}"
        "\\begin{theorem}\\label{y} Y. \\end{theorem}\\begin{proof}\\ref{x}\\end{proof}"
    )
    catalog = run(folder, tmp_path / "data", "ingestion")
    assert list(catalog.load("statement_links").records()) == [("a-y", "a-x")]
    kinds = [row.kind for row in catalog.load("statements").records()]
    assert kinds == ["lemma", "theorem"]
    configure_kedro(PROJECT)
    values = {
        "data_root": str(tmp_path / "data"), "raw_root": str(folder), "unit": "section",
    }  # fmt: skip
    session = KedroSession.create(PROJECT, env="own", runtime_params=values)
    with session:
        session.run(pipeline_names=["ingestion"])
    catalog = open_session(folder, tmp_path / "data").load_context().catalog
    assert [post.post_id for post in catalog.load("posts").records()] == ["a.tex"]
    assert list(catalog.load("statements").records()) == []
