"""The headline of the README says what the page of results says."""

from __future__ import annotations

import csv
import re
import subprocess
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1]
NUMBER = re.compile(r"(?<![\d.])\.\d{3}\b")


def read_rows(text: str) -> list[list[str]]:
    """Return the cells of all table rows."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def read_headline() -> dict[str, tuple[str, str]]:
    text = (PROJECT / "README.md").read_text()
    start = text.index("The project comes with a trained encoder")
    headline = text[start : text.index("\n## ", start)]
    found = {}
    for label, *cells in read_rows(headline):
        numbers = NUMBER.findall(" ".join(cells))
        if numbers:
            found[label] = (numbers[0], numbers[1])
    return found


def read_results() -> set[tuple[str, str]]:
    """Return nDCG' of Task 1 in 2020 and 2021 of every row that has both."""
    text = (PROJECT / "docs" / "results" / "pool.md").read_text()
    table = text[text.index("## Results\n") : text.index("## How it was measured")]
    rows = read_rows(table)
    assert rows[0][1:3] == ["Task 1, 2020", "Task 1, 2021"]
    return {
        (NUMBER.findall(year_2020)[0], NUMBER.findall(year_2021)[0])
        for _, year_2020, year_2021, *_ in rows
        if NUMBER.search(year_2020) and NUMBER.search(year_2021)
    }


def test_numbers_of_the_headline_stand_in_the_results():
    headline, results = read_headline(), read_results()
    assert headline
    for label, pair in headline.items():
        assert pair in results, label


def test_headline_has_the_thesis_the_best_and_the_simple_ways():
    labels = " ".join(read_headline())
    for wanted in ("thesis' configuration", "weighted", "BM25", "MiniLM"):
        assert wanted in labels


def test_headline_has_the_best_way_without_our_vectors():
    """Beside it: a tuned system next to only weak ones would flatter it."""
    results = (PROJECT / "docs" / "results" / "pool.md").read_text()
    (row,) = [r for r in read_rows(results) if r[0].startswith("without MathAMR+")]
    best = tuple(NUMBER.findall(cell)[0] for cell in row[1:3])
    labels = {pair: label for label, pair in read_headline().items()}
    assert "best alternative" in labels[best]


def test_sources_are_cited_once_with_title_author_year_and_link():
    pages = {
        name: (PROJECT / name).read_text() for name in ("README.md", "docs/index.md")
    }
    for text in pages.values():
        line = " ".join(text.split())
        assert "Jacob Yoon. *MathAMR+: A Unified Graph Neural Network" in line
        assert "Rochester Institute of Technology, 2026." in line
    rows = [r for r in read_rows(pages["docs/index.md"]) if r[0].startswith("ARQMath-")]
    assert len(rows) == 3
    assert all("https://doi.org/10.1007/" in row[1] for row in rows)
    for page in (PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")):
        assert not re.search(r"[Pp]aper 00\d", page.read_text()), page


def test_data_page_says_where_arqmath_is_published():
    text = (PROJECT / "docs" / "data.md").read_text()
    assert "https://www.cs.rit.edu/~dprl/ARQMath/arqmath-resources.html" in text


def test_headline_says_what_was_chosen_on_which_topics():
    text = " ".join((PROJECT / "README.md").read_text().split())
    assert "on these very topics of 2020 and 2021" in text


def test_thesis_configuration_is_that_of_its_own_experiment():
    """The row in the table of results repeats the one of the formula modes."""
    results = PROJECT / "docs" / "results"
    rows = read_rows((results / "pool.md").read_text())
    (row,) = [r for r in rows if "Table 4.5, trained" in r[0]]
    with (results / "data" / "thesis_three_seeds.csv").open() as file:
        both = [r for r in csv.DictReader(file) if r["condition"] == "both"]
    assert row[1:4] == [" / ".join((r["nDCG'"], r["MAP'"])) for r in both]


def test_lines_of_python_print_answers(demo, monkeypatch, capsys):
    """Those of the first screen, in a project where the demo has just ended."""
    (code,) = re.findall(
        r"```python\n(.*?)```", (PROJECT / "README.md").read_text(), re.DOTALL
    )
    monkeypatch.chdir(demo)
    names = {}
    exec(code, names)
    names["search"].close()
    shown = capsys.readouterr().out
    assert re.findall(r"^(\d+)\. ", shown, re.MULTILINE) == ["1", "2", "3"]
    assert "irrational for every prime" in shown


def test_setting_up_says_what_is_done_and_how_far_it_is(tmp_path):
    """Downloads take minutes; pip shows each of them."""
    command = ["make", "-n", "setup", f"VENV={tmp_path / 'new'}"]
    steps = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=True
    )
    for step in ("1 of 4", "2 of 4", "3 of 4", "4 of 4"):
        assert f'echo "{step}: ' in steps.stdout
    large = [s for s in steps.stdout.splitlines() if s.endswith("-r requirements.lock")]
    assert large and not any("--quiet" in line for line in large)


def test_picture_of_the_layers_is_that_of_the_import_contracts():
    with (PROJECT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["name"].startswith("Layers:"))
    page = (PROJECT / "docs" / "concepts" / "layers.md").read_text()
    picture = page.split("```")[1].strip("\n").splitlines()
    shown = [re.split(r"\s{2,}", line)[0] for line in picture]
    assert shown == [re.sub(r"[()]", "", layer) for layer in layers]


def test_list_of_environments_is_that_of_the_folder():
    conf = PROJECT / "conf"
    names = {path.parent.name for path in conf.glob("*/globals.yml")} | {"local"}
    for folder in ("overlays", "experiments"):
        names |= {path.stem for path in (conf / folder).glob("[!_]*.yml")}
    text = (conf / "README.md").read_text()
    rows = read_rows(text[: text.index("## How stacking works")])
    assert {name for row in rows for name in re.findall(r"`(.*?)`", row[0])} == names
