"""Every command of the table "Every table of the thesis", on a small download.

The download has the published layout with all three editions
(:mod:`tests.official_collection`); trainings are tiny. What a command says it writes
must be there, with numbers in it.
"""

from __future__ import annotations

import csv
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI
from omegaconf import OmegaConf

from mathamr_kedro.cli import group
from mathamr_kedro.evaluation.tables import LAYOUTS
from mathamr_kedro.learning import distillation
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.project.cells import GridRun
from tests.conftest import PROJECT, copy_project
from tests.experiments.test_environments import TABLES
from tests.learning.prepared import TEACHER_WIDTH
from tests.official_collection import EDITIONS, write_collection
from tests.systems.mathamr.world import make_text_model

pytestmark = pytest.mark.slow

PAGE = PROJECT / "docs/experiments.md"
TINY = {
    "ingestion.records_per_shard": 100,
    "amr_parsing.workers.workers": 1,
    "graph_fusion.workers.workers": 1,
    "preprocessing.workers.workers": 1,
    "preprocessing.vocabulary.size": 500,
    "preprocessing.pairs.max_pairs": 10,
    "training.num_epochs": 1,
    "training.batch_size": 4,
    "training.compute.device": "cpu",
    "training.model.hidden_dim": 8,
    "training.model.projection_dim": 8,
    "training.model.num_layers": 1,
    "training.model.num_bases": 2,
    "training.model.readout_dim": 0,
    "training.distillation.score_weight": 0,  # no sentence encoder in a test
    "training.distillation.document_weight": 0,
    "significance.tests.num_samples": 50,
}


class Line(NamedTuple):
    """A line of the table."""

    thesis: str
    command: str
    output: str

    @property
    def numbers(self) -> list[str]:
        """Of the thesis' tables."""
        return [] if self.thesis[0].isalpha() else re.findall(r"4\.\d+", self.thesis)


def read_lines() -> Iterator[Line]:
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("## Every table of the thesis")[1].split("\n## ")[0]
    for row in re.findall(r"^\|(?!-)(.+)\|$", section, re.MULTILINE)[1:]:
        thesis, command, output = (cell.strip() for cell in row.split("|"))
        yield Line(thesis, command.strip("`"), output.strip("`"))


LINES = list(read_lines())
COMMANDS = list(dict.fromkeys(line.command for line in LINES if "run" in line.command))


@pytest.fixture(scope="module")
def download(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("download")
    write_collection(folder)
    return folder


@pytest.fixture(scope="module")
def roots(tmp_path_factory, download) -> dict[str, Path]:
    """Data of each collection: commands on one share what earlier ones have made."""
    names = dict.fromkeys(map(name_collection, COMMANDS))
    return {name: tmp_path_factory.mktemp(name) for name in names}


def name_collection(command: str) -> str:
    """Return the environments of a command that decide its collection."""
    names = command.split("--env ")[1].split(maxsplit=1)[0].split("+")
    first = names[0].replace("benchmark", "arqmath")
    return "+".join([first, *(n for n in names[1:] if n in ("judged", "examples"))])


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Where the commands run: they note the last run."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_project(folder)
    return folder


@pytest.fixture(scope="module")
def done(roots, download, project) -> Iterator[Callable[[str], Path]]:
    """Run a command when it is first asked for; return where it has written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATHAMR_ARQMATH", str(download))
        # Its principal axes take the cube of the width.
        patch.setattr(distillation, "_WIDTH", TEACHER_WIDTH)
        yield cache(lambda command: run(command, roots, project))


@cache
def make_tiny() -> Path:
    return make_text_model(Path(tempfile.mkdtemp(prefix="text_model")))


def choose_sizes(command: str) -> dict[str, object]:
    sizes: dict[str, object] = dict(TINY)
    if "+mathamr" in command:
        tiny = {"text_model": make_tiny(), "epochs": 1, "folds": 2, "max_length": 32}
        sizes |= {f"systems.mathamr.model.{key}": value for key, value in tiny.items()}
    if not re.search("retrieval_strategies|auxiliary_loss", command):
        sizes["indexing.engine.engine"] = "exact"  # no graph to build
    if command.startswith("mathamr"):
        sizes["experiment.seeds"] = "[42]"
    return sizes


def run(command: str, roots: dict[str, Path], project: Path) -> Path:
    program, *arguments = shlex.split(command)
    root = roots[name_collection(command)]
    sizes = choose_sizes(command)
    if program == "kedro":
        sizes["data_root"] = root
    given = ",".join(f"{name}={value}" for name, value in sizes.items())
    arguments += ["--params", given]
    if program == "kedro":
        with chdir(project):
            KedroCLI(project).main(arguments, standalone_mode=False)
        return root
    assert program == "mathamr"
    arguments += ["--data-root", str(root), "--workers", "0"]
    with chdir(project):
        result = CliRunner().invoke(group, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return root


def test_all_tables_of_chapter_four_are_listed():
    listed = {number for line in LINES for number in line.numbers}
    machines = {"4.1", "4.4"}  # what the thesis ran on
    assert listed == {f"4.{n}" for n in range(1, 23)} - machines
    assert {line.thesis.split(" (")[0] for line in LINES if not line.numbers} == {
        "Figure 4.1", "Appendix A", "Appendix B", "Appendix C",
        "beyond: with and without edges",
    }  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.thesis)
def test_command_writes_what_the_line_names(line, done):
    if line.output.startswith("conf/"):
        assert (PROJECT / line.output).is_file()
        return
    file = find_root(line, done) / line.output
    assert file.is_file() and file.stat().st_size > 200
    for number in line.numbers if "significance" in line.output else ():
        with (file.parent / f"csv/table_{number}.csv").open(encoding="utf-8") as lines:
            head, *rows = csv.reader(lines)
        first = head.index("baseline") + 1 if "baseline" in head else 1
        assert len(rows) > 1
        assert all(re.search(r"\d", "".join(row[first:])) for row in rows), rows


def find_root(line: Line, done: Callable[[str], Path]) -> Path:
    if line.command in COMMANDS:
        return done(line.command)
    number = line.command.removeprefix("with ")
    return done(next(other.command for other in LINES if number in other.numbers))


def read(done: Callable[[str], Path], thesis: str) -> str:
    line = next(line for line in LINES if line.thesis.startswith(thesis))
    return (find_root(line, done) / line.output).read_text(encoding="utf-8")


def find_command(experiment: str) -> str:
    return next(c for c in COMMANDS if f" run {experiment} " in c)


def open_grid(name: str, root: Path) -> GridRun:
    """The experiment as its command has opened it."""
    command = find_command(name)
    sizes = [f"{key}={value}" for key, value in choose_sizes(command).items()]
    settings = OmegaConf.to_container(OmegaConf.from_dotlist(sizes))
    env = shlex.split(command)[-1]
    return GridRun(PROJECT, name, env, {**settings, "data_root": str(root)})


@pytest.mark.parametrize("name", sorted(TABLES))
def test_experiment_ends_with_the_tables_of_the_thesis(name, done):
    grid = open_grid(name, done(find_command(name)))
    catalog = grid.context.catalog
    tables = catalog.load("significance_csv")
    assert {f"table_{number}" for number in TABLES[name]} <= set(tables)
    for number in TABLES[name]:
        _, *rows = tables[f"table_{number}"]().splitlines()
        assert len(rows) == len(LAYOUTS[number].rows)
        assert all(row.split(",")[-1] != "" for row in rows)
    result = catalog.load("experiment_result")
    assert result["missing"] == []
    if name == "retrieval_strategies":  # three conditions on four measures and QPS
        tested = [t["measure"] for t in result["tests"]["table_4.15"]]
        assert (len(tested), tested.count("seconds_per_query")) == (15, 3)
    assert f"Table {TABLES[name][0]}" in catalog.load("significance_report")
    assert r"\toprule" in catalog.load("significance_latex")[f"table_{number}"]()
    assert catalog.exists("seed_figure")
    assert grid.plan(grid.list_cells(), grid.ensure_collection()) == []


def test_graphs_with_and_without_edges_are_compared(done):
    grid = open_grid("edges", done(find_command("edges")))
    keys = {cell.condition: cell.key for cell in grid.list_cells()}
    assert len(set(keys.values())) == 2
    catalog = grid.context.catalog
    assert catalog.load("experiment_result")["missing"] == []
    report = catalog.load("significance_report")
    assert "\n| with " in report
    assert "\n| without " in report


def test_statistics_are_those_of_the_whole_download(done):
    page = read(done, "4.2")
    for edition in ("2020", "2021", "2022"):
        assert re.search(rf"Task 1 topics, `.*{edition}.*` \| 3 \|", page)
        assert re.search(rf"Task 2 topics, `.*{edition}.*` \| 3 \|", page)
    for row in ("Total posts", "Mathematical formulas", "Training pairs",
                "Task 1 retrieval index", "Task 2 retrieval index"):  # fmt: skip
        (count,) = re.findall(rf"\| {row}[^|]*\| ([\d,]+) \|", page.split("4.3")[1])
        assert int(count.replace(",", "")) > 10


def test_formulas_of_every_edition_are_read(done):
    line = next(line for line in LINES if "4.2" in line.numbers)
    root = find_root(line, done)
    with chdir(PROJECT):
        table = open_catalog("arqmath", str(root)).load("topic_formulas")
    topics = {formula.post_id for formula in table.records() if formula.presentation}
    wanted = {f"A.{n}" for edition in EDITIONS for n in edition.topics.values()}
    assert topics == wanted


def test_tables_are_those_of_the_last_edition(done):
    assert "topic set ARQMath-3" in read(done, "4.6")
    page = read(done, "4.19")
    for task in (1, 2):
        for edition in (1, 2, 3):
            assert f"Task {task}, ARQMath-{edition}, 3 topics" in page


def test_examples_are_the_topics_of_the_thesis(done):
    judged = read(done, "Appendix A")
    assert "### Topic A.302" in judged and "A.302 is not" not in judged
    assert "B.308 is not among the topics here" in judged  # a small download
    for grade in (3, 2, 1, 0):
        assert re.search(rf"\*\*Relevance {grade} \([a-z ]+\), post \d+\*\*", judged)
        assert re.search(rf"\*\*Relevance {grade} \([a-z ]+\), visual id \d+", judged)
    for name in ("A.301", "B.301"):
        assert f"### Topic {name}" in judged
    assert "#### bm25 " in judged and "#### mathamr_plus " in judged
    compared = read(done, "Appendix C").split("## First results")[1]
    for name in ("A.301", "B.301"):
        own = compared.split(f"### Topic {name}")[1].split("\n### ")[0]
        assert "#### mathamr_plus (seed" in own and "#### mathamr (seed" in own
    results = read(done, "Appendix B")
    assert "### Topic A.346" in results
    for condition in ("both", "opt", "slt", "none"):
        own = results.split(f"#### {condition} (seed 42)")[1].split("#### ")[0]
        assert len(re.findall(r"\*\*Rank \d, post \d+, ", own)) == 3
        assert own.count("\n> ") == 3


def test_figure_has_a_panel_for_each_connectivity(done):
    line = next(line for line in LINES if line.thesis.startswith("Figure 4.1"))
    folder = (find_root(line, done) / line.output).parent
    assert (folder / "node_pair.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "examples.md").read_text(encoding="utf-8")
    assert "topic A.301" in page
    for condition in ("none", "sequential", "circular", "fully_connected"):
        assert re.search(rf"\| {condition} \| 0\.\d+ \|", page)
